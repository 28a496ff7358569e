/* combine.c - what a reduction or accumulate of a trace combines by: the operation and the class of the
 * datatype, as far as their definitions say it.
 */
#include "traces/replay/arguments.h"

#include <string.h>

static uint8_t operation_of(const struct mars_op *op)
{
    static const struct {
        const char *name;
        uint8_t code;
    } known[] = {
        {"MPI_SUM", TASK_COMBINE_SUM},      {"MPI_PROD", TASK_COMBINE_PROD},
        {"MPI_MIN", TASK_COMBINE_MIN},      {"MPI_MAX", TASK_COMBINE_MAX},
        {"MPI_LAND", TASK_COMBINE_LOGICAL}, {"MPI_LOR", TASK_COMBINE_LOGICAL},
        {"MPI_LXOR", TASK_COMBINE_LOGICAL}, {"MPI_BAND", TASK_COMBINE_BITWISE},
        {"MPI_BOR", TASK_COMBINE_BITWISE},  {"MPI_BXOR", TASK_COMBINE_BITWISE},
        {"MPI_MAXLOC", TASK_COMBINE_LOC},   {"MPI_MINLOC", TASK_COMBINE_LOC},
    };
    if (op->own)
        return TASK_COMBINE_OWN;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(op->name, known[i].name) == 0)
            return known[i].code;
    return 0;
}

/* Combiners (docs/trace-format.md): 0 named, 1 a copy, 12 to 14 Fortran's kinds; others are made of parts.
 * Two names in one, as MPI_DOUBLE_INT, are a pair. */
static uint8_t type_of(const struct mars_type *type)
{
    static const uint8_t kinds[] = {TASK_COMBINE_REAL, TASK_COMBINE_COMPLEX, TASK_COMBINE_INTEGER};
    const char *name = type->name, *end = strstr(name, "_INT");
    if (type->combiner >= 12 && type->combiner <= 14)
        return kinds[type->combiner - 12];
    if (type->combiner > 1)
        return TASK_COMBINE_DERIVED;
    if (!*name)
        return 0;
    if (strncmp(name, "MPI_2", 5) == 0 ||
        (end && end > name + 3 && !end[4] && strcmp(name, "MPI_LONG_LONG_INT") != 0))
        return TASK_COMBINE_PAIR;
    if (strstr(name, "COMPLEX"))
        return TASK_COMBINE_COMPLEX;
    bool real = strstr(name, "FLOAT") || strstr(name, "DOUBLE") || strstr(name, "REAL");
    return real ? TASK_COMBINE_REAL : TASK_COMBINE_INTEGER;
}

void replay_combine_get(struct replay_task *t, struct task_op *op)
{
    int64_t number = mars_number(&t->record, MARS_FIELD_op, 0),
            type = mars_number(&t->record, MARS_FIELD_type, 0);
    if (type == 0) /* in place */
        type = mars_number(&t->record, MARS_FIELD_recvtype, 0);
    uint8_t code = number > 0 ? operation_of(t->trace->op[number]) : 0;
    code |= type > 0 ? type_of(t->trace->type[type]) : 0;
    op->combine = code;
    if ((code & TASK_COMBINE_OPERATION) == TASK_COMBINE_OWN)
        t->combines |= TASK_COMBINES_OWN;
    else if ((code & TASK_COMBINE_TYPE) == TASK_COMBINE_DERIVED)
        t->combines |= TASK_COMBINES_DERIVED;
}
