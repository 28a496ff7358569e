/* labels.h - the labels of one rank's operations. */
#ifndef TASKS_GRAPH_LABELS_H
#define TASKS_GRAPH_LABELS_H

#include "kernel/base/base.h"

/* Zeroed: none. */
struct graph_labels {
    struct ker_table table;
    struct ker_bytes text;
};

/* A label that is there already keeps its operation. */
void graph_labels_add(struct graph_labels *, const char *label, size_t length, uint32_t op);
bool graph_labels_find(const struct graph_labels *, const char *label, size_t length, uint32_t *op);
/* Costs no more than adding what was there did. */
void graph_labels_clear(struct graph_labels *);
void graph_labels_release(struct graph_labels *);

#endif
