#include "simulated_disk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// SQLite's own file system reads and writes less than 128 KiB at a time.
enum { sector = 512, most = 65536 };

/// A file's contents, those that were flushed, and which sectors differ. Known by inode, since files are renamed while they
/// are kept. The real file has the contents when it is flushed, when it is closed and when the process dies: a call of the
/// system for each write would take a tenth of a history's time.
typedef struct image {
    struct image *next;
    ino_t inode;
    char *path;
    /// How many have it open.
    int uses;
    /// The real file that the latest contents have to be written to; NULL if it has them.
    sqlite3_file *behind;
    uint8_t *latest;
    uint8_t *flushed;
    int64_t flushed_length;
    int64_t length;
    /// A byte a sector: whether it was written since the last flush.
    uint8_t *dirty;
    int64_t sectors;
} image;

struct simulated_disk {
    uint64_t random;
    int64_t capacity, reserved;
    uint32_t failing_writes, failing_flushes, failing_reads;
    uint64_t operations, alarm_at;
    void (*alarm)(void *);
    void *alarm_context;
    int is_frozen, has_lost_power;
    image *images;
};

/// An open file; the real one's follows it.
typedef struct {
    sqlite3_file base;
    simulated_disk *disk;
    image *image;
} open_file;

static sqlite3_vfs *real_system;
static sqlite3_vfs simulated_system;
static __thread simulated_disk *current;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((open_file *)file + 1); }

// SplitMix64, as SeededGenerator.
static uint64_t draw(simulated_disk *disk) {
    uint64_t mixed = disk->random += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

static int happens(simulated_disk *disk, uint32_t permille) { return permille && draw(disk) % 1000 < permille; }

// MARK: - Images

static int grow(image *image, int64_t length) {
    int64_t sectors = (length + sector - 1) / sector;
    if (sectors <= image->sectors) return SQLITE_OK;
    sectors += sectors / 2 + 64;
    uint8_t *dirty = realloc(image->dirty, (size_t)sectors);
    if (dirty) image->dirty = dirty;
    uint8_t *flushed = dirty ? realloc(image->flushed, (size_t)(sectors * sector)) : NULL;
    if (flushed) image->flushed = flushed;
    uint8_t *latest = flushed ? realloc(image->latest, (size_t)(sectors * sector)) : NULL;
    if (!latest) return SQLITE_IOERR_NOMEM;
    image->latest = latest;
    size_t more = (size_t)(sectors - image->sectors);
    memset(image->dirty + image->sectors, 0, more);
    memset(image->flushed + image->sectors * sector, 0, more * sector);
    memset(image->latest + image->sectors * sector, 0, more * sector);
    image->sectors = sectors;
    return SQLITE_OK;
}

static void release(image *image) {
    free(image->path);
    free(image->latest);
    free(image->flushed);
    free(image->dirty);
    free(image);
}

static void forget_images(simulated_disk *disk) {
    while (disk->images) {
        image *next = disk->images->next;
        release(disk->images);
        disk->images = next;
    }
}

/// Takes over what the real file holds. What differs from before was written past SQLite, and counts as flushed.
static int look(image *image, int64_t length, sqlite3_file *file) {
    int code = grow(image, length);
    for (int64_t offset = 0; code == SQLITE_OK && offset < length; offset += most) {
        int count = length - offset < most ? (int)(length - offset) : most;
        code = file->pMethods->xRead(file, image->latest + offset, count, offset);
    }
    if (code != SQLITE_OK) return code;
    image->length = length;
    for (int64_t index = 0; index * sector < length; index++) {
        if (!image->dirty[index]) memcpy(image->flushed + index * sector, image->latest + index * sector, sector);
    }
    return SQLITE_OK;
}

/// The image of a file that is being opened: made of what the real file holds, if it is not known.
static image *image_of(simulated_disk *disk, const char *path, sqlite3_file *file) {
    struct stat status;
    if (stat(path, &status) != 0) return NULL;
    image *found = disk->images;
    while (found && found->inode != status.st_ino) found = found->next;
    char *name = strdup(path);
    if (!found && name) {
        found = calloc(1, sizeof(image));
        if (found) {
            found->inode = status.st_ino;
            found->flushed_length = status.st_size;
            found->next = disk->images;
            disk->images = found;
        }
    }
    if (!found || !name) {
        free(name);
        return NULL;
    }
    // It may have another name by now.
    free(found->path);
    found->path = name;
    if (!found->uses && look(found, status.st_size, file) != SQLITE_OK) return NULL;
    found->uses++;
    return found;
}

/// Finds the next sectors that were written since the last flush.
///
/// Returns the first one; `end` is the one after the last, and the first one where there are no more.
static int64_t next_dirty(const image *image, int64_t first, int64_t *end) {
    int64_t count = (image->length + sector - 1) / sector;
    while (first < count && !image->dirty[first]) first++;
    *end = first;
    while (*end < count && image->dirty[*end]) ++*end;
    return first;
}

/// How many bytes there are from one sector to another one.
static int64_t extent(const image *image, int64_t first, int64_t end) {
    return (end * sector < image->length ? end * sector : image->length) - first * sector;
}

/// Gives the real file the latest contents.
static int write_behind(image *image) {
    sqlite3_file *file = image->behind;
    if (!file) return SQLITE_OK;
    int64_t end;
    for (int64_t first = next_dirty(image, 0, &end); first < end; first = next_dirty(image, end, &end)) {
        if (end - first > most / sector) end = first + most / sector;
        int bytes = (int)extent(image, first, end);
        int code = file->pMethods->xWrite(file, image->latest + first * sector, bytes, first * sector);
        if (code != SQLITE_OK) return code;
    }
    image->behind = NULL;
    return SQLITE_OK;
}

static int64_t used(const simulated_disk *disk) {
    int64_t bytes = disk->reserved;
    for (const image *image = disk->images; image; image = image->next) bytes += image->length;
    return bytes;
}

// MARK: - Operations

/// Counts an operation; when the alarm is set for it, calls the alarm, which freezes the disk.
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
    int code = grow(file->image, offset + count);
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
    // What a process had written of this when it died.
    if (disk->operations + 1 == disk->alarm_at && disk->alarm) {
        int part = (int)(draw(disk) % (uint64_t)(count / sector + 1)) * sector;
        if (part) write_part(file, bytes, part, offset);
    }
    if (begin(disk) != SQLITE_OK) return SQLITE_IOERR_WRITE;
    if (happens(disk, disk->failing_writes)) return SQLITE_IOERR_WRITE;
    int64_t more = offset + count - file->image->length;
    if (disk->capacity && more > 0 && used(disk) + more > disk->capacity) return SQLITE_FULL;
    return write_part(file, bytes, count, offset);
}

static int disk_sync(sqlite3_file *base, int flags) {
    open_file *file = (open_file *)base;
    (void)flags;
    if (begin(file->disk) != SQLITE_OK) return SQLITE_IOERR_FSYNC;
    if (happens(file->disk, file->disk->failing_flushes)) return SQLITE_IOERR_FSYNC;
    image *image = file->image;
    int code = write_behind(image);
    if (code != SQLITE_OK) return code;
    int64_t end;
    for (int64_t first = next_dirty(image, 0, &end); first < end; first = next_dirty(image, end, &end)) {
        memcpy(image->flushed + first * sector, image->latest + first * sector, (size_t)extent(image, first, end));
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
        // What is written there later is new.
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
    // sqlite3_io_methods: the rest has to be zeros.
    memset((uint8_t *)bytes + there, 0, (size_t)(count - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int disk_close(sqlite3_file *base) {
    image *image = ((open_file *)base)->image;
    // When a process is dead, its file has what it is to have.
    int is_behind = !((open_file *)base)->disk->is_frozen && image->behind == real(base);
    int code = is_behind ? write_behind(image) : SQLITE_OK;
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
// No promise that a sector beside one that is written stays as it is, and none that writes stay in order.
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
    // The next process finds what a dead one has left.
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
    // The real file system's own file takes the place of ours where there is nothing to simulate.
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
        release(gone);
        break;
    }
    return SQLITE_OK;
}

int simulated_disk_register(void) {
    int code = sqlite3_initialize();
    if (code != SQLITE_OK) return code;
    // It locks a file once and keeps the index of the log in memory, which saves most of the time: a history has one process
    // at a time.
    real_system = sqlite3_vfs_find("unix-excl");
    if (!real_system) return SQLITE_ERROR;
    simulated_system = *real_system;
    simulated_system.zName = "simulated";
    simulated_system.szOsFile += (int)sizeof(open_file);
    simulated_system.xOpen = system_open;
    simulated_system.xDelete = system_delete;
    return sqlite3_vfs_register(&simulated_system, 1);
}

// MARK: - The disk

simulated_disk *simulated_disk_create(uint64_t seed) {
    simulated_disk *disk = calloc(1, sizeof(*disk));
    if (disk) disk->random = seed;
    return disk;
}

void simulated_disk_destroy(simulated_disk *disk) {
    forget_images(disk);
    free(disk);
}

void simulated_disk_use(simulated_disk *disk) { current = disk; }
void simulated_disk_set_capacity(simulated_disk *disk, int64_t capacity) { disk->capacity = capacity; }
void simulated_disk_set_reserved(simulated_disk *disk, int64_t reserved) { disk->reserved = reserved; }

int64_t simulated_disk_free(const simulated_disk *disk) {
    if (!disk->capacity) return INT64_MAX;
    int64_t left = disk->capacity - used(disk);
    return left > 0 ? left : 0;
}

void simulated_disk_set_failures(simulated_disk *disk, uint32_t writes, uint32_t flushes, uint32_t reads) {
    disk->failing_writes = writes;
    disk->failing_flushes = flushes;
    disk->failing_reads = reads;
}

uint64_t simulated_disk_operations(const simulated_disk *disk) { return disk->operations; }

void simulated_disk_set_alarm(simulated_disk *disk, uint64_t operation, void (*alarm)(void *), void *context) {
    disk->alarm_at = operation;
    disk->alarm = alarm;
    disk->alarm_context = context;
}

int simulated_disk_freeze(simulated_disk *disk) {
    disk->is_frozen = 1;
    disk->alarm = NULL;
    // What a process has written stays when it dies.
    for (image *image = disk->images; image; image = image->next) {
        if (write_behind(image) != SQLITE_OK) return EIO;
    }
    return 0;
}

/// Puts back what a file has lost.
static int settle(simulated_disk *disk, image *image) {
    // By a file descriptor of its own: SQLite's locks on it belong to a process that is dead.
    int file = open(image->path, O_RDWR | O_CLOEXEC);
    if (file < 0) return errno == ENOENT ? 0 : errno;
    struct stat status;
    // It was renamed, and another one has its name.
    if (fstat(file, &status) != 0 || status.st_ino != image->inode) {
        close(file);
        return 0;
    }
    int64_t length = draw(disk) % 2 ? image->length : image->flushed_length;
    int code = ftruncate(file, length) == 0 ? 0 : errno;
    // A flush that never came leaves all or nothing more often than a mixture.
    uint64_t fate = draw(disk) % 4;
    for (int64_t index = 0; !code && index * sector < length; index++) {
        if (!image->dirty[index] || fate == 0 || (fate != 1 && draw(disk) % 2)) continue;
        int64_t count = length - index * sector < sector ? length - index * sector : sector;
        if (pwrite(file, image->flushed + index * sector, (size_t)count, index * sector) != count) code = errno;
    }
    close(file);
    return code;
}

int simulated_disk_cut_power(simulated_disk *disk) {
    int failure = simulated_disk_freeze(disk);
    if (failure) return failure;
    disk->has_lost_power = 1;
    for (image *image = disk->images; image; image = image->next) {
        int code = settle(disk, image);
        if (code) return code;
    }
    return 0;
}

void simulated_disk_thaw(simulated_disk *disk) {
    disk->is_frozen = 0;
    // What a dead process has written and not flushed can still be lost, unless its file is gone.
    for (image **link = &disk->images; *link;) {
        image *image = *link;
        assert(!image->uses);
        struct stat status;
        if (!disk->has_lost_power && stat(image->path, &status) == 0 && status.st_ino == image->inode) {
            link = &image->next;
        } else {
            *link = image->next;
            release(image);
        }
    }
    disk->has_lost_power = 0;
}
