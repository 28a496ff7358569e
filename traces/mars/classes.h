/* classes.h - classes of times packed by what is known of their calls: sections MARS_SECTION_GAP_PACKED and
 * its like, in place of MARS_SECTION_GAP. docs/trace-format.md has them byte by byte.
 *
 * A call of a loop takes about as long as it took in the pass before, and a call lasts longer behind one that
 * waited. So each class is coded with the frequencies of its context: the function, the class that this
 * time had in the last call of the same shape, and that of another time close by (nearby_of). Contexts whose
 * classes are alike share one table of frequencies. The coder is an asymmetric numeral system (J. Duda,
 * "Asymmetric numeral systems: entropy coding combining speed of Huffman coding with compression rate of
 * arithmetic coding", arXiv:1311.2540) with tables for ranges ("rANS"): a multiplication for each class.
 */
#ifndef MARS_CLASSES_H
#define MARS_CLASSES_H

#include "traces/mars/block.h"
#include "traces/mars/times.h"

#define MARS_SCALE_BITS 12 /* frequencies of a table add up to 2^this */
#define MARS_SCALE (1u << MARS_SCALE_BITS)
#define MARS_MODELS 64      /* tables of a section, at most */
#define MARS_FUNCTIONS 4096 /* functions are distinguished by their numbers modulo this */
#define MARS_STATE_LEAST ((uint32_t)1 << 16)

enum mars_time_kind { MARS_TIME_DURATION, MARS_TIME_GAP, MARS_TIME_AWAY, MARS_TIMES };

/* Of each kind of time: its section as it is, and packed. Durations come first, gaps need them, and the times
 * away need the gaps. */
struct mars_time_sections {
    enum mars_section_kind plain, packed;
};
extern const struct mars_time_sections mars_time_sections[MARS_TIMES];

/* What is known of each record of a block before its times. */
struct mars_calls {
    uint32_t records, shapes, functions;
    uint32_t *shape;    /* of each record */
    uint32_t *function; /* of each shape, in order of their first shapes */
    uint8_t *last;      /* of each shape, while a column is gone through */
};
/* The shape of each record. False: the order is damaged. */
bool mars_order_read(const struct mars_sections *, uint32_t records, uint32_t shapes, uint32_t *shape);
/* Reads the order and the functions of the shapes. False: they are damaged, or there is no memory (then
 * *why says it). To be released in either case. */
bool mars_calls_read(struct mars_calls *, const struct mars_sections *, uint32_t records, const char **why);
void mars_calls_release(struct mars_calls *);

/* The number of a context: that of its function, then 6 bits of the shape's last class, then 4 of the class
 * nearby. */
#define MARS_CONTEXTS_OF_FUNCTION 1024u

/* 0 is "none yet". */
static inline uint8_t mars_class_last(unsigned class)
{
    unsigned part = class < 8 ? class + 1 : class / 4 + 7;
    return (uint8_t)(part < 63 ? part : 63);
}

static inline unsigned mars_class_nearby(unsigned class)
{
    return class < 128 ? class >> 3 : 15;
}

static inline uint32_t mars_context(uint32_t function, uint8_t last, unsigned nearby)
{
    return function << 10 | (uint32_t)last << 4 | mars_class_nearby(nearby);
}

/* The class close by: of a time away the gap that it is in, else the duration of the record before. NULL:
 * those are all 0. */
static inline unsigned mars_nearby_of(enum mars_time_kind kind, const uint8_t *column, uint32_t record)
{
    if (!column)
        return 0;
    if (kind == MARS_TIME_AWAY)
        return column[record];
    return record ? column[record - 1] : 0;
}

/* A table: how often each class is among MARS_SCALE, made of weights (0: never; else the class of about how
 * often) so that who writes and who reads make the same of them. */
struct mars_model {
    uint8_t class[MARS_SCALE]; /* at each place */
    struct {
        uint16_t first, count;
    } part[MARS_CLASS_MOST + 1];
};
#define MARS_WEIGHT_MOST 44 /* the class of MARS_SCALE */
/* False: a weight is larger, or all are 0. */
bool mars_model_make(struct mars_model *, const uint8_t weight[MARS_CLASS_MOST + 1]);

/* The column that classes nearby are taken from. False: it is of another length than there are records. */
bool mars_column_nearby(const struct mars_sections *, enum mars_time_kind, uint32_t records,
                        const uint8_t **column);

/* Puts the classes of each packed section among the sections, as if they had not been packed. */
bool mars_classes_unpack(struct mars_sections *, uint32_t records, struct mars_error *);

/* pack.c: adds the sections of a block of calls to a payload, classes packed where that is shorter. */
struct mars_packer;
struct mars_packer *mars_packer_new(void); /* NULL: no memory */
void mars_packer_free(struct mars_packer *);
void mars_classes_pack(struct mars_packer *, const struct mars_sections *, uint32_t records,
                       struct mars_payload *);

#endif
