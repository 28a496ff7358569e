/* names.h - names of functions, numbered in their order over all ranks: of what tasks call. */
#pragma once

#include "kernel/base/base.h"

struct task_names {
    char **name; /* ascending */
    uint32_t count, room;
};

/* The place of a name, or where it belongs. */
uint32_t task_names_place(const struct task_names *, const char *name);
void task_names_add(struct task_names *, const char *name);
/* Collective: what any rank knows, all know. */
void task_names_share(struct task_names *, struct ker_comm *);
void task_names_release(struct task_names *);
