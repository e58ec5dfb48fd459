#include "disk.h"

#include <string.h>
#include <sys/stat.h>

/// An open file. The real file's handle follows it in memory.
typedef struct {
    sqlite3_file base;
    simulated_disk *disk;
    image *image;
} open_file;

static sqlite3_vfs *real_system;
static sqlite3_vfs simulated_system;
static __thread simulated_disk *current;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((open_file *)file + 1); }

static int happens(simulated_disk *disk, uint32_t permille) { return permille && disk_draw(disk) % 1000 < permille; }

void simulated_disk_use(simulated_disk *disk) { current = disk; }

// MARK: - Operations

/// Counts an operation. At the alarm's number it calls the alarm, which freezes the disk.
static int begin(simulated_disk *disk) {
    if (disk->is_frozen) return SQLITE_IOERR;
    if (++disk->operations != disk->alarm_at || !disk->alarm) return SQLITE_OK;
    disk->alarm(disk->alarm_context);
    return SQLITE_IOERR;
}

static void mark(image *image, int64_t offset, int64_t count) {
    for (int64_t index = offset / sector; index * sector < offset + count; index++) image->dirty[index] = 1;
    if (offset + count > image->length) image->length = offset + count;
}

static int write_part(open_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    int code = image_grow(file->image, offset + count);
    if (code != SQLITE_OK) return code;
    mark(file->image, offset, count);
    memcpy(file->image->latest + offset, bytes, (size_t)count);
    file->image->behind = real((sqlite3_file *)file);
    return SQLITE_OK;
}

static int disk_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    open_file *file = (open_file *)base;
    simulated_disk *disk = file->disk;
    if (disk->is_frozen) return SQLITE_IOERR_WRITE;
    // The process dies during this write, so only a part of the bytes is written.
    if (disk->operations + 1 == disk->alarm_at && disk->alarm) {
        int part = (int)(disk_draw(disk) % (uint64_t)(count / sector + 1)) * sector;
        if (part) write_part(file, bytes, part, offset);
    }
    if (begin(disk) != SQLITE_OK) return SQLITE_IOERR_WRITE;
    if (happens(disk, disk->failing_writes)) return SQLITE_IOERR_WRITE;
    int64_t more = offset + count - file->image->length;
    if (disk->capacity && more > 0 && disk_used(disk) + more > disk->capacity) return SQLITE_FULL;
    return write_part(file, bytes, count, offset);
}

static int disk_sync(sqlite3_file *base, int flags) {
    open_file *file = (open_file *)base;
    (void)flags;
    if (begin(file->disk) != SQLITE_OK) return SQLITE_IOERR_FSYNC;
    if (happens(file->disk, file->disk->failing_flushes)) return SQLITE_IOERR_FSYNC;
    image *image = file->image;
    int code = image_write_behind(image);
    if (code != SQLITE_OK) return code;
    int64_t end;
    for (int64_t first = image_next_dirty(image, 0, &end); first < end; first = image_next_dirty(image, end, &end)) {
        memcpy(image->flushed + first * sector, image->latest + first * sector, (size_t)image_extent(image, first, end));
        memset(image->dirty + first, 0, (size_t)(end - first));
    }
    image->flushed_length = image->length;
    return SQLITE_OK;
}

static int disk_truncate(sqlite3_file *base, sqlite3_int64 length) {
    open_file *file = (open_file *)base;
    if (begin(file->disk) != SQLITE_OK) return SQLITE_IOERR_TRUNCATE;
    int code = real(base)->pMethods->xTruncate(real(base), length);
    if (code == SQLITE_OK && length < file->image->length) {
        // Sectors behind the new end are new if they are written later.
        for (int64_t index = (length + sector - 1) / sector; index * sector < file->image->length; index++) {
            file->image->dirty[index] = 1;
        }
        memset(file->image->latest + length, 0, (size_t)(file->image->length - length));
        file->image->length = length;
    }
    return code;
}

static int disk_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    open_file *file = (open_file *)base;
    if (file->disk->is_frozen || happens(file->disk, file->disk->failing_reads)) return SQLITE_IOERR_READ;
    int64_t left = file->image->length - offset;
    int there = left < 0 ? 0 : left < count ? (int)left : count;
    memcpy(bytes, file->image->latest + offset, (size_t)there);
    if (there == count) return SQLITE_OK;
    // sqlite3_io_methods: after a short read, the rest of the buffer must be zeros.
    memset((uint8_t *)bytes + there, 0, (size_t)(count - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int disk_close(sqlite3_file *base) {
    image *image = ((open_file *)base)->image;
    // After the death of a process, its real file already has its final contents.
    int is_behind = !((open_file *)base)->disk->is_frozen && image->behind == real(base);
    int code = is_behind ? image_write_behind(image) : SQLITE_OK;
    if (image->behind == real(base)) image->behind = NULL;
    image->uses--;
    int closing = real(base)->pMethods->xClose(real(base));
    return code ? code : closing;
}
static int disk_size(sqlite3_file *base, sqlite3_int64 *size) {
    *size = ((open_file *)base)->image->length;
    return SQLITE_OK;
}
static int disk_lock(sqlite3_file *base, int level) { return real(base)->pMethods->xLock(real(base), level); }
static int disk_unlock(sqlite3_file *base, int level) { return real(base)->pMethods->xUnlock(real(base), level); }
static int disk_reserved(sqlite3_file *base, int *result) {
    return real(base)->pMethods->xCheckReservedLock(real(base), result);
}
static int disk_control(sqlite3_file *base, int operation, void *argument) {
    return real(base)->pMethods->xFileControl(real(base), operation, argument);
}
static int disk_sector_size(sqlite3_file *base) {
    (void)base;
    return sector;
}
// No guarantees: a write may damage neighbouring sectors, and writes may be reordered.
static int disk_characteristics(sqlite3_file *base) {
    (void)base;
    return 0;
}
static int disk_shm_map(sqlite3_file *base, int region, int size, int extends, void volatile **memory) {
    return real(base)->pMethods->xShmMap(real(base), region, size, extends, memory);
}
static int disk_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
    return real(base)->pMethods->xShmLock(real(base), offset, count, flags);
}
static void disk_shm_barrier(sqlite3_file *base) { real(base)->pMethods->xShmBarrier(real(base)); }
static int disk_shm_unmap(sqlite3_file *base, int deletes) {
    // The next process must find the shared memory of a dead process.
    int kept = ((open_file *)base)->disk->is_frozen ? 0 : deletes;
    return real(base)->pMethods->xShmUnmap(real(base), kept);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_unlock,
    .xCheckReservedLock = disk_reserved,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector_size,
    .xDeviceCharacteristics = disk_characteristics,
    .xShmMap = disk_shm_map,
    .xShmLock = disk_shm_lock,
    .xShmBarrier = disk_shm_barrier,
    .xShmUnmap = disk_shm_unmap,
};

// MARK: - The file system

static int system_open(sqlite3_vfs *system, const char *path, sqlite3_file *base, int flags, int *granted) {
    (void)system;
    open_file *file = (open_file *)base;
    memset(file, 0, sizeof(*file));
    int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    // Other files have nothing to simulate, so the real file system opens them directly.
    if (!current || !path || !(flags & kept)) {
        return real_system->xOpen(real_system, path, base, flags, granted);
    }
    if (current->is_frozen) return SQLITE_CANTOPEN;
    int code = real_system->xOpen(real_system, path, real(base), flags, granted);
    if (code != SQLITE_OK) return code;
    file->disk = current;
    file->image = image_of(current, path, real(base));
    if (!file->image) {
        real(base)->pMethods->xClose(real(base));
        return SQLITE_IOERR_NOMEM;
    }
    file->base.pMethods = &methods;
    return SQLITE_OK;
}

static int system_delete(sqlite3_vfs *system, const char *path, int flushes) {
    (void)system;
    if (!current) return real_system->xDelete(real_system, path, flushes);
    if (begin(current) != SQLITE_OK) return SQLITE_IOERR_DELETE;
    struct stat status;
    int is_there = stat(path, &status) == 0;
    int code = real_system->xDelete(real_system, path, flushes);
    if (code != SQLITE_OK || !is_there) return code;
    for (image **link = &current->images; *link; link = &(*link)->next) {
        if ((*link)->inode != status.st_ino) continue;
        image *gone = *link;
        *link = gone->next;
        image_release(gone);
        break;
    }
    return SQLITE_OK;
}

int simulated_disk_register(void) {
    int code = sqlite3_initialize();
    if (code != SQLITE_OK) return code;
    // unix-excl locks a file once and keeps the index of the log in memory, which saves most of the time. A history has
    // only one process at a time.
    real_system = sqlite3_vfs_find("unix-excl");
    if (!real_system) return SQLITE_ERROR;
    simulated_system = *real_system;
    simulated_system.zName = "simulated";
    simulated_system.szOsFile += (int)sizeof(open_file);
    simulated_system.xOpen = system_open;
    simulated_system.xDelete = system_delete;
    return sqlite3_vfs_register(&simulated_system, 1);
}
