#include "disk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// SplitMix64, as in SeededGenerator.
uint64_t disk_draw(simulated_disk *disk) {
    uint64_t mixed = disk->random += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

// MARK: - Images

int image_grow(image *image, int64_t length) {
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

void image_release(image *image) {
    free(image->path);
    free(image->latest);
    free(image->flushed);
    free(image->dirty);
    free(image);
}

static void forget_images(simulated_disk *disk) {
    while (disk->images) {
        image *next = disk->images->next;
        image_release(disk->images);
        disk->images = next;
    }
}

/// Reads the real file into the image. Bytes that differ were written without SQLite, and count as flushed.
static int image_look(image *image, int64_t length, sqlite3_file *file) {
    int code = image_grow(image, length);
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

/// Returns the image of a file that SQLite opens. Creates it from the real file if it does not exist yet.
image *image_of(simulated_disk *disk, const char *path, sqlite3_file *file) {
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
    // The file may have been renamed.
    free(found->path);
    found->path = name;
    if (!found->uses && image_look(found, status.st_size, file) != SQLITE_OK) return NULL;
    found->uses++;
    return found;
}

/// Finds the next run of sectors that were written since the last flush.
///
/// Returns the index of its first sector and sets `end` to the index after its last one. Without further sectors both
/// are equal.
int64_t image_next_dirty(const image *image, int64_t first, int64_t *end) {
    int64_t count = (image->length + sector - 1) / sector;
    while (first < count && !image->dirty[first]) first++;
    *end = first;
    while (*end < count && image->dirty[*end]) ++*end;
    return first;
}

int64_t image_extent(const image *image, int64_t first, int64_t end) {
    return (end * sector < image->length ? end * sector : image->length) - first * sector;
}

int image_write_behind(image *image) {
    sqlite3_file *file = image->behind;
    if (!file) return SQLITE_OK;
    int64_t end;
    for (int64_t first = image_next_dirty(image, 0, &end); first < end; first = image_next_dirty(image, end, &end)) {
        if (end - first > most / sector) end = first + most / sector;
        int bytes = (int)image_extent(image, first, end);
        int code = file->pMethods->xWrite(file, image->latest + first * sector, bytes, first * sector);
        if (code != SQLITE_OK) return code;
    }
    image->behind = NULL;
    return SQLITE_OK;
}

int64_t disk_used(const simulated_disk *disk) {
    int64_t bytes = disk->reserved;
    for (const image *image = disk->images; image; image = image->next) bytes += image->length;
    return bytes;
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

void simulated_disk_set_capacity(simulated_disk *disk, int64_t capacity) { disk->capacity = capacity; }
void simulated_disk_set_reserved(simulated_disk *disk, int64_t reserved) { disk->reserved = reserved; }

int64_t simulated_disk_free(const simulated_disk *disk) {
    if (!disk->capacity) return INT64_MAX;
    int64_t left = disk->capacity - disk_used(disk);
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
    // A process's writes survive its death.
    for (image *image = disk->images; image; image = image->next) {
        if (image_write_behind(image) != SQLITE_OK) return EIO;
    }
    return 0;
}

/// Makes the real file lose unflushed sectors, as a power cut does.
static int settle(simulated_disk *disk, image *image) {
    // The file needs a new descriptor, because SQLite's locks belong to the dead process.
    int file = open(image->path, O_RDWR | O_CLOEXEC);
    if (file < 0) return errno == ENOENT ? 0 : errno;
    struct stat status;
    // The file was renamed, and another file has its name.
    if (fstat(file, &status) != 0 || status.st_ino != image->inode) {
        close(file);
        return 0;
    }
    int64_t length = disk_draw(disk) % 2 ? image->length : image->flushed_length;
    int code = ftruncate(file, length) == 0 ? 0 : errno;
    // The sectors of a missing flush are more often all lost or all written than mixed.
    uint64_t fate = disk_draw(disk) % 4;
    for (int64_t index = 0; !code && index * sector < length; index++) {
        if (!image->dirty[index] || fate == 0 || (fate != 1 && disk_draw(disk) % 2)) continue;
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
    // A later power cut can still lose the dead process's unflushed writes, unless the file was removed.
    for (image **link = &disk->images; *link;) {
        image *image = *link;
        assert(!image->uses);
        struct stat status;
        if (!disk->has_lost_power && stat(image->path, &status) == 0 && status.st_ino == image->inode) {
            link = &image->next;
        } else {
            *link = image->next;
            image_release(image);
        }
    }
    disk->has_lost_power = 0;
}
