/* folder.c - the result folder.
 *
 * A lock on a file of its own keeps a second run out of the folder until the first has ended, however it
 * ends. The folder is tried before the first event: an unwritable one is bad input, not the end of a long
 * run. What fails later (a full disk) is a failed run. Either names the path and the system's reason.
 */
#define _GNU_SOURCE /* nftw */
#include "stats/file.h"
#include "stats/stats.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a run may write into its folder beside tables: what an earlier run left of all of them is removed
 * before a new one begins, so that no table of another run is beside its summary. Checkpoints do not
 * belong to them. */
static const char *const own_names[] = {"summary.json", "summary.txt", "system.cfg",   STATS_STARTED,
                                        STATS_FAILED,   "names.csv",   STATS_HDF5_NAME};

#define OWN_NAMES (sizeof own_names / sizeof *own_names)
#define NO_TABLES 5 /* the first of them */
#define LOCK ".lock"

/* The i-th of all files of a run, malloc'ed; NULL behind the last. */
static char *own_name(const struct stats_schema *const *tables, size_t i)
{
    static const char *const suffix[] = {"csv", "json"};
    if (i < OWN_NAMES)
        return ker_format("%s", own_names[i]);
    i -= OWN_NAMES;
    size_t timelines = 0;
    while (stats_timeline_files[timelines])
        if (timelines++ == i)
            return ker_format("%s", stats_timeline_files[i]);
    i -= timelines;
    size_t table = i / 2;
    for (size_t t = 0; t <= table; t++)
        if (!tables[t])
            return NULL;
    return ker_format("%s.%s", tables[table]->name, suffix[i % 2]);
}

static int entry_remove(const char *path, const struct stat *is, int type, struct FTW *place)
{
    return remove(path);
}

void stats_folder_remove(const char *folder)
{
    nftw(folder, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

int stats_folder_make(const char *folder)
{
    char *path = ker_format("%s", folder);
    int why = 0;
    for (char *at = path + 1; !why && *path; at++) {
        char here = *at;
        if (here != '/' && here != '\0')
            continue;
        *at = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            why = errno;
        *at = here;
        if (!here)
            break;
    }
    free(path);
    return why;
}

/* Creates and removes a file: permissions, read-only file systems and regular files in the way all show. A
 * FIFO of that name is not waited for. */
static int folder_try(const char *folder)
{
    char *path = ker_format("%s/.writable.tmp", folder);
    int handle = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0666);
    int why = handle < 0 || close(handle) || unlink(path) ? errno : 0;
    free(path);
    return why;
}

static int lock_open(const char *folder, int flags)
{
    char *path = ker_format("%s/" LOCK, folder);
    int handle = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0666);
    free(path);
    return handle;
}

int stats_folder_lock(const char *folder, const char *key, struct ker_error *error)
{
    int handle = *folder && stats_folder_make(folder) == 0 ? lock_open(folder, O_RDWR | O_CREAT) : -1;
    if (handle < 0 || flock(handle, LOCK_EX | LOCK_NB) == 0)
        return handle;
    if (errno == EWOULDBLOCK)
        ker_fail(error, KER_BAD_INPUT,
                 "another run writes to %s now: name another folder with %s, or wait until it has ended",
                 folder, key);
    else
        ker_warn("folder %s cannot be locked (%s): see to it that no other run writes there", folder,
                 strerror(errno));
    close(handle);
    return -1;
}

bool stats_folder_locked(const char *folder)
{
    int handle = lock_open(folder, O_RDONLY);
    bool locked = handle >= 0 && flock(handle, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    if (handle >= 0)
        close(handle);
    return locked;
}

/* What this run reads is neither removed nor overwritten, its configuration included. */
static enum ker_status input_spare(const char *folder, const char *name, const char *suffix,
                                   const struct ker_inputs *inputs, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    char *path = ker_format("%s/%s%s", folder, name, suffix);
    if (ker_inputs_have(inputs, path))
        status = ker_fail(error, KER_BAD_INPUT,
                          "cannot write %s: this run reads it; name another folder with -o DIR", path);
    free(path);
    return status;
}

/* Removes a file of an earlier run, if there is one. */
static enum ker_status file_remove(const char *folder, const char *name, const char *suffix,
                                   struct ker_error *error)
{
    struct stat at;
    char *path = ker_format("%s/%s%s", folder, name, suffix);
    enum ker_status status = KER_OK;
    if (lstat(path, &at) == 0) {
        if (!S_ISREG(at.st_mode) && !S_ISLNK(at.st_mode))
            status = ker_fail(error, KER_BAD_INPUT,
                              "cannot write %s: it is there and no regular file; name another folder with "
                              "-o DIR",
                              path);
        else if (unlink(path))
            status = ker_fail(error, KER_BAD_INPUT,
                              "cannot remove %s of an earlier run: %s; name another folder with -o DIR", path,
                              strerror(errno));
    }
    free(path);
    return status;
}

/* What lies in a folder, by name; not what is hidden, as no result is. */
struct listing {
    struct dirent **entry;
    int count; /* -1: the folder cannot be read, and may hold anything */
};

static int entry_order(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int entry_compare(const void *name, const void *entry)
{
    return strcmp(name, (*(struct dirent *const *)entry)->d_name);
}

static int entry_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static struct listing listing_make(const char *folder)
{
    struct listing listing;
    listing.count = scandir(folder, &listing.entry, entry_visible, entry_order);
    return listing;
}

static void listing_release(struct listing *listing)
{
    for (int i = 0; i < listing->count; i++)
        free(listing->entry[i]);
    if (listing->count >= 0)
        free(listing->entry);
}

static bool listing_has(const struct listing *listing, const char *name, const char *suffix)
{
    if (listing->count < 0)
        return true;
    char *whole = *suffix ? ker_format("%s%s", name, suffix) : NULL;
    bool has = bsearch(whole ? whole : name, listing->entry, (size_t)listing->count, sizeof *listing->entry,
                       entry_compare) != NULL;
    free(whole);
    return has;
}

json_t *stats_folder_tables(const char *folder, const struct stats_schema *const *tables)
{
    json_t *all = json_object();
    struct listing listing = listing_make(folder);
    char *name;
    for (size_t i = NO_TABLES; (name = own_name(tables, i)) != NULL; i++) {
        json_t *one = listing_has(&listing, name, "") ? stats_checksum_json(folder, name) : NULL;
        if (one)
            json_object_set_new(all, name, one);
        free(name);
    }
    listing_release(&listing);
    return all;
}

/* Of each file of a run, and of what it is called while it is written. First all inputs are spared, so that
 * nothing is removed when one of them would be. */
static enum ker_status names_clear(const char *folder, const struct stats_schema *const *tables,
                                   const struct ker_inputs *inputs, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    struct listing listing = listing_make(folder);
    for (int clear = 0; clear < 2 && listing.count != 0; clear++)
        for (size_t i = 0; !status; i++) {
            char *name = own_name(tables, i);
            if (!name)
                break;
            for (int part = 0; part < 2 && !status; part++) {
                const char *suffix = part ? ".tmp" : "";
                if (listing_has(&listing, name, suffix))
                    status = clear ? file_remove(folder, name, suffix, error)
                                   : input_spare(folder, name, suffix, inputs, error);
            }
            free(name);
        }
    listing_release(&listing);
    return status;
}

enum ker_status stats_folder_open(const char *folder, const struct stats_schema *const *tables,
                                  const struct ker_inputs *inputs, struct ker_error *error)
{
    if (!*folder)
        return ker_fail(error, KER_BAD_INPUT, "the result folder has an empty name: give one with -o DIR");
    int why = stats_folder_make(folder);
    if (!why)
        why = folder_try(folder);
    if (why)
        return ker_fail(error, KER_BAD_INPUT,
                        "cannot write to result folder %s: %s; name another with -o DIR", folder,
                        strerror(why));
    enum ker_status status = names_clear(folder, tables, inputs, error);
    if (status == KER_OK)
        stats_timeline_clear(folder);
    return status;
}
