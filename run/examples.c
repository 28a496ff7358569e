/* examples.c - the configurations that are shipped: where they are, their list, and a copy of one.
 *
 * They are in the folder of the program itself (a source tree) or in ../share/marssim of it (installed). A
 * copy has the same relative paths as the original, so that what a configuration names is found beside it;
 * nothing that is there is written over.
 */
#include "run/run.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/configs"

/* The folder above configs/, malloc'ed; NULL: there is none. */
static char *home(void)
{
    static const char *const places[] = {"", "/../share/marssim"};
    char own[4096], *found = NULL;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    for (size_t i = 0; slash && !found && i < sizeof places / sizeof *places; i++) {
        char *folder = ker_format("%.*s%s", (int)(slash - own), own, places[i]),
             *configs = ker_format("%s" FOLDER, folder);
        found = access(configs, F_OK) == 0 ? realpath(folder, NULL) : NULL;
        free(folder);
        free(configs);
    }
    return found;
}

char *run_file_find(const char *path, struct ker_error *error)
{
    bool given = path[0] == '/' || !*path || strcmp(path, "-") == 0 || access(path, F_OK) == 0;
    char *shipped = given ? NULL : home();
    if (!shipped)
        return ker_format("%s", path);
    char *there = ker_format("%s/%s", shipped, path), *near = ker_format("%s" FOLDER "/%s", shipped, path),
         *nearer = ker_format("%s.cfg", near);
    bool meant = access(near, F_OK) == 0, shorter = !meant && access(nearer, F_OK) == 0;
    if (access(there, F_OK) != 0 && (meant || shorter))
        ker_fail(error, KER_BAD_INPUT,
                 "%s: cannot be read: No such file or directory; did you mean configs/%s%s?", path, path,
                 shorter ? ".cfg" : "");
    else if (access(there, F_OK) != 0)
        ker_fail(
            error, KER_BAD_INPUT,
            "%s: cannot be read: No such file or directory, nor is it in %s; marssim --example lists what is "
            "shipped",
            path, shipped);
    free(near);
    free(nearer);
    free(shipped);
    return there;
}

/* ---- the list ---- */

static int is_config(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".cfg") == 0;
}

/* The name, and what is behind it in the first line: "# NAME.cfg - what it shows". */
static void print_first_line(const char *folder, const char *name)
{
    char *path = ker_format("%s/%s", folder, name), line[300] = "";
    FILE *file = fopen(path, "r");
    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    const char *about = strstr(line, " - ");
    line[strcspn(line, "\n")] = '\0';
    printf("  %-24.*s  %s\n", (int)strlen(name) - 4, name, about ? about + 3 : "");
    free(path);
}

static void list(const char *configs)
{
    struct dirent **entry = NULL;
    int count = scandir(configs, &entry, is_config, alphasort);
    printf("marssim --example NAME copies one of these, with what it needs, to the current folder:\n");
    for (int i = 0; i < count; i++) {
        print_first_line(configs, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

/* ---- a copy ---- */

static enum ker_status copy_file(const char *from, const char *to, struct ker_error *error)
{
    char block[65536];
    size_t got;
    FILE *in = fopen(from, "r"), *out = in ? fopen(to, "wx") : NULL;
    bool failed = !in || (!out && errno != EEXIST);
    while (out && !failed && (got = fread(block, 1, sizeof block, in)) > 0)
        failed = fwrite(block, 1, got, out) != got;
    failed |= in && ferror(in);
    int why = errno;
    if (out && fclose(out) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    if (in)
        fclose(in);
    return failed ? ker_fail(error, KER_RUN_FAILED, "%s: cannot be copied to %s: %s", from, to, strerror(why))
                  : KER_OK;
}

static enum ker_status copy(const char *from, const char *to, struct ker_error *error)
{
    struct stat is;
    DIR *folder = stat(from, &is) == 0 && S_ISDIR(is.st_mode) ? opendir(from) : NULL;
    if (!folder)
        return copy_file(from, to, error);
    enum ker_status status = KER_OK;
    int why = stats_folder_make(to);
    if (why)
        status = ker_fail(error, KER_RUN_FAILED, "%s: cannot be made: %s", to, strerror(why));
    for (struct dirent *entry; !status && (entry = readdir(folder)) != NULL;) {
        char *inner = ker_format("%s/%s", from, entry->d_name),
             *there = ker_format("%s/%s", to, entry->d_name);
        if (entry->d_name[0] != '.')
            status = copy(inner, there, error);
        free(inner);
        free(there);
    }
    closedir(folder);
    return status;
}

struct copying {
    const char *configs; /* where the originals are */
    struct ker_error *error;
};

static void copy_input(void *context, const char *path)
{
    const struct copying *c = context;
    size_t length = strlen(c->configs);
    if (c->error->status || strncmp(path, c->configs, length) != 0 || path[length] != '/')
        return;
    char *to = ker_format("%s", path + length + 1), *slash = strrchr(to, '/');
    if (slash)
        *slash = '\0';
    int why = slash ? stats_folder_make(to) : 0;
    if (why)
        ker_fail(c->error, KER_RUN_FAILED, "%s: cannot be made: %s", to, strerror(why));
    if (slash)
        *slash = '/';
    if (!why && copy(path, to, c->error) == KER_OK)
        printf("%s\n", to);
    free(to);
}

/* The configuration of this name is read, and it says itself what it needs. */
static enum ker_status copy_example(const char *configs, const char *name, struct ker_error *error)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    size_t length = strlen(last);
    bool whole = length > 4 && strcmp(last + length - 4, ".cfg") == 0;
    char *path = ker_format("%s/%s%s", configs, last, whole ? "" : ".cfg");
    const char *here = path + strlen(configs) + 1;
    struct ker_config *config = NULL;
    const struct ker_option **tables = run_option_tables();
    struct copying copying = {configs, error};
    if (access(path, F_OK) != 0)
        ker_fail(error, KER_BAD_INPUT,
                 "--example %s: there is none of this name; marssim --example lists them", name);
    else if (access(here, F_OK) == 0)
        ker_fail(error, KER_BAD_INPUT, "%s: is there already; move it, or go to another folder", here);
    else if (ker_config_load(&config, path, NULL, 0, tables, error) == KER_OK) {
        ker_config_files(config, copy_input, &copying);
        if (!error->status)
            printf("run it: marssim %s\n", here);
    }
    ker_config_free(config);
    free(tables);
    free(path);
    return error->status;
}

enum ker_status run_example(const char *name, struct ker_error *error)
{
    char *shipped = home();
    if (!shipped)
        return ker_fail(error, KER_BAD_INPUT,
                        "--example: no configurations are beside this program or in ../share/marssim of it");
    char *configs = ker_format("%s" FOLDER, shipped);
    if (name)
        copy_example(configs, name, error);
    else
        list(configs);
    free(configs);
    free(shipped);
    return error->status;
}
