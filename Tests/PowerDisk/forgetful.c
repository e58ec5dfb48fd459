/* A disk whose power can be cut, as a plugin of nbdkit. Writes stay in a volatile layer until a flush. A cut moves a
 * random part of the volatile sectors to the durable layer and drops the rest. Then the disk answers no more requests.
 *
 *     nbdkit forgetful.so content=FILE orders=FIFO answers=FIFO seed=N
 *
 * The content is the durable layer; its size is that of the disk. An order is a line, and replaces the previous order.
 * The answer, `on` or `off`, tells the state of the power. The order is valid from then on:
 *
 *     now                    cuts the power
 *     flush N                cuts it at the Nth flush from now, before that flush is carried out
 *     write N [FROM TO]...   cuts it after the Nth write from now; with ranges of bytes, only writes to them count
 *     never                  cancels the cut
 *     ?                      keeps the previous order */
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

enum { SECTOR = 512, LONGEST_ORDER = 65536, MOST_RANGES = 1024 };

static const char *content_path, *orders_path, *answers_path;
static uint64_t seed = 1;
static uint64_t size;
static uint8_t *durable, *latest;

/* Guards the variables below. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_cut;
/* The sectors of `latest` that are not in `durable`: a flag for each sector, and a list of sectors. */
static bool *is_volatile;
static uint32_t *volatile_sectors;
static uint32_t volatile_count;
static unsigned long flushes_left, writes_left;
static struct { uint64_t from, to; } ranges[MOST_RANGES];
static int range_count;

static void keep(uint32_t sector) {
    memcpy(durable + (uint64_t)sector * SECTOR, latest + (uint64_t)sector * SECTOR, SECTOR);
}

static void flush_all(void) {
    for (uint32_t i = 0; i < volatile_count; i++) {
        keep(volatile_sectors[i]);
        is_volatile[volatile_sectors[i]] = false;
    }
    volatile_count = 0;
}

/* Steele, Lea and Flood's SplitMix64. */
static uint64_t draw(void) {
    uint64_t z = seed += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

static void cut(void) {
    /* Between none and all of the volatile sectors survive. */
    uint64_t percent = draw() % 101;
    for (uint32_t i = 0; i < volatile_count; i++)
        if (draw() % 100 < percent) keep(volatile_sectors[i]);
    is_cut = true;
}

static void take_order(const char *text) {
    char verb[8] = "";
    unsigned long count = 0;
    int end = 0;
    sscanf(text, "%7s %lu%n", verb, &count, &end);
    if (is_cut || strcmp(verb, "?") == 0) return;
    flushes_left = strcmp(verb, "flush") == 0 ? count : 0;
    writes_left = strcmp(verb, "write") == 0 ? count : 0;
    range_count = 0;
    for (const char *rest = text + end; range_count < MOST_RANGES; range_count++, rest += end)
        if (sscanf(rest, "%lu %lu%n", &ranges[range_count].from, &ranges[range_count].to, &end) < 2) break;
    if (strcmp(verb, "now") == 0) cut();
}

static void *take_orders(void *unused) {
    FILE *orders = fopen(orders_path, "r+"), *answers = fopen(answers_path, "r+");
    static char text[LONGEST_ORDER];
    while (orders && answers && fgets(text, sizeof text, orders)) {
        pthread_mutex_lock(&lock);
        take_order(text);
        fputs(is_cut ? "off\n" : "on\n", answers);
        pthread_mutex_unlock(&lock);
        fflush(answers);
    }
    return unused;
}

static bool is_counted(uint64_t from, uint64_t to) {
    for (int i = 0; i < range_count; i++)
        if (from < ranges[i].to && ranges[i].from < to) return true;
    return range_count == 0;
}

/* Takes the lock. Without power, fails after 10 s, unless the disk is ended first. */
static int begin(void) {
    pthread_mutex_lock(&lock);
    if (!is_cut) return 0;
    pthread_mutex_unlock(&lock);
    sleep(10);
    nbdkit_set_error(EIO);
    return -1;
}

/* Releases the lock. The request at which the power was cut gets no answer either. */
static int end(void) {
    bool has_ended = is_cut;
    pthread_mutex_unlock(&lock);
    return has_ended ? begin() : 0;
}

static int disk_pread(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags) {
    if (begin()) return -1;
    memcpy(buffer, latest + offset, count);
    return end();
}

static int disk_pwrite(void *handle, const void *buffer, uint32_t count, uint64_t offset, uint32_t flags) {
    if (begin()) return -1;
    memcpy(latest + offset, buffer, count);
    uint32_t first = offset / SECTOR, next = (offset + count + SECTOR - 1) / SECTOR;
    for (uint32_t sector = first; sector < next; sector++) {
        if (is_volatile[sector]) continue;
        is_volatile[sector] = true;
        volatile_sectors[volatile_count++] = sector;
    }
    if (writes_left && is_counted(offset, offset + count) && --writes_left == 0) cut();
    if (!is_cut && flags & NBDKIT_FLAG_FUA)
        for (uint32_t sector = first; sector < next; sector++) keep(sector);
    return end();
}

static int disk_flush(void *handle, uint32_t flags) {
    if (begin()) return -1;
    if (flushes_left && --flushes_left == 0) cut();
    if (!is_cut) flush_all();
    return end();
}

static int disk_config(const char *key, const char *value) {
    if (strcmp(key, "content") == 0) content_path = value;
    else if (strcmp(key, "orders") == 0) orders_path = value;
    else if (strcmp(key, "answers") == 0) answers_path = value;
    else if (strcmp(key, "seed") == 0) seed = strtoull(value, NULL, 10);
    else return nbdkit_error("there is no parameter %s", key), -1;
    return 0;
}

static int disk_get_ready(void) {
    int file = content_path ? open(content_path, O_RDWR | O_CLOEXEC) : -1;
    struct stat status;
    if (!orders_path || !answers_path || file < 0 || fstat(file, &status) < 0)
        return nbdkit_error("content, orders and answers have to be files"), -1;
    size = status.st_size;
    durable = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    latest = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    is_volatile = calloc(size / SECTOR, sizeof *is_volatile);
    volatile_sectors = calloc(size / SECTOR, sizeof *volatile_sectors);
    if (durable == MAP_FAILED || latest == MAP_FAILED || !is_volatile || !volatile_sectors)
        return nbdkit_error("there is no memory for the disk"), -1;
    return 0;
}

static int disk_after_fork(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, take_orders, NULL) ? -1 : 0;
}

static void *disk_open(int readonly) { return &lock; }
static int64_t disk_get_size(void *handle) { return size; }
static int disk_can_fua(void *handle) { return NBDKIT_FUA_NATIVE; }

static struct nbdkit_plugin plugin = {
    .name = "forgetful",
    .config = disk_config,
    .get_ready = disk_get_ready,
    .after_fork = disk_after_fork,
    .open = disk_open,
    .get_size = disk_get_size,
    .pread = disk_pread,
    .pwrite = disk_pwrite,
    .flush = disk_flush,
    .can_fua = disk_can_fua,
};

NBDKIT_REGISTER_PLUGIN(plugin)
