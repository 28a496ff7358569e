/* text_read.c - the reader of message-driven programs.
 *
 * One pass over the lines; where messages are sent is looked up behind it, as they may go to what is
 * further down. Labels of blocks are kept as OBJECT.LABEL; a label has no dot, so that no two are written
 * alike.
 */
#include "tasks/driven/text.h"
#include "tasks/graphs/graph.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TASKS INT32_MAX
#define MOST_ITERATIONS 1000000000u

/* Where a message is sent, as it is written. */
struct target {
    struct driven_word word;
    uint32_t line;
};

struct edge { /* in an object: the first needs the second */
    uint32_t block, on;
};

struct reader {
    struct driven_text *to;
    struct ker_lines in;
    struct graph_labels entries, objects, labels; /* labels: OBJECT.LABEL */
    struct target *target;                        /* of each send */
    uint32_t targets, target_room;
    struct edge *edge; /* of all blocks, numbered through */
    uint32_t edges, edge_room;
    uint32_t balance_line, moves_line, iterations_line; /* 0: none */
};

/* ---- words ---- */

/* The key word, or a failure that names it. */
static enum ker_status key_take(struct reader *r, const char *word, const char *form)
{
    if (ker_take_word(&r->in, word))
        return KER_OK;
    return ker_lines_fail(&r->in, "\"%s\" is expected before \"%.*s\", as in \"%s\"", word,
                          KER_LINE_REST(&r->in), form);
}

static enum ker_status line_end(struct reader *r, const char *form)
{
    if (r->in.p == r->in.stop)
        return KER_OK;
    return ker_lines_fail(&r->in, "\"%.*s\" is too much, or not in its place; the line is \"%s\"",
                          KER_LINE_REST(&r->in), form);
}

/* ---- what is said once ---- */

static enum ker_status tasks_read(struct reader *r)
{
    if (r->to->program.tasks)
        return ker_lines_fail(&r->in, "the number of tasks was given before");
    enum ker_status status =
        driven_number_take(&r->in, "the number of tasks", 1, MOST_TASKS, &r->to->program.tasks);
    return status ?: line_end(r, "tasks N");
}

static enum ker_status iterations_read(struct reader *r)
{
    if (r->iterations_line || r->to->program.objects)
        return ker_lines_fail(&r->in, "iterations are once, before the first object");
    r->iterations_line = r->in.line;
    enum ker_status status = driven_number_take(&r->in, "the number of iterations", 1, MOST_ITERATIONS,
                                                &r->to->program.iterations);
    return status ?: line_end(r, "iterations N");
}

static enum ker_status balance_read(struct reader *r)
{
    static const char form[] = "balance every N neighbour|rotate";
    struct driven_program *p = &r->to->program;
    if (r->balance_line)
        return ker_lines_fail(&r->in, "a balance was given in line %u", r->balance_line);
    r->balance_line = r->in.line;
    enum ker_status status = key_take(r, "every", form);
    if (status == KER_OK)
        status = driven_number_take(&r->in, "a number of iterations", 1, MOST_ITERATIONS, &p->balance_every);
    if (status)
        return status;
    if (ker_take_word(&r->in, "rotate"))
        p->balance = DRIVEN_ROTATE;
    else if (!ker_take_word(&r->in, "neighbour"))
        return ker_lines_fail(&r->in, "neighbour or rotate is expected before \"%.*s\"",
                              KER_LINE_REST(&r->in));
    return line_end(r, form);
}

static enum ker_status priority_take(struct reader *r, int32_t *priority)
{
    bool negative = ker_take(&r->in, "-");
    uint32_t number;
    enum ker_status status = driven_number_take(&r->in, "a priority (less is first)", 0, 1000000000, &number);
    *priority = negative ? -(int32_t)number : (int32_t)number;
    return status;
}

static enum ker_status entry_read(struct reader *r)
{
    struct driven_text *t = r->to;
    struct driven_word word;
    uint32_t number;
    enum ker_status status = driven_name_take(&r->in, "the name of an entry method", &word);
    if (status)
        return status;
    if (graph_labels_find(&r->entries, word.at, word.length, &number))
        return ker_lines_fail(&r->in, "there is an entry method \"%.*s\" already", (int)word.length, word.at);
    graph_labels_add(&r->entries, word.at, word.length, t->program.entries);
    char *name = ker_format("%.*s", (int)word.length, word.at);
    *KER_APPEND(t->entry_name, t->entry_names) = name;
    struct driven_entry *e = KER_PUSH(t->entry, t->program.entries, t->entry_room);
    *e = (struct driven_entry){name, 0};
    if (ker_take_word(&r->in, "priority"))
        status = priority_take(r, &e->priority);
    return status ?: line_end(r, "entry NAME [priority N]");
}

/* ---- objects and blocks ---- */

static struct driven_text_object *object_last(const struct reader *r)
{
    return r->to->program.objects ? &r->to->object[r->to->program.objects - 1] : NULL;
}

static enum ker_status object_end(struct reader *r)
{
    const struct driven_text_object *o = object_last(r);
    if (!o || o->blocks)
        return KER_OK;
    return ker_lines_fail_at(&r->in, o->line,
                             "object \"%.*s\" has no block; \"block LABEL entry NAME\" makes one",
                             (int)o->name.length, o->name.at);
}

static enum ker_status task_take(struct reader *r, uint32_t *task)
{
    if (!r->to->program.tasks)
        return ker_lines_fail(&r->in, "\"tasks N\" comes before objects");
    return driven_number_take(&r->in, "a task", 0, r->to->program.tasks - 1, task);
}

static enum ker_status object_read(struct reader *r)
{
    static const char form[] = "object NAME on TASK [bytes SIZE]";
    struct driven_text *t = r->to;
    struct driven_text_object o = {.first = t->blocks, .line = r->in.line};
    uint32_t other;
    enum ker_status status = object_end(r);
    status = status ?: driven_word_take(&r->in, "the name of an object", &o.name);
    if (status == KER_OK && graph_labels_find(&r->objects, o.name.at, o.name.length, &other))
        return ker_lines_fail(&r->in, "object \"%.*s\" is in line %u already", (int)o.name.length, o.name.at,
                              t->object[other].line);
    status = status ?: key_take(r, "on", form);
    status = status ?: task_take(r, &o.home);
    if (status == KER_OK && ker_take_word(&r->in, "bytes"))
        status = driven_bytes_take(&r->in, &o.bytes);
    status = status ?: line_end(r, form);
    if (status)
        return status;
    graph_labels_add(&r->objects, o.name.at, o.name.length, t->program.objects);
    /* room for one more: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    *KER_PUSH(t->object, t->program.objects, t->object_room) = o;
    return KER_OK;
}

/* OBJECT.LABEL; the buffer has room for both. */
static size_t label_key(char key[2 * DRIVEN_NAME + 2], const struct driven_text_object *o,
                        const struct driven_word *label)
{
    return (size_t)snprintf(key, 2 * DRIVEN_NAME + 2, "%.*s.%.*s", (int)o->name.length, o->name.at,
                            (int)label->length, label->at);
}

static enum ker_status after_read(struct reader *r, struct driven_text_block *b)
{
    struct driven_text *t = r->to;
    struct driven_word word;
    char key[2 * DRIVEN_NAME + 2];
    uint32_t on;
    enum ker_status status = driven_name_take(&r->in, "the label of a block", &word);
    if (status)
        return status;
    if (!graph_labels_find(&r->labels, key, label_key(key, object_last(r), &word), &on))
        return ker_lines_fail(&r->in, "this object has no block \"%.*s\" above this line", (int)word.length,
                              word.at);
    *KER_PUSH(r->edge, r->edges, r->edge_room) = (struct edge){t->blocks, on};
    t->block[on].followers++;
    b->after++;
    return KER_OK;
}

static enum ker_status entry_find(struct reader *r, uint32_t *entry)
{
    struct driven_word word;
    enum ker_status status = driven_name_take(&r->in, "an entry method", &word);
    if (status == KER_OK && !graph_labels_find(&r->entries, word.at, word.length, entry))
        return ker_lines_fail(&r->in,
                              "there is no entry method \"%.*s\" above this line: \"entry %.*s\" makes one",
                              (int)word.length, word.at, (int)word.length, word.at);
    return status;
}

/* What may follow the entry method, in this order. */
static enum ker_status block_rest(struct reader *r, struct driven_text_block *b)
{
    enum ker_status status = KER_OK;
    if (ker_take_word(&r->in, "time"))
        status = driven_time_take(&r->in, &b->time);
    if (status == KER_OK)
        b->each = ker_take_word(&r->in, "each");
    while (status == KER_OK && ker_take_word(&r->in, "after"))
        status = after_read(r, b);
    if (status == KER_OK && ker_take_word(&r->in, "moves")) {
        r->moves_line = r->moves_line ? r->moves_line : r->in.line;
        status = task_take(r, &b->moves);
    }
    return status;
}

static enum ker_status block_read(struct reader *r)
{
    static const char form[] = "block LABEL entry NAME [time TIME] [each] [after LABEL]... [moves TASK]";
    struct driven_text *t = r->to;
    struct driven_text_object *o = object_last(r);
    struct driven_text_block b = {.line = r->in.line, .moves = DRIVEN_NOWHERE, .first_send = t->sends};
    char key[2 * DRIVEN_NAME + 2];
    uint32_t other;
    if (!o)
        return ker_lines_fail(&r->in, "a block belongs to the object above it, and there is none");
    enum ker_status status = driven_name_take(&r->in, "the label of a block", &b.label);
    if (status)
        return status;
    size_t length = label_key(key, o, &b.label);
    if (graph_labels_find(&r->labels, key, length, &other))
        return ker_lines_fail(&r->in, "the object has a block \"%.*s\" in line %u", (int)b.label.length,
                              b.label.at, t->block[other].line);
    status = key_take(r, "entry", form);
    status = status ?: entry_find(r, &b.entry);
    status = status ?: block_rest(r, &b);
    status = status ?: line_end(r, form);
    if (status)
        return status;
    graph_labels_add(&r->labels, key, length, t->blocks);
    *KER_PUSH(t->block, t->blocks, t->block_room) = b;
    o->blocks++;
    return KER_OK;
}

static enum ker_status send_read(struct reader *r)
{
    static const char form[] = "send SIZE to OBJECT.LABEL [at TIME] [next]";
    struct driven_text *t = r->to;
    struct driven_text_object *o = object_last(r);
    struct driven_text_send s = {0};
    size_t length;
    if (!o || !o->blocks)
        return ker_lines_fail(&r->in, "a message is sent by the block above it, and there is none");
    struct driven_text_block *b = &t->block[t->blocks - 1];
    struct target *to = KER_PUSH(r->target, r->targets, r->target_room);
    *to = (struct target){.line = r->in.line};
    if (b->each)
        return ker_lines_fail(&r->in, "a block that runs for each message sends none; a block after it may");
    enum ker_status status = driven_bytes_take(&r->in, &s.bytes);
    status = status ?: key_take(r, "to", form);
    if (status == KER_OK && (!ker_take_text(&r->in, &to->word.at, &length) || length > 2 * DRIVEN_NAME + 1))
        return ker_lines_fail(&r->in, "a block is expected before \"%.*s\": \"%s\"", KER_LINE_REST(&r->in),
                              form);
    if (status == KER_OK) {
        to->word.length = (uint32_t)length;
        if (ker_take_word(&r->in, "at"))
            status = driven_time_take(&r->in, &s.at);
    }
    if (status == KER_OK)
        s.ahead = ker_take_word(&r->in, "next");
    status = status ?: line_end(r, form);
    if (status)
        return status;
    if (s.at > b->time)
        return ker_lines_fail(&r->in, "the message is sent behind the end of its block in line %u", b->line);
    if (b->sends && s.at < t->send[t->sends - 1].at)
        return ker_lines_fail(&r->in, "a block's messages are in the order in which they are sent");
    *KER_PUSH(t->send, t->sends, t->send_room) = s;
    b->sends++;
    b->ahead += s.ahead;
    return KER_OK;
}

/* ---- the file ---- */

static enum ker_status statement_read(struct reader *r)
{
    static const struct {
        const char *word;
        enum ker_status (*read)(struct reader *);
    } statements[] = {{"send", send_read},      {"block", block_read}, {"object", object_read},
                      {"entry", entry_read},    {"tasks", tasks_read}, {"iterations", iterations_read},
                      {"balance", balance_read}};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (ker_take_word(&r->in, statements[i].word))
            return statements[i].read(r);
    return ker_lines_fail(&r->in,
                          "\"%.*s\" is none of tasks, iterations, balance, entry, object, block, send",
                          KER_LINE_REST(&r->in));
}

static enum ker_status head_read(struct reader *r)
{
    uint32_t version;
    if (!ker_lines_next_full(&r->in))
        return ker_lines_fail_at(&r->in, 1, "the file has no statement; it begins with \"driven 1\"");
    if (!ker_take_word(&r->in, "driven") || !ker_take_u32(&r->in, &version))
        return ker_lines_fail(&r->in, "a message-driven program begins with \"driven 1\"; here is \"%.*s\"",
                              KER_LINE_REST(&r->in));
    if (version != 1)
        return ker_lines_fail(&r->in, "the format's version is %u; 1 is read", version);
    return line_end(r, "driven 1");
}

/* The object of a block of all: objects are in the order of their first blocks. */
static uint32_t object_of(const struct driven_text *t, uint32_t block)
{
    return KER_BISECT(i, 1, t->program.objects, t->object[i].first <= block) - 1;
}

static enum ker_status targets_find(struct reader *r)
{
    struct driven_text *t = r->to;
    for (uint32_t i = 0; i < t->sends; i++) {
        const struct target *to = &r->target[i];
        uint32_t block;
        if (!graph_labels_find(&r->labels, to->word.at, to->word.length, &block))
            return ker_lines_fail_at(&r->in, to->line,
                                     "there is no block \"%.*s\": OBJECT.LABEL is what names one",
                                     (int)(to->word.length < 80 ? to->word.length : 80), to->word.at);
        t->send[i].object = object_of(t, block);
        t->send[i].block = block - t->object[t->send[i].object].first;
        *(t->send[i].ahead ? &t->block[block].next_messages : &t->block[block].messages) += 1;
    }
    return KER_OK;
}

static void followers_make(struct reader *r)
{
    struct driven_text *t = r->to;
    uint32_t first = 0, *filled = ker_alloc((t->blocks + 1) * sizeof *filled);
    t->follower = ker_alloc((r->edges + 1) * sizeof *t->follower);
    for (uint32_t i = 0; i < t->blocks; i++) {
        t->block[i].first_follower = first;
        first += t->block[i].followers;
    }
    for (uint32_t i = 0; i < r->edges; i++) {
        const struct edge *e = &r->edge[i];
        t->follower[t->block[e->on].first_follower + filled[e->on]++] =
            e->block - t->object[object_of(t, e->block)].first;
    }
    free(filled);
}

static enum ker_status whole_check(struct reader *r)
{
    struct driven_text *t = r->to;
    enum ker_status status = object_end(r);
    if (status == KER_OK && t->program.objects == 0)
        status = ker_lines_fail_at(&r->in, r->in.line, "the file has no object");
    if (status == KER_OK && r->balance_line && r->moves_line)
        status = ker_lines_fail_at(&r->in, r->moves_line,
                                   "objects move by blocks, or at balance steps (line %u), not both",
                                   r->balance_line);
    status = status ?: targets_find(r);
    for (uint32_t i = 0; i < t->blocks && status == KER_OK; i++)
        if (t->block[i].each && t->block[i].messages == 0)
            status =
                ker_lines_fail_at(&r->in, t->block[i].line,
                                  "the block runs for each message, and none is sent to it in its iteration");
    return status;
}

enum ker_status driven_text_read(struct driven_text *t, const char *name, const char *text, size_t bytes,
                                 struct ker_error *error)
{
    struct reader r = {.to = t};
    t->program.iterations = 1;
    ker_lines_init(&r.in, name, text, bytes, error);
    enum ker_status status = ker_lines_check(&r.in);
    status = status ?: head_read(&r);
    while (status == KER_OK && ker_lines_next_full(&r.in))
        status = statement_read(&r);
    status = status ?: whole_check(&r);
    if (status == KER_OK)
        followers_make(&r);
    t->program.entry = t->entry;
    graph_labels_release(&r.entries);
    graph_labels_release(&r.objects);
    graph_labels_release(&r.labels);
    free(r.target);
    free(r.edge);
    return status;
}

void driven_text_release(struct driven_text *t)
{
    ker_free_all(t->entry_name, t->entry_names);
    KER_FREE(t->entry, t->object, t->block, t->send, t->follower);
}
