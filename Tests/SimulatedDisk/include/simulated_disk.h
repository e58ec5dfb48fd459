#ifndef SIMULATED_DISK_H
#define SIMULATED_DISK_H

#include <stdint.h>

/// A disk for SQLite that runs full, fails, and forgets at a power cut what was not flushed.
///
/// It is SQLite's default file system (sqlite3_vfs) for every thread that uses one, and stands on the real one: files lie in
/// a real directory. Of each file it keeps in memory what was written last, and what was flushed. The real file has what was
/// written last when SQLite flushes or closes it, and when the process dies; not before. One thread at a time uses a disk, and its histories follow from its seed.
typedef struct simulated_disk simulated_disk;

/// Makes it SQLite's default file system. Once, before anything is opened. 0 is success, else a code of SQLite's.
int simulated_disk_register(void);

simulated_disk *simulated_disk_create(uint64_t seed);
/// Every file has to be closed.
void simulated_disk_destroy(simulated_disk *disk);
/// From now on this thread's files are on `disk`; NULL is the real file system.
void simulated_disk_use(simulated_disk *disk);

/// How many bytes SQLite's files may take, together with others that take `reserved`; 0 is no limit.
void simulated_disk_set_capacity(simulated_disk *disk, int64_t capacity);
void simulated_disk_set_reserved(simulated_disk *disk, int64_t reserved);
/// How many bytes are left; INT64_MAX without a limit.
int64_t simulated_disk_free(const simulated_disk *disk);
/// Of a thousand writes, flushes and reads so many fail.
void simulated_disk_set_failures(simulated_disk *disk, uint32_t writes, uint32_t flushes, uint32_t reads);
/// How many writes, flushes, cuts and removals there have been.
uint64_t simulated_disk_operations(const simulated_disk *disk);

/// Calls `alarm` in place of the operation with this number (see simulated_disk_operations()), which fails. A write is done
/// in part.
void simulated_disk_set_alarm(simulated_disk *disk, uint64_t operation, void (*alarm)(void *context), void *context);

/// The process has died: nothing is changed any more, every operation fails. 0 is success, else an errno value.
int simulated_disk_freeze(simulated_disk *disk);
/// The power fails as well: of what was not flushed, each sector is on the disk or is not. 0 is success, else an errno value.
int simulated_disk_cut_power(simulated_disk *disk);
/// The next process begins. Every file has to be closed. After a power cut what is on the disk counts as flushed.
void simulated_disk_thaw(simulated_disk *disk);

#endif
