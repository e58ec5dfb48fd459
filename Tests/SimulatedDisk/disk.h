#ifndef DISK_H
#define DISK_H

#include "simulated_disk.h"

#include <sqlite3.h>
#include <sys/types.h>

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

uint64_t disk_draw(simulated_disk *disk);
int64_t disk_used(const simulated_disk *disk);
int image_grow(image *image, int64_t length);
void image_release(image *image);
image *image_of(simulated_disk *disk, const char *path, sqlite3_file *file);
int64_t image_next_dirty(const image *image, int64_t first, int64_t *end);
int64_t image_extent(const image *image, int64_t first, int64_t end);
int image_write_behind(image *image);

#endif
