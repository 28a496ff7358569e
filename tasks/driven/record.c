/* record.c - what cores know of objects, and what has come for their blocks.
 *
 * Records lie in pools of the rank, found by (core, object) and by (record, block, iteration). Those of a
 * core form a list in the order in which they were made, and so does what is open of a record: what is done
 * in that order (saving, sending what is open behind an object) is the same on any number of ranks.
 */
#include "tasks/driven/model.h"

struct record_entry {
    uint64_t key; /* (1 + core) << 32 | object */
    uint64_t index;
};

struct open_entry {
    uint64_t key;  /* record << 32 | block */
    uint64_t more; /* iteration << 32 | index */
};

static uint64_t open_hash(const void *key)
{
    const struct open_entry *e = key;
    return ker_hash(e->key ^ ker_hash(e->more >> 32));
}

static bool open_same(const void *entry, const void *key)
{
    const struct open_entry *a = entry, *b = key;
    return a->key == b->key && a->more >> 32 == b->more >> 32;
}

static const struct ker_table_kind record_kind = KER_TABLE_U64(struct record_entry);
static const struct ker_table_kind open_kind = {sizeof(struct open_entry), open_hash, open_same};

void driven_records_init(struct task_driven *d)
{
    ker_chunks_init(&d->record, sizeof(struct driven_record));
    ker_chunks_init(&d->open, sizeof(struct driven_open));
}

void driven_records_release(struct task_driven *d)
{
    ker_chunks_release(&d->record);
    ker_chunks_release(&d->open);
    ker_table_release(&d->records);
    ker_table_release(&d->opens);
}

static uint64_t record_key(const struct driven_core *core, uint32_t object)
{
    return (uint64_t)(core->number + 1) << 32 | object;
}

static uint32_t record_index(const struct driven_core *core, uint32_t object)
{
    struct record_entry wanted = {.key = record_key(core, object)},
                        *e = ker_table_find(&record_kind, &core->driven->records, &wanted);
    return e ? (uint32_t)e->index : 0;
}

struct driven_record *driven_record_find(const struct driven_core *core, uint32_t object)
{
    uint32_t index = record_index(core, object);
    return index ? driven_record_at(core->driven, index) : NULL;
}

struct driven_record *driven_record_new(struct driven_core *core, uint32_t object, enum driven_state state)
{
    struct task_driven *d = core->driven;
    struct record_entry wanted = {.key = record_key(core, object)};
    bool is_new;
    struct record_entry *e = ker_table_add(&record_kind, &d->records, &wanted, &is_new);
    uint32_t index = ker_chunks_take(&d->record);
    ker_assert(is_new);
    *e = (struct record_entry){wanted.key, index};
    struct driven_record *r = driven_record_at(d, index);
    r->core = core->number;
    r->object = object;
    r->state = (uint8_t)state;
    if (core->last)
        driven_record_at(d, core->last)->next = index;
    else
        core->first = index;
    core->last = index;
    return r;
}

void driven_records_drop(struct driven_core *core)
{
    struct task_driven *d = core->driven;
    while (core->first) {
        uint32_t index = core->first;
        struct driven_record *r = driven_record_at(d, index);
        struct record_entry wanted = {.key = record_key(core, r->object)};
        while (r->open)
            driven_open_drop(d, driven_open_at(d, r->open));
        core->first = r->next;
        ker_table_drop(&record_kind, &d->records, ker_table_find(&record_kind, &d->records, &wanted));
        ker_chunks_give(&d->record, index);
    }
    core->last = core->here = 0;
}

struct driven_open *driven_open_get(struct driven_core *core, struct driven_record *r, uint32_t block,
                                    uint32_t iteration)
{
    struct task_driven *d = core->driven;
    uint32_t record = record_index(core, r->object);
    struct open_entry wanted = {(uint64_t)record << 32 | block, (uint64_t)iteration << 32};
    bool is_new;
    struct open_entry *e = ker_table_add(&open_kind, &d->opens, &wanted, &is_new);
    if (!is_new)
        return driven_open_at(d, (uint32_t)e->more);
    uint32_t index = ker_chunks_take(&d->open);
    *e = (struct open_entry){wanted.key, wanted.more | index};
    struct driven_open *o = driven_open_at(d, index);
    *o = (struct driven_open){.block = block, .iteration = iteration, .record = record, .previous = r->last};
    if (r->last)
        driven_open_at(d, r->last)->next = index;
    else
        r->open = index;
    r->last = index;
    return o;
}

void driven_open_drop(struct task_driven *d, struct driven_open *o)
{
    struct driven_record *r = driven_record_at(d, o->record);
    struct open_entry wanted = {(uint64_t)o->record << 32 | o->block, (uint64_t)o->iteration << 32},
                      *e = ker_table_find(&open_kind, &d->opens, &wanted);
    uint32_t index = (uint32_t)e->more;
    *(o->previous ? &driven_open_at(d, o->previous)->next : &r->open) = o->next;
    *(o->next ? &driven_open_at(d, o->next)->previous : &r->last) = o->previous;
    ker_table_drop(&open_kind, &d->opens, e);
    ker_chunks_give(&d->open, index);
}
