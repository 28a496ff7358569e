/* noise.h - noise: the operating system takes a core away from its task now and then. Each time is a detour.
 *
 * Detours come with a period, from a recorded file, or from a distribution. All of them are functions of the
 * seed, the core and the time: nothing depends on what runs, on which rank, or on what was asked for before.
 * A file's detours repeat after its span; a core begins somewhere in it.
 *
 * There are two laws of what a detour delays. node_noise_until: work continues only between detours, so what
 * takes a core for `length` has had it when so much time without detours has passed; nothing is begun inside
 * a detour. node_detours_delay is LogGOPSim's: the rest of the detour in which work begins, and all that
 * begin while it would have the core without any.
 */
#pragma once

#include "kernel/config/config.h"

/* ---- detours that repeat ---- */

/* Ascending, none overlaps the next; all times from the begin of the span. Zeroed: none. */
struct node_detours {
    struct node_detour {
        ker_time begin, length, sum; /* sum: of the lengths up to this one */
    } * detour;
    uint32_t count, room;
    ker_time span; /* they repeat after this */
};

/* Lines with begin and length in nanoseconds, # begins a comment. The end of the last detour is the end of
 * the span (one of length 0 says no more than that). Into empty ones; `file` is for messages: KER_BAD_INPUT
 * with file and line. */
enum ker_status node_detours_parse(struct node_detours *, const char *file, const char *text, size_t length,
                                   struct ker_error *);
/* The file that the key names. */
enum ker_status node_detours_read(struct node_detours *, const struct ker_config *, const char *key,
                                  struct ker_error *);
/* One in each period, at its begin; length 0: none. PREFIX.period and PREFIX.length, as words of the keys. */
enum ker_status node_detours_periodic(struct node_detours *, const struct ker_config *, const char *period,
                                      const char *length, struct ker_error *);
void node_detours_free(struct node_detours *);
/* Where in the span a component is at time 0: uniform over it, drawn. */
ker_time node_detours_place(const struct node_detours *, uint64_t seed, uint32_t purpose, uint64_t component);
/* How much longer something takes by LogGOPSim's law that begins at `from`, where time 0 is `phase` after the
 * begin of the span, and would take `length`; count > 0. */
ker_time node_detours_delay(const struct node_detours *, ker_time phase, ker_time from, ker_time length);
/* When something has had a core for `length` that begins at `from`; count > 0, and some time of the span is
 * free. At most 9,000,000 s, behind any run's end. */
ker_time node_detours_until(const struct node_detours *, ker_time phase, ker_time from, ker_time length);

/* Of the time from `from` to `to` what is no detour. */
ker_time node_detours_free_time(const struct node_detours *, ker_time phase, ker_time from, ker_time to);

/* ---- the noise of a system's cores: node.noise.* ---- */

enum node_noise_kind { NODE_NOISE_NONE, NODE_NOISE_PERIODIC, NODE_NOISE_FILE, NODE_NOISE_RANDOM };
enum node_noise_lengths { NODE_NOISE_FIXED, NODE_NOISE_EXPONENTIAL, NODE_NOISE_PARETO };
/* Which cores have their detours at the same times: none, those of a node, all. */
enum node_noise_begin { NODE_NOISE_CORE, NODE_NOISE_NODE, NODE_NOISE_SAME };

struct node_noise {
    enum node_noise_kind kind;
    enum node_noise_begin begin;
    struct node_detours detours; /* periodic, file */
    ker_time phase;              /* NODE_NOISE_SAME */
    enum node_noise_lengths law;
    ker_time gap, length; /* random: means */
    double shape;         /* of Pareto's distribution, > 1 */
    uint64_t seed;
    uint32_t purpose;
};

/* Where a core is: the first detour that ends behind the last time asked for. Zeroed at time 0. */
struct node_noise_core {
    ker_time begin, end;
    uint64_t drawn; /* detours, with this one */
};

enum ker_status node_noise_init(struct node_noise *, const struct ker_config *, struct ker_error *);
void node_noise_release(struct node_noise *);
/* When something has had a core of a node for `length` that begins at `from`, which never goes back for a
 * core; kind is not NONE. length 0: `from`, or the end of the detour in which that is. At most 9,000,000 s.
 * Where thousands of drawn detours come before that it is a time behind `from` by which a part of it is done:
 * ask again then. */
ker_time node_noise_until(const struct node_noise *, struct node_noise_core *, uint32_t node, uint32_t core,
                          ker_time from, ker_time length);

/* Of the time from `from` to `to` what the core is there. */
ker_time node_noise_free_time(const struct node_noise *, struct node_noise_core *, uint32_t node,
                              uint32_t core, ker_time from, ker_time to);

extern const struct ker_option node_noise_options[];
