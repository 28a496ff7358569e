/* leanmd.c - the program "leanmd": short-range molecular dynamics as the Charm++ mini-application LeanMD does
 * it, the benchmark of TraceR's paper, computed as it is asked for.
 *
 * Space is a periodic grid of cells with atoms. In each iteration a cell sends the positions of its atoms to
 * a compute object for each pair of itself with a cell within reach (N of them, itself among them); a compute
 * object that has both sets (of the pair of a cell with itself: one) computes forces and sends each cell
 * its own; a cell that has all N sets of forces moves its atoms.
 *
 * With offsets within reach numbered 0..N-1, the first dimension fastest, the one to itself is N / 2, and the
 * opposite of o is N - 1 - o. The pair of cell c with the cell at offset N / 2 + h belongs to c: objects are
 * the cells 0..C-1, and C + c H + h for 0 <= h < H = N / 2 + 1. Cells lie in blocks on tasks; a cell's
 * compute objects on the tasks behind its own, one after the other, as LeanMD inserts them, or all on its
 * own.
 */
#include "tasks/driven/driven.h"
#include "tasks/driven/program.h"
#include "tasks/programs/programs.h"

#include <math.h>
#include <stdlib.h>

#define DIMENSIONS 3
#define CELL_BYTES 96 /* of an atom in a cell that moves: mass, charge, position, velocity, acceleration */
#define COMPUTE_BYTES 128 /* of a compute object, which has no atoms between iterations */

enum { POSITIONS, FORCES, INTEGRATE, INTERACT, ENTRIES };
static const struct driven_entry entries[ENTRIES] = {
    {"positions", 0}, {"forces", 0}, {"integrate", 0}, {"interact", 0}};

struct leanmd {
    struct driven_program program;                                     /* first */
    uint32_t extent[DIMENSIONS], reach[DIMENSIONS], width[DIMENSIONS]; /* width: 2 reach + 1 */
    uint32_t cells, offsets, halves;                                   /* C, N, H */
    uint64_t atoms, atom_bytes;
    ker_time pair_time, atom_time;
    double gradient;
    bool near;
};

static const struct leanmd *leanmd_of(const struct driven_program *p)
{
    return (const struct leanmd *)p;
}

/* ---- space ---- */

static uint32_t cell_at(const struct leanmd *m, uint32_t cell, uint32_t offset)
{
    uint32_t found = 0, stride = 1;
    for (int d = 0; d < DIMENSIONS; d++) {
        uint32_t extent = m->extent[d], by = offset % m->width[d];
        uint64_t at = (uint64_t)cell % extent + extent + by - m->reach[d];
        found += (uint32_t)(at % extent) * stride;
        stride *= extent;
        cell /= extent;
        offset /= m->width[d];
    }
    return found;
}

/* Atoms in the cells before this one. Density rises along the first dimension from 1 - gradient to
 * 1 + gradient times the mean: the cells before x of a line of X have x + gradient (x^2 / X - x) of X parts.
 */
static uint64_t atoms_before(const struct leanmd *m, uint32_t cell)
{
    uint32_t extent = m->extent[0];
    uint32_t x_whole = cell % extent; /* of its line */
    double x = x_whole, before = cell - x_whole;
    double parts = before + x + m->gradient * (x * x / extent - x);
    return (uint64_t)floor((double)m->atoms * (parts / m->cells));
}

static uint64_t cell_atoms(const struct leanmd *m, uint32_t cell)
{
    return atoms_before(m, cell + 1) - atoms_before(m, cell);
}

static ker_time times(unsigned __int128 count, ker_time each)
{
    const unsigned __int128 latest = (unsigned __int128)1000000 * KER_S;
    unsigned __int128 time = count * (uint64_t)each;
    return (ker_time)(time < latest ? time : latest);
}

/* The cells of a compute object. */
static void pair_of(const struct leanmd *m, uint32_t object, uint32_t cell[2])
{
    uint32_t number = object - m->cells;
    cell[0] = number / m->halves;
    cell[1] = cell_at(m, cell[0], m->offsets / 2 + number % m->halves);
}

/* ---- the program ---- */

static uint32_t leanmd_home(const struct driven_program *p, uint32_t object)
{
    const struct leanmd *m = leanmd_of(p);
    bool is_cell = object < m->cells;
    uint32_t number = is_cell ? 0 : object - m->cells, cell = is_cell ? object : number / m->halves;
    uint64_t task = (uint64_t)cell * p->tasks / m->cells;
    if (!is_cell && !m->near)
        task += 1 + number % m->halves;
    return (uint32_t)(task % p->tasks);
}

static uint32_t leanmd_blocks(const struct driven_program *p, uint32_t object)
{
    return object < leanmd_of(p)->cells ? 3 : 1;
}

static uint64_t leanmd_bytes(const struct driven_program *p, uint32_t object)
{
    const struct leanmd *m = leanmd_of(p);
    return object < m->cells ? CELL_BYTES * cell_atoms(m, object) : COMPUTE_BYTES;
}

static void compute_block(const struct leanmd *m, uint32_t object, struct driven_block *b)
{
    uint32_t cell[2];
    bool self = (object - m->cells) % m->halves == 0;
    pair_of(m, object, cell);
    unsigned __int128 one = cell_atoms(m, cell[0]), other = self ? one : cell_atoms(m, cell[1]);
    b->time = times(self ? one * (one - (one > 0)) / 2 : one * other, m->pair_time);
    b->entry = INTERACT;
    b->messages = b->sends = self ? 1 : 2;
}

static void leanmd_block(const struct driven_program *p, uint32_t object, uint32_t block, uint32_t iteration,
                         struct driven_block *b)
{
    const struct leanmd *m = leanmd_of(p);
    *b = (struct driven_block){.moves = DRIVEN_NOWHERE};
    if (object >= m->cells) {
        compute_block(m, object, b);
        return;
    }
    b->entry = block;
    if (block == POSITIONS) {
        b->sends = m->offsets;
        return;
    }
    b->time = times(cell_atoms(m, object), m->atom_time);
    b->messages = block == FORCES ? m->offsets : 0;
    b->each = block == FORCES;
    b->followers = block == FORCES;
    b->after = block == INTEGRATE;
}

static void leanmd_send(const struct driven_program *p, uint32_t object, uint32_t block, uint32_t index,
                        struct driven_send *s)
{
    const struct leanmd *m = leanmd_of(p);
    uint32_t middle = m->offsets / 2;
    *s = (struct driven_send){0};
    if (object >= m->cells) {
        struct driven_block b;
        uint32_t cell[2];
        compute_block(m, object, &b);
        pair_of(m, object, cell);
        s->at = b.time;
        s->object = cell[index];
        s->block = FORCES;
        s->bytes = m->atom_bytes * cell_atoms(m, cell[index]);
        return;
    }
    s->bytes = m->atom_bytes * cell_atoms(m, object);
    if (index >= middle)
        s->object = m->cells + object * m->halves + (index - middle);
    else
        s->object = m->cells + cell_at(m, object, index) * m->halves + (m->offsets - 1 - index - middle);
}

static uint32_t leanmd_follower(const struct driven_program *p, uint32_t object, uint32_t block,
                                uint32_t index)
{
    return INTEGRATE;
}

static const char *leanmd_name(const struct driven_program *p, uint32_t object, char *buffer, size_t room)
{
    const struct leanmd *m = leanmd_of(p);
    uint32_t number = object < m->cells ? 0 : object - m->cells;
    if (object < m->cells)
        snprintf(buffer, room, "cell %u", object);
    else
        snprintf(buffer, room, "pair %u of cell %u", number % m->halves, number / m->halves);
    return buffer;
}

static const char *leanmd_label(const struct driven_program *p, uint32_t object, uint32_t block, char *buffer,
                                size_t room, uint32_t *line)
{
    *line = 0;
    snprintf(buffer, room, "%s", entries[object < leanmd_of(p)->cells ? block : INTERACT].name);
    return buffer;
}

static const struct driven_class leanmd_class = {.home = leanmd_home,
                                                 .blocks = leanmd_blocks,
                                                 .bytes = leanmd_bytes,
                                                 .block = leanmd_block,
                                                 .send = leanmd_send,
                                                 .follower = leanmd_follower,
                                                 .name = leanmd_name,
                                                 .label = leanmd_label};

/* ---- keys ---- */

static enum ker_status space_read(struct leanmd *m, const struct ker_config *config, const char *path,
                                  struct ker_error *error)
{
    const char *cells = TASK_KEY(path, "cells"), *reach = TASK_KEY(path, "reach");
    uint64_t count = 1, offsets = 1;
    if (!ker_config_has(config, cells))
        return ker_config_fail(config, error, cells, "is missing; for example cells = [16, 16, 16]");
    int values = ker_config_count(config, cells), reaches = ker_config_count(config, reach);
    if (values != DIMENSIONS)
        return ker_config_fail(config, error, cells, "has %d value%s; space has %d dimensions", values,
                               values == 1 ? "" : "s", DIMENSIONS);
    if (reaches != 1 && reaches != DIMENSIONS)
        return ker_config_fail(config, error, reach,
                               "has %d values; one for all or one for each of the %d "
                               "dimensions would be right",
                               reaches, DIMENSIONS);
    for (int d = 0; d < DIMENSIONS; d++) {
        m->extent[d] = (uint32_t)ker_config_int_at(config, cells, d);
        m->reach[d] =
            (uint32_t)ker_config_int_at(config, reach, ker_config_count(config, reach) == 1 ? 0 : d);
        m->width[d] = 2 * m->reach[d] + 1;
        if (m->extent[d] < m->width[d])
            return ker_config_fail(
                config, error, cells,
                "has %u cells in dimension %d; with a reach of %u there are at least %u, so "
                "that a cell has no neighbour twice",
                m->extent[d], d, m->reach[d], m->width[d]);
        count *= m->extent[d];
        offsets *= m->width[d];
        if (count * (1 + offsets / 2 + 1) >= UINT32_MAX)
            return ker_config_fail(config, error, cells, "makes more than 2^32 - 2 objects");
    }
    m->cells = (uint32_t)count;
    m->offsets = (uint32_t)offsets;
    m->halves = m->offsets / 2 + 1;
    m->program.objects = m->cells * (1 + m->halves);
    return KER_OK;
}

static const struct ker_word balances[] = {{"neighbour", DRIVEN_NEIGHBOUR}, {"rotate", DRIVEN_ROTATE}, {0}};

static enum ker_status leanmd_open(struct task_program **opened, const struct ker_config *config,
                                   const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct leanmd *m = ker_alloc(sizeof *m);
    struct driven_program *p = &m->program;
    *opened = (struct task_program *)m;
    enum ker_status status = driven_refuse(config, path, error);
    status = status ?: space_read(m, config, path, error);
    if (status)
        return status;
    p->class = &leanmd_class;
    p->entry = entries;
    p->entries = ENTRIES;
    p->tasks = m->cells;
    if (ker_config_has(config, TASK_KEY(path, "tasks")))
        p->tasks = (uint32_t)ker_config_int(config, TASK_KEY(path, "tasks"));
    p->iterations = (uint32_t)ker_config_int(config, TASK_KEY(path, "steps"));
    p->balance_every = (uint32_t)ker_config_int(config, TASK_KEY(path, "balance_every"));
    p->balance = (enum driven_balance)ker_config_number(config, TASK_KEY(path, "balance"), balances);
    m->atoms = (uint64_t)ker_config_int(config, TASK_KEY(path, "atoms"));
    m->atom_bytes = ker_config_bytes(config, TASK_KEY(path, "atom_bytes"));
    m->atom_time = ker_config_time(config, TASK_KEY(path, "atom_time"));
    m->pair_time = ker_config_time(config, TASK_KEY(path, "pair_time"));
    m->gradient = ker_config_real(config, TASK_KEY(path, "gradient"));
    m->near = ker_config_is(config, TASK_KEY(path, "computes"), "near");
    return KER_OK;
}

static void leanmd_close(struct task_program *program)
{
    free(program);
}

static const struct ker_option leanmd_options[] = {
    {"jobs[].cells", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", "1073741824", NULL,
     "leanmd: cells in each of three dimensions; jobs[].tasks cores share them, by default one each."},
    {"jobs[].reach", KER_TYPE_INT | KER_TYPE_LIST, "1", "0", "64", NULL,
     "leanmd: how many cells away an atom still feels another (LeanMD's KAWAY): one value for all dimensions "
     "or one for each."},
    {"jobs[].atoms", KER_TYPE_INT, "1200000", "1", "1000000000000", NULL,
     "leanmd: atoms in all cells; the default is that of TraceR's paper."},
    {"jobs[].gradient", KER_TYPE_REAL, "0", "0", "1", NULL,
     "leanmd: density rises along the first dimension from 1 - gradient to 1 + gradient times the mean."},
    {"jobs[].pair_time", KER_TYPE_TIME, "5 ns", NULL, "1 s", NULL,
     "leanmd: computation of the force between two atoms."},
    {"jobs[].atom_time", KER_TYPE_TIME, "10 ns", NULL, "1 s", NULL,
     "leanmd: computation for an atom when forces are added to it, and when it moves."},
    {"jobs[].atom_bytes", KER_TYPE_BYTES, "24 B", NULL, "1 MiB", NULL,
     "leanmd: bytes of an atom in a message: three coordinates of its position or force."},
    {"jobs[].computes", KER_TYPE_CHOICE, "spread", NULL, NULL, "spread|near",
     "leanmd: where the compute objects of a cell begin: on the tasks behind its own, one after the other, "
     "or on its own."},
    {"jobs[].balance_every", KER_TYPE_INT, "0", "0", "1000000000", NULL,
     "leanmd: iterations between two balance steps, at which objects may move; 0: there are none."},
    {"jobs[].balance", KER_TYPE_CHOICE, "neighbour", NULL, NULL, "neighbour|rotate",
     "leanmd: how: a task with more to compute than the mean of itself and its two neighbours in the ring of "
     "tasks gives them objects; or every object moves to the next task.",
     .belongs = "jobs[].balance_every!=0"},
    {0},
};

const struct ker_kind task_program_leanmd = {
    .name = "leanmd",
    .meaning =
        "molecular dynamics with message-driven objects, cells and pairs of cells, as LeanMD in Charm++",
    .traits = "computes",
    .operations = &(const struct task_program_class){.open = leanmd_open,
                                                     .tasks = driven_tasks,
                                                     .comms = driven_comms,
                                                     .prepare = driven_prepare,
                                                     .close = leanmd_close,
                                                     .driven = true},
    .options = KER_OPTIONS(leanmd_options, task_steps_options)};
