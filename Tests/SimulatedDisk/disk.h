#ifndef DISK_H
#define DISK_H

#include "simulated_disk.h"

#include <sqlite3.h>
#include <sys/types.h>

/// SQLite's own file system reads and writes less than 128 KiB at a time.
enum { sector = 512, most = 65536 };

/// A file's latest contents, its flushed contents, and the sectors that differ. The key is the inode, because SQLite's
/// files can be renamed while an image exists. The real file gets the latest contents at a flush, at closing and at the
/// death of the process. A system call for each write would take a tenth of a history's time.
typedef struct image {
    struct image *next;
    ino_t inode;
    char *path;
    int uses;
    /// The real file that still needs the latest contents, or NULL.
    sqlite3_file *behind;
    uint8_t *latest;
    uint8_t *flushed;
    int64_t flushed_length;
    int64_t length;
    /// One byte for each sector: whether it was written since the last flush.
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

uint64_t disk_draw(simulated_disk *disk);
int64_t disk_used(const simulated_disk *disk);
int image_grow(image *image, int64_t length);
void image_release(image *image);
image *image_of(simulated_disk *disk, const char *path, sqlite3_file *file);
int64_t image_next_dirty(const image *image, int64_t first, int64_t *end);
int64_t image_extent(const image *image, int64_t first, int64_t end);
int image_write_behind(image *image);

#endif
