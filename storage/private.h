/* private.h - what servers, clients and their parts know of each other. */
#pragma once

#include "storage/storage.h"

/* ---- layout.c: which bytes of a file are where ---- */

/* The file's stripes go in turn to `stripe_count` servers, from the file's first one on; the stripes of a
 * server lie there one behind the other. A place is a server's number, counted from the first. */
struct store_layout {
    const struct store_layout_kind *kind;
    uint64_t stripe_size;
    uint32_t servers, stripe_count;
};
struct store_layout_kind {
    /* How many of the file's bytes before `offset` are at this place: also where `offset` is there. */
    uint64_t (*below)(const struct store_layout *, uint32_t place, uint64_t offset);
};
uint32_t store_layout_server(const struct store_layout *, uint32_t file, uint32_t place);
/* stripe_count where the server has nothing of the file. */
uint32_t store_layout_place(const struct store_layout *, uint32_t file, uint32_t server);
/* Of a run, what is at a place: bytes, and extents there in the order of the run; those that touch are one.
 */
uint64_t store_layout_bytes(const struct store_layout *, uint32_t place, const struct store_run *);
struct store_extents {
    const struct store_layout *layout;
    struct store_run run;
    uint32_t place, piece;
};
bool store_extents_next(struct store_extents *, uint64_t *offset, uint64_t *bytes);

/* ---- device.c ---- */

enum store_seek { STORE_SEEK_NONE, STORE_SEEK_TRACK, STORE_SEEK_FULL, STORE_SEEKS };
struct store_device {
    const struct store_device_kind *kind;
    uint64_t rate, close;
    ker_time seek, track_seek, half_turn, latency;
    uint32_t channels; /* operations at once */
};
/* Where the last operation has ended. */
struct store_head {
    uint64_t end;
    uint32_t file;
    bool moved; /* false: there was none */
};
struct store_device_kind {
    void (*read)(struct store_device *, const struct ker_config *);
    /* Time of the next operation; the head goes to its end. */
    ker_time (*time)(const struct store_device *, struct store_head *, uint32_t file, uint64_t offset,
                     uint64_t bytes, enum store_seek *);
};

/* ---- queue.c: operations that wait for the device, in the order that the cache's policy gives them ---- */

struct store_io {
    uint64_t number; /* in the order in which they came, at `came` */
    ker_time came;
    uint64_t offset, bytes;
    uint32_t file;
    uint32_t job; /* that waits for it, from 1 on; 0: none */
    uint16_t channel;
    bool writes;
};
struct store_policy {
    bool caches;      /* a write is answered when it is in memory */
    bool reads_first; /* reads before writes */
    bool sorts;       /* by file and offset */
    bool merges;      /* what touches becomes one operation */
};
struct store_queue {
    struct store_io *io;
    uint32_t count, room;
};
void store_queue_add(struct store_queue *, const struct store_policy *, const struct store_io *);
/* Takes out what the device does next, one operation of at most `most` bytes: `taken` parts of it are
 * appended to *part; false: there is nothing. last: where the device is. */
struct store_pick {
    uint64_t offset, bytes;
    uint32_t file, taken;
    bool writes;
};
bool store_queue_pick(struct store_queue *, const struct store_policy *, const struct store_head *last,
                      uint64_t most, struct store_queue *part, struct store_pick *);
void store_io_save(struct store_queue *, struct ker_chunk *);

/* ---- settings.c ---- */

/* What all servers, and all clients, of a rank share. */
struct store_settings {
    const struct node_service_setup *setup, *servers; /* its own; that of the servers */
    struct store_layout layout;
    uint64_t chunk;
    uint32_t window, core; /* core: as struct node_message has it: which adapter */
    /* Of servers. */
    const struct store_policy *policy;
    struct store_device device;
    uint64_t cache, granularity;
    uint32_t threads;
    ker_time request_time, open_time;
    bool logs; /* requests.csv is wanted */
};
enum ker_status store_settings_read(void *settings, const struct node_service_setup *, struct ker_error *);

/* What a message between client and server says behind its token. count: pieces of the run. */
struct store_message {
    struct store_call call;
    uint32_t chunk; /* of WRITE: which; of ACK: the server's job */
};
#define STORE_PIECES 64u /* of a run, in one request; as many bytes as this describe one of them there: */
#define STORE_PIECE_BYTES 16u
#define STORE_CHUNKS (1u << 21)
void store_message_words(const struct store_message *, uint64_t words[STORE_WORDS]);
struct store_message store_message_of(const uint64_t words[STORE_WORDS]);
/* What a server answers: 0, or how many answers the request has, with the last of them that it sends (which
 * may come before others); its job; bytes. */
enum { STORE_ANSWERS, STORE_JOB, STORE_BYTES };

/* ---- tables.c: what servers count ---- */

struct store_totals { /* of 64 bits each */
    uint64_t requests, written, read, operations, merged, overlapped, device_written, device_read;
    uint64_t seeks[STORE_SEEKS], busy_ps;
};
/* A row of storage.csv. */
struct store_counts {
    struct store_totals total;
    uint32_t node, number; /* its node, and which server it is */
    uint64_t held;         /* bytes that were received and are not on the device */
    uint64_t queue_max, cache_max, wait_max;
    unsigned __int128 waited;
};
/* A row of storage_series.csv: what has come since the period before. */
struct store_period {
    ker_time at;
    uint32_t node, number;
    uint64_t queue, held; /* at its end */
    struct store_totals total;
};
/* A row of requests.csv. */
struct store_logged {
    ker_time time;
    uint64_t number, offset, bytes; /* number: of the server's; offset: where it lies there */
    uint32_t server, client, file;
    enum store_op op;
};
extern const struct stats_schema store_table, store_series, store_log;

/* ---- server.c, client.c ---- */

extern const struct node_service_kind store_server, store_client;
