/* random.c - streams over the counter-based generator, alone and as a generator of GSL.
 *
 * Word number n of a stream is word n mod 4 of the block with counter n / 4. `word` always holds the block of
 * the last word drawn; it is computed when the first word of a block is asked for. Invariant: a stream whose
 * seed, purpose, component and counter are equal yields the same words, whatever was drawn before.
 */
#include "kernel/base/random.h"

#include <string.h>

#define PURPOSE_BITS 24   /* of the counter, see ker_random_bits */
#define PURPOSE_FIRST 256 /* hashes begin here */
#define PURPOSE_ENTRY(name, number, text) {text, number},

static const struct {
    const char *name;
    uint32_t number;
} purposes[] = {KER_PURPOSES(PURPOSE_ENTRY)};

uint32_t ker_purpose(const char *name)
{
    for (size_t i = 0; i < sizeof purposes / sizeof *purposes; i++)
        if (strcmp(purposes[i].name, name) == 0)
            return purposes[i].number;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return PURPOSE_FIRST + (uint32_t)((hash ^ hash >> 32) % ((1u << PURPOSE_BITS) - PURPOSE_FIRST));
}

const char *ker_purpose_name(size_t index)
{
#define PURPOSE_NAME(name) name,
    static const char *const others[] = {KER_PURPOSES_BY_NAME(PURPOSE_NAME)};
    size_t numbered = sizeof purposes / sizeof *purposes, named = sizeof others / sizeof *others;
    return index < numbered           ? purposes[index].name
           : index - numbered < named ? others[index - numbered]
                                      : NULL;
}

void ker_stream_init(struct ker_stream *stream, uint64_t seed, uint32_t purpose, uint64_t component)
{
    memset(stream, 0, sizeof *stream);
    stream->seed = seed;
    stream->purpose = purpose;
    stream->component = component;
}

uint32_t ker_stream_next(struct ker_stream *stream)
{
    unsigned index = (unsigned)(stream->counter & 3);
    if (index == 0) {
        struct ker_bits bits =
            ker_random_bits(stream->seed, stream->purpose, stream->component, stream->counter >> 2);
        memcpy(stream->word, bits.word, sizeof stream->word);
    }
    stream->counter++;
    return stream->word[index];
}

uint32_t ker_stream_below(struct ker_stream *stream, uint32_t n)
{
    return ker_random_below(ker_stream_next(stream), n);
}

double ker_stream_unit(struct ker_stream *stream)
{
    uint32_t high = ker_stream_next(stream);
    return ker_random_unit(high, ker_stream_next(stream));
}
