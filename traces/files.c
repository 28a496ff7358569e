/* files.c - a call to the storage client as words: see files.h. */
#include "traces/files.h"

/* 4 bits of op, 28 of the number of pieces, 32 of the file; offset; bytes; stride; exists. */
void store_call_words(const struct store_call *c, uint64_t words[STORE_WORDS])
{
    words[0] = (uint64_t)c->op | (uint64_t)c->run.count << 4 | (uint64_t)c->file << 32;
    words[1] = c->run.offset;
    words[2] = c->run.bytes;
    words[3] = c->run.stride;
    words[4] = c->exists;
}

struct store_call store_call_of(const uint64_t words[STORE_WORDS])
{
    return (struct store_call){.op = (enum store_op)(words[0] & 15),
                               .file = (uint32_t)(words[0] >> 32),
                               .run = {words[1], words[2], words[3], (uint32_t)words[0] >> 4},
                               .exists = words[4]};
}

uint64_t store_run_below(const struct store_run *run, uint64_t x)
{
    if (x <= run->offset)
        return 0;
    uint64_t off = x - run->offset, stride = run->count > 1 ? run->stride : run->bytes,
             pieces = stride ? off / stride : run->count;
    if (pieces >= run->count)
        return run->count * run->bytes;
    uint64_t rest = off - pieces * stride;
    return pieces * run->bytes + (rest < run->bytes ? rest : run->bytes);
}

bool store_wanted(const struct ker_config *config)
{
    return ker_config_has(config, "storage.servers.nodes") || ker_config_has(config, "storage.servers.count");
}

const char *store_op_name(enum store_op op)
{
    static const char *const name[] = {[STORE_OPEN] = "open",
                                       [STORE_CLOSE] = "close",
                                       [STORE_SYNC] = "sync",
                                       [STORE_READ] = "read",
                                       [STORE_WRITE] = "write"};
    return name[op];
}
