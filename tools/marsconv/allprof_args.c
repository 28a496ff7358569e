/* allprof_args.c - the arguments of a call as liballprof prints them: the call's layout (calls.c of the
 * reader) says what stands where, the record what it is.
 */
#include "tools/marsconv/allprof_write.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int64_t field(const struct apw_line *l, enum mars_field field, int64_t absent)
{
    return mars_number(l->record, field, absent);
}

static bool has(const struct apw_line *l, enum mars_field field)
{
    return l->record->function->at[field] >= 0;
}

/* ---- counts and datatypes ---- */

struct counted {
    uint64_t count, size;
    int64_t id, extent;
};

static bool numeric(const char *name, int64_t *number)
{
    char *end;
    *number = strtoll(name, &end, 10);
    return end != name && *end == 0;
}

/* So many of the datatype; where that does not come out even, bytes, or the smallest power of two of them
 * that an int can count. */
static struct counted counted(const struct apw_line *l, int64_t number, uint64_t bytes)
{
    const struct mars_type *type =
        number > 0 && (uint64_t)number < l->about->types ? l->about->type[number] : NULL;
    struct counted c = {bytes, 1, 0, 1};
    if (type && type->size > 0 && type->size <= INT_MAX && bytes % type->size == 0 &&
        bytes / type->size <= INT_MAX) {
        c = (struct counted){bytes / type->size, type->size, number, type->extent};
        numeric(type->name, &c.id);
        return c;
    }
    while (c.count > INT_MAX) {
        if (c.count % 2)
            conv_lost(l->w->losses, 1,
                      "%s of more than 2 GiB has an odd number of bytes, which is rounded up",
                      l->record->function->name);
        c.count = (c.count + 1) / 2;
        c.size *= 2;
        c.extent = (int64_t)c.size;
    }
    return c;
}

struct side { /* of a call: what is sent, or received */
    enum mars_field bytes, type, each;
};
static const struct side sent = {MARS_FIELD_bytes, MARS_FIELD_type, MARS_FIELD_bytes_each};
static const struct side received = {MARS_FIELD_recvbytes, MARS_FIELD_recvtype, MARS_FIELD_recvbytes_each};

static const struct side *side_of(const struct apw_line *l, bool second)
{
    bool only = !has(l, MARS_FIELD_bytes) && !has(l, MARS_FIELD_bytes_each);
    return second || only ? &received : &sent;
}

static struct counted one(const struct apw_line *l, const struct side *side)
{
    int64_t bytes = field(l, side->bytes, -1);
    return counted(l, field(l, side->type, 0), bytes > 0 ? (uint64_t)bytes : 0);
}

static void type_put(const struct apw_line *l, const struct counted *c)
{
    fprintf(l->w->to, ":%lld,%llu,%lld", (long long)c->id, (unsigned long long)c->size, (long long)c->extent);
}

/* A datatype of which all counts of a list come out even. */
static struct counted of_list(const struct apw_line *l, const struct side *side)
{
    const struct mars_value *list = mars_list(l->record, side->each);
    struct counted c = counted(l, field(l, side->type, 0), 0);
    uint64_t most = 0;
    bool even = true;
    for (uint32_t i = 0; list && i < list->count; i++) {
        uint64_t bytes = list->list[i] > 0 ? (uint64_t)list->list[i] : 0;
        even = even && bytes % c.size == 0 && bytes / c.size <= INT_MAX;
        most = bytes > most ? bytes : most;
    }
    return even ? c : counted(l, 0, most);
}

static void list_put(const struct apw_line *l, const struct side *side, bool displacements)
{
    const struct mars_value *list = mars_list(l->record, side->each);
    struct counted c = of_list(l, side);
    uint64_t sum = 0;
    fprintf(l->w->to, ":%llu:", (unsigned long long)APW_BUFFER);
    for (uint32_t i = 0; list && i < list->count; i++) {
        uint64_t count = list->list[i] > 0 ? ((uint64_t)list->list[i] + c.size - 1) / c.size : 0;
        fprintf(l->w->to, i ? ",%llu" : "%llu", (unsigned long long)(displacements ? sum : count));
        sum += count;
    }
}

/* ---- letters ---- */

static int64_t rank_of(int64_t rank)
{
    return rank == -2 ? -1 : rank < 0 ? -2 : rank; /* MPI_ANY_SOURCE and MPI_PROC_NULL of Open MPI */
}

void apw_comm_put(const struct apw_line *l, int64_t number)
{
    const struct mars_comm *c = l->about->comm[number];
    if (l->w->comm[number] == APW_SILENT)
        l->w->comm[number] = APW_KNOWN;
    fprintf(l->w->to, ":%llu,%d,%u", (unsigned long long)(APW_COMMS + 4096 * (uint64_t)number), c->rank,
            c->member.count);
}

static int64_t reduction_of(const struct apw_line *l)
{
    static const char *const names[] = {"MPI_MAX",  "MPI_MIN",  "MPI_SUM",    "MPI_PROD",
                                        "MPI_LAND", "MPI_BAND", "MPI_LOR",    "MPI_BOR",
                                        "MPI_LXOR", "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};
    int64_t number = field(l, MARS_FIELD_op, 0), value;
    const struct mars_op *op = number > 0 && (uint64_t)number < l->about->ops ? l->about->op[number] : NULL;
    if (op && numeric(op->name, &value))
        return value;
    for (int i = 0; op && i < 12; i++)
        if (strcmp(op->name, names[i]) == 0)
            return i + 1;
    return 65536 + number; /* one of the program's own is an address */
}

/* A value of a call that has several (colour and key), by its place. */
static int64_t value_of(const struct apw_line *l, int place)
{
    const struct mars_function *f = l->record->function;
    for (uint32_t i = 0; i < f->fields; i++)
        if (f->field[i].field == MARS_FIELD_value && place-- == 0)
            return l->record->value[i].number;
    return 0;
}

static void number_put(const struct apw_line *l, int64_t number)
{
    fprintf(l->w->to, ":%lld", (long long)number);
}

/* n N t T l L m: what is sent or received. */
static bool data_put(const struct apw_line *l, char letter, bool listed)
{
    bool second = letter == 'N' || letter == 'T' || letter == 'L';
    const struct side *side = side_of(l, second && has(l, received.bytes));
    if (has(l, received.each) || has(l, sent.each)) /* counts for each task on one side at least */
        side = !second || !has(l, received.each) ? &sent : &received;
    if (letter == 'N' && has(l, received.bytes))
        side = &received;
    if (letter == 'T' && (has(l, received.bytes) || has(l, received.each)))
        side = &received;
    bool each = has(l, side->each);
    struct counted c = each ? of_list(l, side) : one(l, side);
    if (letter == 'n' || letter == 'N')
        number_put(l, (int64_t)c.count);
    else if (letter == 't' || letter == 'T')
        type_put(l, &c);
    else if (listed)
        list_put(l, side, false);
    else
        number_put(l, (int64_t)APW_BUFFER);
    return true;
}

static void letter_put(const struct apw_line *l, char letter, uint64_t request, int64_t count)
{
    switch (letter) {
    case 'd':
        number_put(l, rank_of(field(l, MARS_FIELD_dest, -1)));
        break;
    case 's':
    case 'S':
        number_put(l, rank_of(field(l, MARS_FIELD_source, -1)));
        break;
    case 'g':
        number_put(l, field(l, MARS_FIELD_tag, 0));
        break;
    case 'G':
        number_put(l, field(l, MARS_FIELD_recvtag, 0));
        break;
    case 'R':
        number_put(l, field(l, MARS_FIELD_root, 0));
        break;
    case 'c':
        apw_comm_put(l, field(l, MARS_FIELD_comm, 0));
        break;
    case 'v':
        number_put(l, (int64_t)request);
        break;
    case 'a':
        number_put(l, count);
        break;
    case 'x':
        number_put(l, (int64_t)APW_STATUS);
        break;
    case 'k':
    case 'y':
        number_put(l, value_of(l, letter == 'y'));
        break;
    case 'o':
        number_put(l, reduction_of(l));
        break;
    case 'b': /* MPI_IN_PLACE of Open MPI is 1 */
        number_put(l, field(l, MARS_FIELD_buffer, 0) == 1 ? 1 : (int64_t)APW_BUFFER);
        break;
    default:
        number_put(l, letter == '.' ? (int64_t)APW_BUFFER : 0);
    }
}

/* Are the counts of a call there that has lists? All of them, or none, are printed. */
static bool lists_listed(const struct apw_line *l)
{
    const struct mars_value *sends = mars_list(l->record, sent.each),
                            *receives = mars_list(l->record, received.each);
    return (sends && sends->count) || (receives && receives->count);
}

void apw_args(const struct apw_line *l, uint64_t request, int64_t count)
{
    bool listed = lists_listed(l);
    char last = 0; /* list before displacements */
    for (const char *letter = l->call->layout; *letter && *letter != '*'; letter++) {
        if (strchr("nNtTlL", *letter))
            data_put(l, *letter, listed);
        else if (*letter == 'm' && listed)
            list_put(l, last == 'L' && has(l, received.each) ? &received : &sent, true);
        else
            letter_put(l, *letter, request, count);
        last = *letter;
    }
}
