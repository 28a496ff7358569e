/* input.c - files that a run reads, and whether all ranks have read the same.
 *
 * A digest is two lanes that swallow 16 bytes by a multiplication of 64 by 64 bits, whose halves are folded
 * into each other, each lane with constants of its own; the length comes last. It costs about a tenth of a
 * nanosecond a byte, some percent of what parsing takes. (A library would do as well, but for thirty lines a
 * build should not need one more.)
 *
 * To compare, rank 0 gets what all have registered so far and sorts it by name and rank. Invariant: what is
 * compared was read to its end on each of these ranks.
 */
#include "kernel/base/input.h"

#include "kernel/base/array.h"
#include "kernel/base/bytes.h"
#include "kernel/base/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES 32
#define HOST_BYTES 64
#define TEXT_BYTES 240

/* ---- digests ---- */

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return a ^ b ^ (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word_of(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static void digest_blocks(struct ker_digest *d, const uint8_t *at, size_t blocks)
{
    uint64_t first = d->lane[0], second = d->lane[1];
    for (; blocks; blocks--, at += BLOCK_BYTES) {
        uint64_t a = word_of(at), b = word_of(at + 8), c = word_of(at + 16), e = word_of(at + 24);
        first = fold(a ^ first ^ 0x9e3779b97f4a7c15u, b + 0x94d049bb133111ebu) +
                fold(c ^ 0xa0761d6478bd642fu, e + first);
        second = fold(e ^ second ^ 0xbf58476d1ce4e5b9u, a + 0xd6e8feb86659fd93u) +
                 fold(b ^ 0xe7037ed1a0b428dbu, c + second);
    }
    d->lane[0] = first;
    d->lane[1] = second;
}

void ker_digest_add(struct ker_digest *d, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    size_t held = d->bytes % BLOCK_BYTES;
    d->bytes += bytes;
    if (held) {
        size_t more = bytes < BLOCK_BYTES - held ? bytes : BLOCK_BYTES - held;
        memcpy(d->rest + held, at, more);
        at += more;
        bytes -= more;
        if (held + more < BLOCK_BYTES)
            return;
        digest_blocks(d, d->rest, 1);
    }
    digest_blocks(d, at, bytes / BLOCK_BYTES);
    if (bytes % BLOCK_BYTES)
        memcpy(d->rest, at + bytes / BLOCK_BYTES * BLOCK_BYTES, bytes % BLOCK_BYTES);
}

/* The digest with all that was added, the length included. */
static struct ker_digest digest_end(const struct ker_digest *d)
{
    struct ker_digest end = *d;
    size_t held = d->bytes % BLOCK_BYTES;
    uint64_t length[BLOCK_BYTES / 8] = {d->bytes};
    memset(end.rest + held, 0, BLOCK_BYTES - held);
    digest_blocks(&end, end.rest, 1);
    memcpy(end.rest, length, BLOCK_BYTES);
    digest_blocks(&end, end.rest, 1);
    return end;
}

void ker_digest_sum(const struct ker_digest *d, uint64_t sum[2])
{
    struct ker_digest end = digest_end(d);
    sum[0] = end.lane[0];
    sum[1] = end.lane[1];
}

/* ---- what was read ---- */

/* As it travels: behind it the name and the text, each with its 0. */
struct entry {
    uint64_t lane[2], bytes;
    uint32_t name_bytes, text_bytes;
};

/* Where the files lie that were registered, as far as `packed` has been looked at. */
struct input_files {
    struct input_file {
        dev_t device;
        ino_t number;
    } * at;
    size_t count, room, looked;
};

struct ker_inputs {
    struct ker_bytes packed;
    struct ker_bytes absolute; /* the same with absolute names, for those before `named` */
    size_t named;
    struct input_files *files;
};

struct ker_inputs *ker_inputs_new(void)
{
    struct ker_inputs *inputs = ker_alloc(sizeof *inputs);
    inputs->files = ker_alloc(sizeof *inputs->files);
    return inputs;
}

void ker_inputs_free(struct ker_inputs *inputs)
{
    if (inputs) {
        KER_FREE(inputs->packed.byte, inputs->absolute.byte, inputs->files->at, inputs->files);
    }
    free(inputs);
}

static void entry_add(struct ker_bytes *packed, const struct entry *entry, const char *name, const char *text)
{
    ker_bytes_add(packed, entry, sizeof *entry);
    ker_bytes_add(packed, name, entry->name_bytes);
    ker_bytes_add(packed, text, entry->text_bytes);
}

static void register_entry(struct ker_inputs *inputs, const char *name, const struct ker_digest *digest,
                           const char *text)
{
    struct ker_digest end = digest_end(digest);
    struct entry entry = {
        {end.lane[0], end.lane[1]}, digest->bytes, (uint32_t)strlen(name) + 1, (uint32_t)strlen(text) + 1};
    entry_add(&inputs->packed, &entry, name, text);
}

void ker_input_add(struct ker_inputs *inputs, const char *name, const struct ker_digest *digest)
{
    if (inputs)
        register_entry(inputs, name, digest, "");
}

void ker_input_add_text(struct ker_inputs *inputs, const char *name, const char *text)
{
    struct ker_digest digest = {0};
    char shown[TEXT_BYTES];
    if (!inputs)
        return;
    ker_digest_add(&digest, text, strlen(text));
    snprintf(shown, sizeof shown, "%s", text);
    register_entry(inputs, name, &digest, shown);
}

static void files_look(struct input_files *files, const struct ker_bytes *packed)
{
    struct entry entry;
    struct stat is;
    while (files->looked < packed->used) {
        const char *at = (const char *)packed->byte + files->looked;
        memcpy(&entry, at, sizeof entry);
        if (stat(at + sizeof entry, &is) == 0)
            *KER_PUSH(files->at, files->count, files->room) = (struct input_file){is.st_dev, is.st_ino};
        files->looked += sizeof entry + entry.name_bytes + entry.text_bytes;
    }
}

bool ker_inputs_have(const struct ker_inputs *inputs, const char *path)
{
    struct stat sought;
    if (!inputs || stat(path, &sought))
        return false;
    files_look(inputs->files, &inputs->packed);
    for (size_t i = 0; i < inputs->files->count; i++)
        if (inputs->files->at[i].device == sought.st_dev && inputs->files->at[i].number == sought.st_ino)
            return true;
    return false;
}

/* ---- files ---- */

/* O_NONBLOCK: a pipe nobody writes to is not waited for, but refused. */
enum ker_status ker_input_open(const char *path, uint64_t most, int *file, uint64_t *bytes,
                               struct ker_error *error)
{
    struct stat is;
    enum ker_status status = KER_OK;
    *file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*file < 0 || fstat(*file, &is))
        status = ker_fail(error, KER_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    else if (S_ISDIR(is.st_mode))
        status = ker_fail(error, KER_BAD_INPUT, "%s: is a folder; a file is expected", path);
    else if (!S_ISREG(is.st_mode))
        status = ker_fail(error, KER_BAD_INPUT, "%s: is no regular file (a device or a pipe)", path);
    else if ((uint64_t)is.st_size > most)
        status = ker_fail(error, KER_BAD_INPUT, "%s: is larger than the limit of %llu GiB", path,
                          (unsigned long long)(most >> 30));
    else if (bytes)
        *bytes = (uint64_t)is.st_size;
    if (status != KER_OK && *file >= 0) {
        close(*file);
        *file = -1;
    }
    return status;
}

ssize_t ker_input_piece(int file, char *to, size_t bytes)
{
    size_t got = 0;
    for (ssize_t now = 1; got < bytes && now != 0; got += (size_t)now)
        do
            if ((now = read(file, to + got, bytes - got)) < 0 && errno != EINTR)
                return -1;
        while (now < 0);
    return (ssize_t)got;
}

enum ker_status ker_input_read(struct ker_inputs *inputs, const char *path, char **text, size_t *length,
                               struct ker_error *error)
{
    struct ker_digest digest = {0};
    uint64_t bytes = 0;
    int file;
    *text = NULL;
    enum ker_status status = ker_input_open(path, KER_INPUT_WHOLE, &file, &bytes, error);
    if (status != KER_OK)
        return status;
    char *all = ker_alloc(bytes + 1);
    ssize_t got = ker_input_piece(file, all, bytes);
    int why = errno;
    close(file);
    if (got < 0) {
        free(all);
        return ker_fail(error, KER_BAD_INPUT, "%s: cannot be read: %s", path, strerror(why));
    }
    *length = (size_t)got;
    *text = all;
    ker_digest_add(&digest, all, *length);
    ker_input_add(inputs, path, &digest);
    return KER_OK;
}

enum ker_status ker_input_lines(struct ker_inputs *inputs, const char *path, struct ker_lines *lines,
                                char **text, struct ker_error *error)
{
    size_t length;
    enum ker_status status = ker_input_read(inputs, path, text, &length, error);
    if (status != KER_OK)
        return status;
    ker_lines_init(lines, path, *text, length, error);
    return ker_lines_check(lines);
}

/* ---- the same on all ranks? ---- */

struct reported {
    struct entry entry;
    const char *name, *text;
    int rank;
};

static int reported_compare(const void *left, const void *right)
{
    const struct reported *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : a->rank - b->rank;
}

/* What all ranks have packed, each behind the name of its host. */
static struct reported *reported_unpack(const char *all, const size_t *offset, int ranks, size_t *count)
{
    size_t room = 0, used = 0;
    struct reported *reported = NULL;
    for (int rank = 0; rank < ranks; rank++)
        for (size_t at = offset[rank] + HOST_BYTES; at < offset[rank + 1];) {
            struct reported *one = KER_PUSH(reported, used, room);
            memcpy(&one->entry, all + at, sizeof one->entry);
            one->name = all + at + sizeof one->entry;
            one->text = one->name + one->entry.name_bytes;
            one->rank = rank;
            at += sizeof one->entry + one->entry.name_bytes + one->entry.text_bytes;
        }
    *count = used;
    return reported;
}

static void print_what(char *text, size_t room, const struct reported *reported)
{
    if (reported->text[0])
        snprintf(text, room, "\"%s\"", reported->text);
    else
        snprintf(text, room, "%llu bytes", (unsigned long long)reported->entry.bytes);
}

static enum ker_status reported_differ(const struct reported *a, const struct reported *b, const char *all,
                                       const size_t *offset, struct ker_error *error)
{
    char one[TEXT_BYTES + 8], other[TEXT_BYTES + 8];
    print_what(one, sizeof one, a);
    print_what(other, sizeof other, b);
    return ker_fail(error, KER_BAD_INPUT,
                    "%s: is not the same on all ranks: %s on rank %d (%s), %s%s on rank %d (%s)", a->name,
                    one, a->rank, all + offset[a->rank],
                    a->entry.bytes == b->entry.bytes && !a->text[0] ? "other " : "", other, b->rank,
                    all + offset[b->rank]);
}

/* Rank 0 has then registered, too, what only others have read: whoever stays to the end knows of all. */
static void inputs_join(struct ker_inputs *inputs, const struct reported *reported, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (reported[i].rank != 0 && (i == 0 || strcmp(reported[i].name, reported[i - 1].name) != 0))
            entry_add(&inputs->packed, &reported[i].entry, reported[i].name, reported[i].text);
}

static enum ker_status inputs_compare(struct ker_inputs *inputs, const char *all, const size_t *offset,
                                      int ranks, struct ker_error *error)
{
    size_t count;
    struct reported *reported = reported_unpack(all, offset, ranks, &count);
    if (count)
        qsort(reported, count, sizeof *reported, reported_compare);
    enum ker_status status = KER_OK;
    size_t i = 1;
    while (i < count &&
           (strcmp(reported[i].name, reported[i - 1].name) != 0 ||
            memcmp(reported[i].entry.lane, reported[i - 1].entry.lane, sizeof reported[i].entry.lane) == 0))
        i++;
    if (i < count) {
        *error = (struct ker_error){.status = KER_OK}; /* whatever else failed, this explains it */
        status = reported_differ(&reported[i - 1], &reported[i], all, offset, error);
    } else {
        inputs_join(inputs, reported, count);
    }
    free(reported);
    return status;
}

enum ker_status ker_inputs_agree(struct ker_inputs *inputs, struct ker_comm *comm, struct ker_error *error)
{
    struct ker_bytes mine = {0};
    enum ker_status status = KER_OK;
    char host[HOST_BYTES] = "";
    void *all;
    size_t *offset;
    if (ker_comm_size(comm) > 1) {
        gethostname(host, sizeof host - 1);
        ker_bytes_add(&mine, host, sizeof host);
        ker_bytes_add(&mine, inputs->packed.byte, inputs->packed.used);
        ker_comm_gather(comm, mine.byte, mine.used, &all, &offset);
        if (all)
            status = inputs_compare(inputs, all, offset, ker_comm_size(comm), error);
        free(all);
        if (ker_comm_rank(comm) == 0)
            free(offset);
        free(mine.byte);
    }
    return status;
}

/* ---- the same as before? ---- */

/* malloc'ed. What is no file keeps its name. */
static char *name_absolute(const char *name)
{
    char *path = realpath(name, NULL);
    if (path)
        return path;
    char *folder = name[0] != '/' ? realpath(".", NULL) : NULL;
    path = folder ? ker_format("%s/%s", folder, name) : ker_format("%s", name);
    free(folder);
    return path;
}

const void *ker_inputs_packed(struct ker_inputs *inputs, size_t *bytes)
{
    struct entry entry;
    for (size_t at = inputs->named; at < inputs->packed.used; at = inputs->named) {
        const char *name = (const char *)inputs->packed.byte + at + sizeof entry;
        memcpy(&entry, inputs->packed.byte + at, sizeof entry);
        const char *text = name + entry.name_bytes;
        inputs->named += sizeof entry + entry.name_bytes + entry.text_bytes;
        char *absolute = name_absolute(name);
        entry.name_bytes = (uint32_t)strlen(absolute) + 1;
        entry_add(&inputs->absolute, &entry, absolute, text);
        free(absolute);
    }
    *bytes = inputs->absolute.used;
    return inputs->absolute.byte;
}

/* Packed entries, found by name: reported_unpack without hosts. false: they are damaged. */
static bool packed_index(const char *packed, size_t bytes, int rank, struct reported **reported, size_t *used,
                         size_t *room)
{
    for (size_t at = 0; at < bytes;) {
        struct reported one = {.rank = rank};
        if (bytes - at < sizeof one.entry)
            return false;
        memcpy(&one.entry, packed + at, sizeof one.entry);
        at += sizeof one.entry;
        size_t names = one.entry.name_bytes, texts = one.entry.text_bytes;
        if (names == 0 || texts == 0 || names + texts > bytes - at || packed[at + names - 1] ||
            packed[at + names + texts - 1])
            return false;
        one.name = packed + at;
        one.text = one.name + names;
        at += names + texts;
        if (*used == *room)
            *reported = ker_realloc(*reported, (*room = 2 * *room + 64) * sizeof **reported);
        (*reported)[(*used)++] = one;
    }
    return true;
}

/* The first of one name that is not the same; text: among what has one, or among files. NULL: none. */
static const struct reported *changed_find(const struct reported *reported, size_t count, bool text)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(reported[i].name, reported[i - 1].name) == 0 && reported[i].rank != reported[i - 1].rank &&
            memcmp(reported[i].entry.lane, reported[i - 1].entry.lane, sizeof reported[i].entry.lane) != 0 &&
            (reported[i].text[0] != 0) == text)
            return &reported[i];
    return NULL;
}

static void changed_fail(const struct reported *reported, struct ker_error *error)
{
    char then[TEXT_BYTES + 8], now[TEXT_BYTES + 8];
    print_what(then, sizeof then, reported - 1);
    print_what(now, sizeof now, reported);
    ker_fail(error, KER_BAD_INPUT,
             "%s: has changed since the run began (%s then, %s now): a resumed run needs what it has begun "
             "with",
             reported->name, then, now);
}

enum ker_status ker_inputs_since(struct ker_inputs *inputs, const void *packed, size_t bytes,
                                 struct ker_error *error)
{
    struct reported *reported = NULL;
    size_t used = 0, room = 0, own_bytes;
    const char *own = ker_inputs_packed(inputs, &own_bytes);
    bool good = packed_index(packed, bytes, 0, &reported, &used, &room) &&
                packed_index(own, own_bytes, 1, &reported, &used, &room);
    if (!good)
        ker_fail(error, KER_BAD_INPUT, "the list of inputs in the checkpoint is damaged");
    if (used)
        qsort(reported, used, sizeof *reported, reported_compare);
    const struct reported *changed = good ? changed_find(reported, used, false) : NULL;
    if (good && !changed)
        changed = changed_find(reported, used, true);
    if (changed)
        changed_fail(changed, error);
    free(reported);
    return error->status;
}
