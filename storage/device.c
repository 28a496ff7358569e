/* device.c - how long a device takes for an operation. Kinds of devices: storage.device.kind. */
#include "storage/private.h"

/* ---- disk: one operation at a time ---- */

static const struct ker_option disk_options[] = {
    {"storage.device.seek", KER_TYPE_TIME, "9 ms", NULL, "1 s", NULL, "The average seek."},
    {"storage.device.track_seek", KER_TYPE_TIME, "1 ms", NULL, "1 s", NULL, "A seek to what is close."},
    {"storage.device.rpm", KER_TYPE_INT, "7200", "1", "1000000", NULL,
     "Revolutions a minute: half a turn comes with each seek."},
    {"storage.device.close", KER_TYPE_BYTES, "1 MB", NULL, NULL, NULL,
     "What begins less than this from where the last operation on the same file has ended is close."},
    {0},
};

static void disk_read(struct store_device *d, const struct ker_config *config)
{
    int64_t rpm = ker_config_int(config, "storage.device.rpm");
    d->channels = 1;
    d->seek = ker_config_time(config, "storage.device.seek");
    d->track_seek = ker_config_time(config, "storage.device.track_seek");
    d->half_turn = (30 * KER_S + rpm / 2) / rpm;
    d->close = ker_config_bytes(config, "storage.device.close");
}

static ker_time disk_time(const struct store_device *d, struct store_head *head, uint32_t file,
                          uint64_t offset, uint64_t bytes, enum store_seek *seek)
{
    uint64_t off = offset > head->end ? offset - head->end : head->end - offset;
    bool same = head->moved && head->file == file;
    *seek = same && off == 0 ? STORE_SEEK_NONE : same && off < d->close ? STORE_SEEK_TRACK : STORE_SEEK_FULL;
    *head = (struct store_head){offset + bytes, file, true};
    ker_time before =
        *seek == STORE_SEEK_NONE ? 0 : d->half_turn + (*seek == STORE_SEEK_TRACK ? d->track_seek : d->seek);
    return before + ker_serialisation(bytes, d->rate);
}

const struct ker_kind store_device_disk = {
    .name = "disk",
    .meaning = "a disk: seeks, and half a turn, where an operation does not go on from the last one",
    .operations = &(const struct store_device_kind){.read = disk_read, .time = disk_time},
    .options = KER_OPTIONS(disk_options)};

/* ---- what does not move ---- */

static const struct ker_option flash_options[] = {
    {"storage.device.latency", KER_TYPE_TIME, "80 us", NULL, "1 s", NULL, "Of each operation."},
    {"storage.device.channels", KER_TYPE_INT, "8", "1", "1024", NULL,
     "Operations side by side, each at its share of the rate."},
    {0},
};

static void memory_read(struct store_device *d, const struct ker_config *config)
{
    (void)config;
    d->channels = 1;
}

static void flash_read(struct store_device *d, const struct ker_config *config)
{
    d->latency = ker_config_time(config, "storage.device.latency");
    d->channels = (uint32_t)ker_config_int(config, "storage.device.channels");
}

static ker_time flash_time(const struct store_device *d, struct store_head *head, uint32_t file,
                           uint64_t offset, uint64_t bytes, enum store_seek *seek)
{
    *seek = STORE_SEEK_NONE;
    *head = (struct store_head){offset + bytes, file, true};
    return d->latency + ker_serialisation(bytes * d->channels, d->rate);
}

const struct ker_kind store_device_ssd = {
    .name = "ssd",
    .meaning = "flash: a latency for each operation, and channels side by side",
    .operations = &(const struct store_device_kind){.read = flash_read, .time = flash_time},
    .options = KER_OPTIONS(flash_options)};
const struct ker_kind store_device_memory = {
    .name = "memory",
    .meaning = "a rate, and no more",
    .operations = &(const struct store_device_kind){.read = memory_read, .time = flash_time}};
