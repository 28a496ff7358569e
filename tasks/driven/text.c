/* text.c - programs from text files: the format "driven" of the program "trace". */
#include "tasks/driven/text.h"
#include "tasks/driven/driven.h"

#include <stdlib.h>
#include <string.h>

static const struct driven_text *text_of(const struct driven_program *p)
{
    return (const struct driven_text *)p;
}

static const struct driven_text_block *block_of(const struct driven_program *p, uint32_t object,
                                                uint32_t block)
{
    const struct driven_text *t = text_of(p);
    return &t->block[t->object[object].first + block];
}

static uint32_t text_home(const struct driven_program *p, uint32_t object)
{
    return text_of(p)->object[object].home;
}

static uint32_t text_blocks(const struct driven_program *p, uint32_t object)
{
    return text_of(p)->object[object].blocks;
}

static uint64_t text_bytes(const struct driven_program *p, uint32_t object)
{
    return text_of(p)->object[object].bytes;
}

static void text_block(const struct driven_program *p, uint32_t object, uint32_t block, uint32_t iteration,
                       struct driven_block *to)
{
    const struct driven_text_block *b = block_of(p, object, block);
    *to = (struct driven_block){.time = b->time,
                                .entry = b->entry,
                                .messages = b->messages + (iteration ? b->next_messages : 0),
                                .after = b->after,
                                .each = b->each,
                                .sends = b->sends,
                                .ahead = b->ahead,
                                .followers = b->followers,
                                .moves = b->moves};
}

static void text_send(const struct driven_program *p, uint32_t object, uint32_t block, uint32_t index,
                      struct driven_send *to)
{
    const struct driven_text_send *s = &text_of(p)->send[block_of(p, object, block)->first_send + index];
    *to = (struct driven_send){s->at, s->bytes, s->object, s->block, s->ahead};
}

static uint32_t text_follower(const struct driven_program *p, uint32_t object, uint32_t block, uint32_t index)
{
    return text_of(p)->follower[block_of(p, object, block)->first_follower + index];
}

static const char *word_text(const struct driven_word *word, char *buffer, size_t room)
{
    snprintf(buffer, room, "%.*s", (int)word->length, word->at);
    return buffer;
}

static const char *text_name(const struct driven_program *p, uint32_t object, char *buffer, size_t room)
{
    return word_text(&text_of(p)->object[object].name, buffer, room);
}

static const char *text_label(const struct driven_program *p, uint32_t object, uint32_t block, char *buffer,
                              size_t room, uint32_t *line)
{
    const struct driven_text_block *b = block_of(p, object, block);
    *line = b->line;
    return word_text(&b->label, buffer, room);
}

static const struct driven_class text_class = {.home = text_home,
                                               .blocks = text_blocks,
                                               .bytes = text_bytes,
                                               .block = text_block,
                                               .send = text_send,
                                               .follower = text_follower,
                                               .name = text_name,
                                               .label = text_label};

static enum ker_status text_open(struct task_program **opened, const struct ker_config *config,
                                 const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct driven_text *t = ker_alloc(sizeof *t);
    size_t bytes;
    *opened = (struct task_program *)t;
    t->program.class = &text_class;
    enum ker_status status = driven_refuse(config, path, error);
    if (status)
        return status;
    const char *file = ker_config_file(config, TASK_KEY(path, "trace"));
    status = ker_input_read(ker_config_inputs(config), file, &t->text, &bytes, error);
    return status ?: driven_text_read(t, file, t->text, bytes, error);
}

static void text_close(struct task_program *program)
{
    struct driven_text *t = (struct driven_text *)program;
    if (!t)
        return;
    driven_text_release(t);
    free(t->text);
    free(t);
}

static int score(const char *path)
{
    struct ker_error ignored = {.status = KER_OK};
    struct ker_text text;
    bool known = false, more = ker_text_open(&text, path, NULL, &ignored) == KER_OK;
    while (more && ker_text_next(&text)) {
        ker_take_blanks(&text.in);
        more = text.in.p == text.in.stop || *text.in.p == '#';
        known = ker_take_word(&text.in, "driven");
    }
    ker_text_close(&text, false);
    return trace_score(path, known, TRACE_SCORE_LINE, ".driven");
}

static const struct task_program_class class = {.open = text_open,
                                                .tasks = driven_tasks,
                                                .comms = driven_comms,
                                                .prepare = driven_prepare,
                                                .close = text_close,
                                                .driven = true};

const struct ker_kind trace_format_driven = {.name = "driven",
                                             .meaning = "message-driven programs, which are not of MPI",
                                             .operations = &(const struct trace_format){&class, score, NULL}};
