/* cut_write.h - what the two parts of writing share: cut_write.c (records), cut_about.c (definitions). */
#ifndef CONV_CUT_WRITE_H
#define CONV_CUT_WRITE_H

#include "tools/marsconv/allprof.h"
#include "tools/marsconv/cut.h"

struct cut_map { /* of a communicator: the new rank of each, -1: gone */
    int32_t *rank, *remote;
    uint32_t size, remote_size;
};

struct cut_request {
    uint8_t kept;         /* 1: active; 2: persistent, not started; 3: persistent and active */
    bool sends, receives; /* a persistent one: to be decided at each start */
    uint32_t comm;
};

struct cut_writing {
    struct cut *cut;
    struct conv_task *task;
    struct conv_sink *sink;
    struct mars_task about;
    struct mars_comm **comm; /* as they are in the part */
    struct cut_map *map;
    uint32_t comms, comms_cut;
    __typeof__(((struct mars_task *)0)->info) info;
    char tasks[16];
    struct conv_functions functions;
    struct cut_clock clock;
    struct cut_windows windows;
    const struct cut_kept *kept;
    size_t slot; /* next of kept */
    struct cut_request *request;
    size_t requests;
    uint64_t *sum; /* collectives so far, by communicator */
    uint32_t sums;
    uint64_t gap_ns, away_ns, time_ns; /* computation since the last record; where the new time line is */
    int64_t day_ns;                    /* when that began; time that is left out moves it */
    uint64_t number;
    bool finalised;
    struct mars_value *value; /* of the record that is being made */
    size_t values;
    int64_t *list[3];
    size_t room[3];
    struct mars_error *error;
};

void cut_about_begin(struct cut_writing *);
void cut_about_sync(struct cut_writing *);
void cut_about_end(struct cut_writing *);
const struct mars_function *cut_function(struct cut_writing *, const char *name, const char *fields);

#endif
