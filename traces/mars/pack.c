/* pack.c - packs classes of times (classes.h), which a merge does.
 *
 * Contexts are shared out to tables one after the other, the most frequent first: to the table that it makes
 * the least longer, or to a new one, counting what the tables themselves take; then each is taken out and
 * shared out once more.
 */
#include "traces/mars/classes.h"

#include "traces/mars/varint.h"
#include "traces/mars/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES (MARS_CLASS_MOST + 1)
#define CONTEXTS_MOST 8192
#define PART_BITS 5.0 /* what an entry of a table takes, about */
#define TABLE_BITS 24.0
#define PASSES 2 /* of sharing out again */

struct counts {
    uint32_t records, parts; /* parts: how many classes have any */
    uint32_t contexts;       /* of a table: that have it */
    uint32_t of[CLASSES];    /* records of each class */
    uint8_t class[CLASSES];  /* those that there are */
};

struct mars_packer {
    double weight[MARS_ROWS + 1]; /* n log2 n */
    struct counts *context;       /* CONTEXTS_MOST of them, in order of their first use */
    uint32_t contexts;
    struct counts table[MARS_MODELS];
    uint32_t tables;
    uint8_t of_context[CONTEXTS_MOST]; /* its table */
    uint16_t by_size[CONTEXTS_MOST];
    uint16_t of_record[MARS_ROWS]; /* its context */
    bool first[MARS_ROWS];         /* it is the first of its context */
    uint16_t *number;              /* of a context by its key, 1 + number */
    size_t numbers;
    struct mars_model model[MARS_MODELS + 1];
    uint16_t word[2 * MARS_ROWS];
    uint8_t section[4 + 4 * MARS_ROWS];
    uint8_t models[MARS_TIMES * (MARS_MODELS + 2) * (CLASSES + 4)];
    size_t models_bytes;
};

struct mars_packer *mars_packer_new(void)
{
    struct mars_packer *packer = calloc(1, sizeof *packer);
    if (!packer)
        return NULL;
    for (uint32_t i = 2; i <= MARS_ROWS; i++)
        packer->weight[i] = i * log2(i);
    packer->context = calloc(CONTEXTS_MOST, sizeof *packer->context);
    if (packer->context)
        return packer;
    mars_packer_free(packer);
    return NULL;
}

void mars_packer_free(struct mars_packer *packer)
{
    if (!packer)
        return;
    free(packer->context);
    free(packer->number);
    free(packer);
}

/* ---- contexts ---- */

static void count_class(struct counts *counts, unsigned class, uint32_t records)
{
    if (counts->of[class] == 0)
        counts->class[counts->parts++] = (uint8_t) class;
    counts->of[class] += records;
    counts->records += records;
}

static void forget_class(struct counts *counts, unsigned class, uint32_t records)
{
    counts->of[class] -= records;
    counts->records -= records;
    if (counts->of[class] > 0)
        return;
    uint32_t at = 0;
    while (counts->class[at] != class)
        at++;
    counts->class[at] = counts->class[--counts->parts];
}

/* False: there are too many contexts for it to be worth while. */
static bool contexts_count(struct mars_packer *packer, struct mars_calls *calls, enum mars_time_kind kind,
                           const uint8_t *nearby, const uint8_t *column)
{
    packer->contexts = 0;
    memset(packer->number, 0, calls->functions * MARS_CONTEXTS_OF_FUNCTION * sizeof *packer->number);
    memset(calls->last, 0, calls->shapes);
    for (uint32_t i = 0; i < calls->records; i++) {
        uint32_t shape = calls->shape[i], function = calls->function[shape];
        unsigned near = mars_nearby_of(kind, nearby, i);
        uint16_t *number = &packer->number[mars_context(function, calls->last[shape], near)];
        packer->first[i] = *number == 0;
        if (*number == 0) {
            if (packer->contexts == CONTEXTS_MOST)
                return false;
            packer->context[packer->contexts] = (struct counts){0};
            *number = (uint16_t)++packer->contexts;
        }
        packer->of_record[i] = (uint16_t)(*number - 1);
        count_class(&packer->context[*number - 1], column[i], 1);
        calls->last[shape] = mars_class_last(column[i]);
    }
    return true;
}

/* ---- shared out to tables ---- */

/* Bits by which a table and what it codes grow with a context. */
static double growth(const struct mars_packer *packer, const struct counts *table,
                     const struct counts *context)
{
    const double *weight = packer->weight;
    double bits = weight[table->records + context->records] - weight[table->records];
    bits -= weight[table->contexts + 1] - weight[table->contexts]; /* its number, for its first record */
    if (table->records == 0)
        bits += TABLE_BITS;
    for (uint32_t i = 0; i < context->parts; i++) {
        unsigned class = context->class[i];
        bits -= weight[table->of[class] + context->of[class]] - weight[table->of[class]];
        if (table->of[class] == 0)
            bits += PART_BITS;
    }
    return bits;
}

/* An empty table is one of those that are tried. */
static void share_out(struct mars_packer *packer, uint32_t number)
{
    const struct counts *context = &packer->context[number];
    uint32_t best = 0;
    double least = 0;
    bool empty = false;
    for (uint32_t i = 0; i < MARS_MODELS && !empty; i++) {
        empty = packer->table[i].records == 0;
        double bits = growth(packer, &packer->table[i], context);
        if (i == 0 || bits < least) {
            best = i;
            least = bits;
        }
    }
    packer->of_context[number] = (uint8_t)best;
    packer->table[best].contexts++;
    for (uint32_t i = 0; i < context->parts; i++)
        count_class(&packer->table[best], context->class[i], context -> of[context->class[i]]);
}

static void take_out(struct mars_packer *packer, uint32_t number)
{
    const struct counts *context = &packer->context[number];
    packer->table[packer->of_context[number]].contexts--;
    for (uint32_t i = 0; i < context->parts; i++)
        forget_class(&packer->table[packer->of_context[number]], context->class[i],
                     context -> of[context->class[i]]);
}

/* The most frequent first; by numbers where they are as frequent. */
static void sort_contexts(struct mars_packer *packer)
{
    static const uint32_t step[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (uint32_t i = 0; i < packer->contexts; i++)
        packer->by_size[i] = (uint16_t)i;
    for (unsigned k = 0; k < sizeof step / sizeof *step; k++)
        for (uint32_t i = step[k]; i < packer->contexts; i++) {
            uint16_t one = packer->by_size[i];
            uint32_t records = packer->context[one].records, at = i;
            for (; at >= step[k]; at -= step[k]) {
                uint16_t other = packer->by_size[at - step[k]];
                uint32_t others = packer->context[other].records;
                if (others > records || (others == records && other < one))
                    break;
                packer->by_size[at] = other;
            }
            packer->by_size[at] = one;
        }
}

static void tables_make(struct mars_packer *packer)
{
    memset(packer->table, 0, sizeof packer->table);
    sort_contexts(packer);
    for (uint32_t i = 0; i < packer->contexts; i++)
        share_out(packer, packer->by_size[i]);
    for (unsigned pass = 0; pass < PASSES; pass++)
        for (uint32_t i = 0; i < packer->contexts; i++) {
            take_out(packer, packer->by_size[i]);
            share_out(packer, packer->by_size[i]);
        }
}

/* Tables without records are left out. */
static void tables_number(struct mars_packer *packer)
{
    uint8_t number[MARS_MODELS];
    packer->tables = 0;
    for (uint32_t i = 0; i < MARS_MODELS; i++) {
        number[i] = (uint8_t)packer->tables;
        if (packer->table[i].records == 0)
            continue;
        if (packer->tables != i)
            packer->table[packer->tables] = packer->table[i];
        packer->tables++;
    }
    for (uint32_t i = 0; i < packer->contexts; i++)
        packer->of_context[i] = number[packer->of_context[i]];
}

/* ---- the sections ---- */

/* A table as weights, and the model that is made of them. */
static void model_put(struct mars_packer *packer, const struct counts *table, struct mars_model *model)
{
    uint8_t weight[CLASSES] = {0}, *at = packer->models + packer->models_bytes;
    unsigned first = CLASSES, end = 0;
    for (unsigned i = 0; i < CLASSES; i++) {
        if (table->of[i] == 0)
            continue;
        uint64_t count = ((uint64_t)table->of[i] * MARS_SCALE + table->records / 2) / table->records;
        weight[i] = (uint8_t)mars_time_class(count ? count : 1);
        first = first < i ? first : i;
        end = i + 1;
    }
    at = mars_put(mars_put(at, first), end - first);
    memcpy(at, weight + first, end - first);
    packer->models_bytes = (size_t)(at + (end - first) - packer->models);
    mars_model_make(model, weight);
}

static void models_put(struct mars_packer *packer)
{
    struct counts tables = {0};
    packer->models_bytes =
        (size_t)(mars_put(packer->models + packer->models_bytes, packer->tables) - packer->models);
    for (uint32_t i = 0; i < packer->contexts; i++)
        count_class(&tables, packer->of_context[i], 1);
    model_put(packer, &tables, &packer->model[0]);
    for (uint32_t i = 0; i < packer->tables; i++)
        model_put(packer, &packer->table[i], &packer->model[1 + i]);
}

static uint64_t class_put(struct mars_packer *packer, uint64_t state, uint32_t *words,
                          const struct mars_model *model, unsigned class)
{
    uint64_t count = model->part[class].count;
    if (state >= count << (32 - MARS_SCALE_BITS)) {
        packer->word[(*words)++] = (uint16_t)state;
        state >>= 16;
    }
    return (state / count << MARS_SCALE_BITS) + state % count + model->part[class].first;
}

/* From the last class to the first, so that they are read from the first on. */
static size_t classes_put(struct mars_packer *packer, const uint8_t *column, uint32_t records)
{
    uint64_t state = MARS_STATE_LEAST;
    uint32_t words = 0;
    uint8_t *at = packer->section;
    for (uint32_t i = records; i-- > 0;) {
        unsigned table = packer->of_context[packer->of_record[i]];
        state = class_put(packer, state, &words, &packer->model[1 + table], column[i]);
        if (packer->first[i])
            state = class_put(packer, state, &words, &packer->model[0], table);
    }
    mars_store(at, state, 4);
    for (at += 4; words > 0; at += 2)
        mars_store(at, packer->word[--words], 2);
    return (size_t)(at - packer->section);
}

/* Packed, or as it is if that is shorter. */
static void time_pack(struct mars_packer *packer, const struct mars_sections *sections,
                      struct mars_calls *calls, enum mars_time_kind kind, struct mars_payload *payload)
{
    size_t bytes, start = payload->bytes;
    const uint8_t *nearby, *column = mars_section(sections, mars_time_sections[kind].plain, &bytes);
    mars_payload_section(payload, mars_time_sections[kind].plain, column, bytes);
    size_t plain = payload->bytes - start;
    if (!calls || bytes != calls->records || bytes == 0 ||
        !mars_column_nearby(sections, kind, calls->records, &nearby))
        return;
    for (size_t i = 0; i < bytes; i++)
        if (column[i] > MARS_CLASS_MOST)
            return;
    if (!contexts_count(packer, calls, kind, nearby, column))
        return;
    size_t models = packer->models_bytes;
    tables_make(packer);
    tables_number(packer);
    models_put(packer);
    size_t packed = classes_put(packer, column, calls->records);
    payload->bytes = start;
    mars_payload_section(payload, mars_time_sections[kind].packed, packer->section, packed);
    if (payload->bytes - start + (packer->models_bytes - models) * 2 / 3 < plain)
        return;
    packer->models_bytes = models;
    payload->bytes = start;
    mars_payload_section(payload, mars_time_sections[kind].plain, column, bytes);
}

static bool numbers_reserve(struct mars_packer *packer, uint32_t functions)
{
    size_t wanted = (size_t)functions * MARS_CONTEXTS_OF_FUNCTION;
    if (wanted <= packer->numbers)
        return true;
    uint16_t *larger = realloc(packer->number, wanted * sizeof *larger);
    if (!larger)
        return false;
    packer->number = larger;
    packer->numbers = wanted;
    return true;
}

static enum mars_time_kind time_of(enum mars_section_kind kind)
{
    unsigned time = 0;
    while (time < MARS_TIMES && mars_time_sections[time].plain != kind &&
           mars_time_sections[time].packed != kind)
        time++;
    return (enum mars_time_kind)time;
}

void mars_classes_pack(struct mars_packer *packer, const struct mars_sections *sections, uint32_t records,
                       struct mars_payload *payload)
{
    struct mars_calls calls = {0};
    const char *why;
    bool known = records > 0 && records <= MARS_ROWS && mars_calls_read(&calls, sections, records, &why) &&
                 numbers_reserve(packer, calls.functions);
    for (uint32_t i = 0; i < sections->count; i++) {
        enum mars_section_kind kind = (enum mars_section_kind)sections->section[i].kind;
        bool gone = kind == MARS_SECTION_MODELS; /* it has been unpacked with it */
        if (!gone && time_of(kind) == MARS_TIMES)
            mars_payload_section(payload, kind, sections->data + sections->section[i].at,
                                 sections->section[i].bytes);
    }
    packer->models_bytes = 0;
    for (unsigned i = 0; i < MARS_TIMES; i++)
        time_pack(packer, sections, known ? &calls : NULL, (enum mars_time_kind)i, payload);
    mars_payload_section(payload, MARS_SECTION_MODELS, packer->models, packer->models_bytes);
    mars_calls_release(&calls);
}
