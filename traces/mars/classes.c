/* classes.c - reads packed classes of times. */
#include "traces/mars/classes.h"

#include "traces/mars/varint.h"

#include <stdlib.h>
#include <string.h>

const struct mars_time_sections mars_time_sections[MARS_TIMES] = {
    [MARS_TIME_DURATION] = {MARS_SECTION_DURATION, MARS_SECTION_DURATION_PACKED},
    [MARS_TIME_GAP] = {MARS_SECTION_GAP, MARS_SECTION_GAP_PACKED},
    [MARS_TIME_AWAY] = {MARS_SECTION_AWAY, MARS_SECTION_AWAY_PACKED},
};

/* ---- what is known of the calls ---- */

bool mars_order_read(const struct mars_sections *sections, uint32_t records, uint32_t shapes, uint32_t *shape)
{
    size_t bytes;
    const uint8_t *data = mars_section(sections, MARS_SECTION_ORDER, &bytes);
    struct mars_bytes from = {data, data + bytes, false};
    uint32_t known = 0;
    for (uint32_t i = 0; i < records;) {
        uint64_t token = mars_get(&from), distance = 0, count = 1;
        if (token == 1) {
            distance = mars_get(&from);
            count = mars_get(&from);
            if (distance == 0 || distance > i || count == 0 || count > records - i)
                return false;
        } else if (token >= 2 && token - 2 >= known) {
            return false;
        }
        if (from.bad)
            return false;
        for (uint64_t end = i + count; i < end; i++)
            shape[i] = distance ? shape[i - distance] : (token ? (uint32_t)(token - 2) : known++);
    }
    return known <= shapes;
}

static bool functions_read(struct mars_calls *calls, const struct mars_sections *sections)
{
    size_t bytes;
    const uint8_t *data = mars_section(sections, MARS_SECTION_SHAPES, &bytes);
    struct mars_bytes from = {data, data + bytes, false};
    uint16_t number[MARS_FUNCTIONS] = {0}; /* 1 + that in the block, so that contexts lie close together */
    for (uint32_t i = 0; i < calls->shapes; i++) {
        uint64_t length = mars_get(&from);
        const uint8_t *shape = mars_get_bytes(&from, length);
        if (!shape)
            return false;
        struct mars_bytes one = {shape, shape + length, false};
        uint16_t *function = &number[(mars_get(&one) >> 1) % MARS_FUNCTIONS];
        if (one.bad)
            return false;
        if (*function == 0)
            *function = (uint16_t)++calls->functions;
        calls->function[i] = *function - 1u;
    }
    return true;
}

static uint32_t shapes_count(const struct mars_sections *sections)
{
    size_t bytes;
    const uint8_t *data = mars_section(sections, MARS_SECTION_SHAPES, &bytes);
    struct mars_bytes from = {data, data + bytes, false};
    uint32_t count = 0;
    for (; from.at < from.end; count++)
        mars_get_bytes(&from, mars_get(&from));
    return count;
}

bool mars_calls_read(struct mars_calls *calls, const struct mars_sections *sections, uint32_t records,
                     const char **why)
{
    *calls = (struct mars_calls){.records = records, .shapes = shapes_count(sections)};
    calls->shape = malloc((records + (size_t)1) * sizeof *calls->shape);
    calls->function = malloc((calls->shapes + (size_t)1) * sizeof *calls->function);
    calls->last = malloc(calls->shapes + (size_t)1);
    *why = "no memory for its times";
    if (!calls->shape || !calls->function || !calls->last)
        return false;
    *why = "the order of its calls is damaged";
    return functions_read(calls, sections) && mars_order_read(sections, records, calls->shapes, calls->shape);
}

void mars_calls_release(struct mars_calls *calls)
{
    free(calls->shape);
    free(calls->function);
    free(calls->last);
}

/* ---- a section ---- */

struct unpacker {
    struct mars_model
        *model; /* 0 has the tables of contexts, the others the classes: those of table 0 are 1 */
    uint32_t models;
    uint8_t *context; /* its model, by number; 0: it has not been met */
    struct mars_bytes from;
};

bool mars_model_make(struct mars_model *model, const uint8_t weight[MARS_CLASS_MOST + 1])
{
    uint32_t count[MARS_CLASS_MOST + 1], all = 0, sum = 0;
    for (unsigned i = 0; i <= MARS_CLASS_MOST; i++) {
        unsigned bits = mars_time_bits(weight[i]);
        if (weight[i] > MARS_WEIGHT_MOST)
            return false;
        count[i] = (uint32_t)mars_time_of(weight[i], bits ? (uint64_t)1 << (bits - 1) : 0);
        all += count[i];
    }
    if (all == 0)
        return false;
    for (unsigned i = 0; i <= MARS_CLASS_MOST; i++) {
        uint32_t scaled = (uint32_t)(((uint64_t)count[i] * MARS_SCALE + all / 2) / all);
        count[i] = count[i] && scaled == 0 ? 1 : scaled;
        sum += count[i];
    }
    /* The largest take what is too much or too little, one after the other. */
    while (sum != MARS_SCALE) {
        unsigned largest = 0;
        for (unsigned i = 1; i <= MARS_CLASS_MOST; i++)
            largest = count[i] > count[largest] ? i : largest;
        uint32_t more = sum < MARS_SCALE ? MARS_SCALE - sum : UINT32_MAX; /* or one less */
        count[largest] += more;
        sum += more;
    }
    for (uint32_t i = 0, first = 0; i <= MARS_CLASS_MOST; first += count[i++]) {
        model->part[i].first = (uint16_t)first;
        model->part[i].count = (uint16_t)count[i];
        memset(model->class + first, (int)i, count[i]);
    }
    return true;
}

static bool model_read(struct mars_model *model, struct mars_bytes *from)
{
    uint8_t weight[MARS_CLASS_MOST + 1] = {0};
    uint64_t first = mars_get(from), parts = mars_get(from);
    const uint8_t *part = mars_get_bytes(from, parts);
    if (from->bad || first > MARS_CLASS_MOST || parts > MARS_CLASS_MOST + 1 - first)
        return false;
    memcpy(weight + first, part, parts);
    return mars_model_make(model, weight);
}

static bool models_read(struct unpacker *unpacker, struct mars_bytes *from)
{
    uint64_t models = mars_get(from);
    if (models > MARS_MODELS)
        return false;
    for (uint64_t i = 0; i <= models; i++)
        if (!model_read(&unpacker->model[i], from))
            return false;
    unpacker->models = (uint32_t)models;
    return true;
}

struct coder { /* where a section is read */
    const uint8_t *at, *end;
    uint32_t state;
    bool bad;
};

/* The class at the state, which advances. */
static inline unsigned class_get(struct coder *coder, const struct mars_model *model)
{
    uint32_t place = coder->state & (MARS_SCALE - 1);
    unsigned class = model->class[place];
    uint32_t state =
        model->part[class].count * (coder->state >> MARS_SCALE_BITS) + place - model->part[class].first;
    if (state < MARS_STATE_LEAST) {
        coder->bad = coder->bad || coder->end - coder->at < 2;
        uint32_t word = coder->bad ? 0 : coder->at[0] | (uint32_t)coder->at[1] << 8;
        coder->at += coder->bad ? 0 : 2;
        state = state << 16 | word;
    }
    coder->state = state;
    return class;
}

static bool column_read(struct unpacker *unpacker, const struct mars_calls *calls, enum mars_time_kind kind,
                        const uint8_t *nearby, uint8_t *to)
{
    const uint8_t *state = mars_get_bytes(&unpacker->from, 4);
    struct coder coder = {unpacker->from.at, unpacker->from.end, state ? (uint32_t)mars_load(state, 4) : 0,
                          !state};
    uint8_t *last = calls->last, *contexts = unpacker->context;
    const struct mars_model *model = unpacker->model;
    memset(last, 0, calls->shapes);
    for (uint32_t i = 0; i < calls->records; i++) {
        uint32_t shape = calls->shape[i];
        unsigned near = mars_nearby_of(kind, nearby, i);
        uint8_t *context = &contexts[mars_context(calls->function[shape], last[shape], near)];
        if (*context == 0) {
            unsigned met = class_get(&coder, model) + 1;
            if (met > unpacker->models)
                return false;
            *context = (uint8_t)met;
        }
        unsigned class = class_get(&coder, &model[*context]);
        to[i] = (uint8_t) class;
        last[shape] = mars_class_last(class);
    }
    return coder.state == MARS_STATE_LEAST && !coder.bad && coder.at == coder.end;
}

/* The classes of a kind of time, a byte for each record; NULL: they are all 0. False: there are not as many.
 */
static bool column_of(const struct mars_sections *sections, enum mars_section_kind kind, uint32_t records,
                      const uint8_t **column)
{
    size_t bytes;
    *column = mars_section(sections, kind, &bytes);
    if (bytes == 0)
        *column = NULL;
    return bytes == 0 || bytes == records;
}

bool mars_column_nearby(const struct mars_sections *sections, enum mars_time_kind kind, uint32_t records,
                        const uint8_t **column)
{
    return column_of(sections, kind == MARS_TIME_AWAY ? MARS_SECTION_GAP : MARS_SECTION_DURATION, records,
                     column);
}

static bool section_unpack(struct mars_sections *sections, struct unpacker *unpacker,
                           struct mars_calls *calls, enum mars_time_kind kind, struct mars_bytes *models)
{
    size_t bytes;
    const uint8_t *nearby, *column = mars_section(sections, mars_time_sections[kind].plain, &bytes);
    const uint8_t *data = mars_section(sections, mars_time_sections[kind].packed, &bytes);
    unpacker->from = (struct mars_bytes){data, data + bytes, false};
    memset(unpacker->context, 0, (size_t)calls->functions * MARS_CONTEXTS_OF_FUNCTION);
    return mars_column_nearby(sections, kind, calls->records, &nearby) && models_read(unpacker, models) &&
           column_read(unpacker, calls, kind, nearby, sections->data + (column - sections->data));
}

/* Room for the classes of each packed section; which there are. */
static bool plain_add(struct mars_sections *sections, uint32_t records, bool packed[MARS_TIMES], bool *any)
{
    *any = false;
    for (unsigned i = 0; i < MARS_TIMES; i++) {
        size_t plain, bytes;
        mars_section(sections, mars_time_sections[i].packed, &bytes);
        mars_section(sections, mars_time_sections[i].plain, &plain);
        packed[i] = bytes > 0 && plain == 0;
        *any = *any || packed[i];
        if (packed[i] && !mars_sections_add(sections, mars_time_sections[i].plain, records))
            return false;
    }
    return true;
}

bool mars_classes_unpack(struct mars_sections *sections, uint32_t records, struct mars_error *error)
{
    struct mars_calls calls = {0};
    struct unpacker unpacker = {0};
    const char *why = "no memory for its times";
    bool packed[MARS_TIMES], any, fine = plain_add(sections, records, packed, &any);
    if (fine && !any)
        return true;
    fine = fine && mars_calls_read(&calls, sections, records, &why);
    if (fine) {
        unpacker.model = malloc((MARS_MODELS + 1) * sizeof *unpacker.model);
        unpacker.context = malloc((size_t)calls.functions * MARS_CONTEXTS_OF_FUNCTION + 1);
        fine = unpacker.model && unpacker.context;
        why = fine ? "the times of its calls are damaged" : "no memory for its times";
    }
    size_t bytes;
    const uint8_t *data = mars_section(sections, MARS_SECTION_MODELS, &bytes);
    struct mars_bytes models = {data, data + bytes, false};
    for (unsigned i = 0; fine && i < MARS_TIMES; i++)
        fine = !packed[i] || section_unpack(sections, &unpacker, &calls, (enum mars_time_kind)i, &models);
    mars_calls_release(&calls);
    free(unpacker.model);
    free(unpacker.context);
    return fine || mars_fail(error, "%s", why);
}
