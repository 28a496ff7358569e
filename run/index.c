/* index.c - the index of a checkpoint, and which one a run is resumed from; what writes checkpoints and what
 * reads them both need it.
 *
 * Names of checkpoints have this many digits that their order is that of time.
 */
#include "run/checkpoint.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* ---- the index ---- */

static void text_state(struct ker_chunk *c, char **text)
{
    uint32_t length = ker_chunk_count(c, *text ? (uint32_t)strlen(*text) : 0, 1);
    if (c->loads)
        *text = ker_alloc((size_t)length + 1);
    ker_chunk_bytes(c, *text, length);
}

static void forks_state(struct ker_chunk *c, struct run_index *index)
{
    index->forks = ker_chunk_count(c, index->forks, sizeof index->fork->until + sizeof(uint32_t));
    if (c->loads)
        index->fork = ker_alloc((index->forks + 1u) * sizeof *index->fork); /* and one more, of a fork now */
    for (uint32_t i = 0; i < index->forks; i++) {
        KER_CHUNK(c, index->fork[i].until);
        text_state(c, &index->fork[i].config);
    }
}

void run_index_state(struct ker_chunk *c, struct run_index *index)
{
    ker_chunk_text(c, index->version);
    KER_CHUNK(c, index->at, index->parts);
    text_state(c, &index->file);
    text_state(c, &index->folder);
    text_state(c, &index->config);
    uint32_t bytes = ker_chunk_count(c, (uint32_t)index->inputs_bytes, 1);
    if (c->loads)
        index->inputs = ker_alloc(bytes);
    index->inputs_bytes = bytes;
    ker_chunk_bytes(c, index->inputs, bytes);
    node_services_state(&index->services, c);
    forks_state(c, index);
}

void run_index_id(const char *config, uint64_t id[2])
{
    struct ker_digest digest = {0};
    ker_digest_add(&digest, config, strlen(config));
    ker_digest_sum(&digest, id);
}

static void index_release(struct run_index *index)
{
    KER_FREE(index->file, index->folder, index->config, index->inputs);
    for (uint32_t i = 0; i < index->forks; i++)
        free(index->fork[i].config);
    free(index->fork);
    *index = (struct run_index){0};
}

/* ---- folders ---- */

bool run_checkpoint_named(const char *name)
{
    size_t prefix = strlen(RUN_CHECKPOINT_NAME);
    return strncmp(name, RUN_CHECKPOINT_NAME, prefix) == 0 && name[prefix] &&
           strspn(name + prefix, "0123456789") == strlen(name + prefix);
}

char *run_checkpoint_newest(const char *dir)
{
    DIR *list = opendir(dir);
    char *newest = NULL;
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        if (run_checkpoint_named(entry->d_name) && (!newest || strcmp(entry->d_name, newest) > 0)) {
            free(newest);
            newest = ker_format("%s", entry->d_name);
        }
    if (list)
        closedir(list);
    char *path = newest ? ker_format("%s/%s", dir, newest) : NULL;
    free(newest);
    return path;
}

/* ---- the resumed run ---- */

void run_resumed_free(struct run_resumed *r)
{
    if (!r)
        return;
    index_release(&r->index);
    if (r->former)
        ker_config_free(r->former);
    free(r->folder);
    free(r);
}

const char *run_resumed_folder(const struct run *run)
{
    return run->resumed->index.folder;
}

const char *run_file(const struct run *run)
{
    return run->resumed ? run->resumed->index.file : run->args->file;
}

char *run_config_text(const struct ker_config *config)
{
    char *text = NULL;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    ker_assert(memory != NULL);
    ker_config_write(config, memory);
    fclose(memory);
    return text;
}
