/* Labels: their characters lie one behind the other, a hash table says where. */
#include "tasks/graphs/graph.h"

#include <stdlib.h>

struct label {
    uint64_t hash; /* never 0 */
    uint32_t op, length;
    size_t at; /* in the text */
};

struct key {
    uint64_t hash;
    const uint8_t *text; /* of all labels */
    const char *label;
    size_t length;
};

static uint64_t label_hash(const void *key)
{
    uint64_t hash;
    memcpy(&hash, key, sizeof hash);
    return hash;
}

static bool label_same(const void *entry, const void *wanted)
{
    const struct label *label = entry;
    const struct key *key = wanted;
    return label->hash == key->hash && label->length == key->length &&
           memcmp(key->text + label->at, key->label, key->length) == 0;
}

static const struct ker_table_kind kind = {sizeof(struct label), label_hash, label_same};

static struct key key_of(const struct graph_labels *l, const char *label, size_t length)
{
    return (struct key){ker_hash_bytes(label, length) | 1, l->text.byte, label, length};
}

void graph_labels_add(struct graph_labels *l, const char *label, size_t length, uint32_t op)
{
    struct key key = key_of(l, label, length);
    bool is_new;
    struct label *entry = ker_table_add(&kind, &l->table, &key, &is_new);
    if (!is_new)
        return;
    *entry = (struct label){key.hash, op, (uint32_t)length, l->text.used};
    ker_bytes_add(&l->text, label, length);
}

bool graph_labels_find(const struct graph_labels *l, const char *label, size_t length, uint32_t *op)
{
    struct key key = key_of(l, label, length);
    const struct label *entry = ker_table_find(&kind, &l->table, &key);
    if (entry)
        *op = entry->op;
    return entry;
}

void graph_labels_clear(struct graph_labels *l)
{
    /* A table that was large for an earlier rank is not cleared again and again for small ones. */
    if (l->table.slot && (uint64_t)1 << l->table.log2 > 16 * ((uint64_t)l->table.count + 8))
        ker_table_release(&l->table);
    else if (l->table.count)
        ker_table_clear(&kind, &l->table);
    l->text.used = 0;
}

void graph_labels_release(struct graph_labels *l)
{
    ker_table_release(&l->table);
    free(l->text.byte);
    *l = (struct graph_labels){0};
}
