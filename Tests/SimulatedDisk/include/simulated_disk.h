#ifndef SIMULATED_DISK_H
#define SIMULATED_DISK_H

#include <stdint.h>

/// A disk for SQLite that runs full, fails, and loses unflushed writes at a power cut.
///
/// It is SQLite's default file system (sqlite3_vfs) for every thread that selects a disk, and stores its files in a
/// real directory. It keeps the latest and the flushed contents of each file in memory. The real file gets the latest
/// contents only when SQLite flushes or closes it, and when the process dies. Only one thread at a time may use a disk.
/// The seed decides all random choices.
typedef struct simulated_disk simulated_disk;

/// Makes the simulated disk SQLite's default file system. Call it once, before any database is opened. Returns 0, else
/// an error code of SQLite.
int simulated_disk_register(void);

simulated_disk *simulated_disk_create(uint64_t seed);
/// All files must be closed.
void simulated_disk_destroy(simulated_disk *disk);
/// Puts the files of the calling thread on `disk` from now on; NULL: on the real file system.
void simulated_disk_use(simulated_disk *disk);

/// Limits the bytes of SQLite's files plus the `reserved` bytes of other files; 0 is no limit.
void simulated_disk_set_capacity(simulated_disk *disk, int64_t capacity);
void simulated_disk_set_reserved(simulated_disk *disk, int64_t reserved);
/// INT64_MAX without a limit.
int64_t simulated_disk_free(const simulated_disk *disk);
/// Makes this number of a thousand writes, flushes and reads fail.
void simulated_disk_set_failures(simulated_disk *disk, uint32_t writes, uint32_t flushes, uint32_t reads);
/// Returns the number of writes, flushes, truncations and removals so far.
uint64_t simulated_disk_operations(const simulated_disk *disk);

/// Calls `alarm` instead of the operation with this number (see simulated_disk_operations()). The operation fails; a
/// write writes only a part.
void simulated_disk_set_alarm(simulated_disk *disk, uint64_t operation, void (*alarm)(void *context), void *context);

/// Simulates the death of the process: from now on every operation fails and changes nothing. Returns 0, else an errno
/// value.
int simulated_disk_freeze(simulated_disk *disk);
/// Simulates a power cut: each unflushed sector may or may not reach the disk. Returns 0, else an errno value.
int simulated_disk_cut_power(simulated_disk *disk);
/// Starts the next process. All files must be closed. After a power cut, the contents on the disk count as flushed.
void simulated_disk_thaw(simulated_disk *disk);

#endif
