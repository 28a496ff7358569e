/* text.h - message-driven programs as text (docs/driven.md): what is read of one. Private to tasks/driven/.
 */
#pragma once

#include "tasks/driven/program.h"

struct driven_word { /* in the text */
    const char *at;
    uint32_t length;
};

struct driven_text_send {
    ker_time at;
    uint64_t bytes;
    uint32_t object, block; /* of the object */
    uint32_t ahead;
};

struct driven_text_block {
    struct driven_word label;
    ker_time time;
    uint32_t entry, line;
    uint32_t messages, next_messages; /* it is sent in its own iteration, and for the one behind */
    uint32_t after, moves;
    bool each;
    uint32_t sends, ahead, followers;
    uint32_t first_send, first_follower;
};

struct driven_text_object {
    struct driven_word name;
    uint64_t bytes;
    uint32_t home, line;
    uint32_t first, blocks;
};

struct driven_text {
    struct driven_program program; /* first */
    char *text;                    /* the file, for words */
    struct driven_entry *entry;
    char **entry_name;
    struct driven_text_object *object;
    struct driven_text_block *block; /* object after object */
    struct driven_text_send *send;   /* block after block */
    uint32_t *follower;              /* block after block, numbers in the object */
    uint32_t entry_room, entry_names, object_room, blocks, block_room, sends, send_room;
};

/* From a text of this many bytes with a 0 behind it, which stays where it is; `name` stands for the file in
 * messages. To be released whatever it returns, but for the text. */
enum ker_status driven_text_read(struct driven_text *, const char *name, const char *text, size_t bytes,
                                 struct ker_error *);
void driven_text_release(struct driven_text *);

/* ---- words, taken from lines with the blanks behind them; else KER_BAD_INPUT, which names `what` ---- */

#define DRIVEN_NAME 63 /* characters of a name, at most */
enum ker_status driven_word_take(struct ker_lines *, const char *what, struct driven_word *);
enum ker_status driven_name_take(struct ker_lines *, const char *what, struct driven_word *); /* no dot */
enum ker_status driven_number_take(struct ker_lines *, const char *what, uint32_t least, uint32_t most,
                                   uint32_t *number);
/* A value with its unit in one word. */
enum ker_status driven_time_take(struct ker_lines *, ker_time *);
enum ker_status driven_bytes_take(struct ker_lines *, uint64_t *);
