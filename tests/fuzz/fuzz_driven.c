/* fuzz_driven.c - message-driven programs as text: whatever the bytes, they are refused with a message, or
 * become a program whose blocks get as many messages as they need, from blocks that exist, at offsets inside
 * these. */
#include "tasks/driven/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Messages and blocks that each block gets, less what it needs. */
static void needs_check(const struct driven_text *t)
{
    uint32_t *messages = ker_alloc((t->blocks + 1) * sizeof *messages),
             *after = ker_alloc((t->blocks + 1) * sizeof *after);
    for (uint32_t o = 0; o < t->program.objects; o++) {
        const struct driven_text_object *object = &t->object[o];
        for (uint32_t b = object->first; b < object->first + object->blocks; b++) {
            const struct driven_text_block *block = &t->block[b];
            ker_assert(block->entry < t->program.entries && (!block->each || !block->sends));
            for (uint32_t i = block->first_send; i < block->first_send + block->sends; i++) {
                const struct driven_text_send *s = &t->send[i];
                ker_assert(s->object < t->program.objects && s->block < t->object[s->object].blocks &&
                           s->at <= block->time && (i == block->first_send || s->at >= s[-1].at));
                messages[t->object[s->object].first + s->block]++;
            }
            for (uint32_t i = 0; i < block->followers; i++) {
                uint32_t follower = t->follower[block->first_follower + i];
                ker_assert(follower < object->blocks && follower + object->first > b);
                after[object->first + follower]++;
            }
        }
    }
    for (uint32_t b = 0; b < t->blocks; b++)
        ker_assert(messages[b] == t->block[b].messages + t->block[b].next_messages &&
                   after[b] == t->block[b].after);
    free(messages);
    free(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = ker_alloc(size + 1);
    if (size)
        memcpy(text, data, size);
    struct driven_text t = {.text = text};
    struct ker_error error = {0};
    enum ker_status status = driven_text_read(&t, "fuzz", text, size, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0] != 0));
    if (status == KER_OK) {
        ker_assert(t.program.objects > 0 && t.program.tasks > 0 && t.program.iterations > 0);
        needs_check(&t);
    }
    driven_text_release(&t);
    free(text);
    return 0;
}
