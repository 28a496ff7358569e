/* marstrace.c - runs a program under the tracer, and what can be done with its trace: merge, list.
 *
 * Running is: find the library made for the MPI that the program is linked with, name it in LD_PRELOAD, and
 * become the program. What the library is to do is passed in the environment.
 */
#define _GNU_SOURCE
#include "tools/tracer/marstrace.h"
#include "tools/tracer/region.h"

#include <argp.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER "trace" /* not as this program, which may lie there */

enum { KEY_MERGE = 256, KEY_LIST, KEY_RESOLUTION, KEY_CLOCK, KEY_LEVEL, KEY_REGION, KEY_IO, KEY_FIRST };

struct settings {
    const char *output, *merge, *list, *resolution, *clock, *region, *first;
    bool profile, io;
    int jobs, level;
    char **program;
};

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "PATH", 0,
     "folder for the trace (" FOLDER "); with --merge and --list: the file to write", 0},
    {"profile", 'p', 0, 0,
     "calls, bytes and time of each task and function, written to profile.csv in the folder when the program "
     "ends (of a trace: marsconv --stats)",
     0},
    {"io", KEY_IO, 0, 0, "record POSIX input and output, too", 0},
    {"resolution", KEY_RESOLUTION, "TIME", 0, "of all times: 1ns (default), 100ns, 1us, ...", 0},
    {"clock", KEY_CLOCK, "CLOCK", 0, "cpu (default): wall and CPU time of computations; wall: wall time only",
     0},
    {"region", KEY_REGION, "PART", 0,
     "record a part only, the same at all tasks: A-B, from the A-th to the B-th collective on "
     "MPI_COMM_WORLD; "
     "MPI_NAME:A-B, such calls; As-Bs, seconds; pcontrol, from MPI_Pcontrol(1) to MPI_Pcontrol(0)",
     0},
    {"first", KEY_FIRST, "N", 0,
     "this is a further world of the trace in the folder, whose first task has number N: programs that are "
     "started apart and connect",
     0},
    {"merge", KEY_MERGE, "FOLDER", 0, "make one file (-o) of a folder's", 0},
    {"jobs", 'j', "N", 0, "threads for --merge (one for each processor)", 0},
    {"level", KEY_LEVEL, "N", 0, "how hard --merge packs: 1 to 19 (15)", 0},
    {"list", KEY_LIST, "TRACE", 0, "print the calls of a trace as text", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct settings *settings = state->input;
    switch (key) {
    case 'o':
        settings->output = argument;
        return 0;
    case 'p':
        settings->profile = true;
        return 0;
    case 'j':
        settings->jobs = atoi(argument);
        return 0;
    case KEY_LEVEL:
        settings->level = atoi(argument);
        return 0;
    case KEY_IO:
        settings->io = true;
        return 0;
    case KEY_RESOLUTION:
        settings->resolution = argument;
        return 0;
    case KEY_REGION:
        settings->region = argument;
        return 0;
    case KEY_FIRST:
        settings->first = argument;
        return 0;
    case KEY_CLOCK:
        settings->clock = argument;
        return 0;
    case KEY_MERGE:
        settings->merge = argument;
        return 0;
    case KEY_LIST:
        settings->list = argument;
        return 0;
    case ARGP_KEY_ARGS:
        settings->program = state->argv + state->next;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int complain(const char *format, const char *what, const char *why)
{
    fprintf(stderr, "marstrace: error: ");
    fprintf(stderr, format, what, why);
    fputc('\n', stderr);
    return 2;
}

/* Nanoseconds of "100ns", "1us", "2 ms"; 0: it is none. */
static unsigned long long resolution_ns(const char *text)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double value = strtod(text, &end);
    while (*end == ' ')
        end++;
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(end, units[i].unit) == 0 && value * units[i].ns >= 1 && value * units[i].ns <= 1e9)
            return (unsigned long long)(value * units[i].ns);
    return 0;
}

static bool is_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    return end != text && *end == 0 && number >= 1 && number <= 16000000;
}

/* ---- which library ---- */

/* The file that would be run. */
static bool program_path(const char *name, char path[PATH_MAX])
{
    char *paths = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin"), *rest = paths;
    bool found = false;
    if (strchr(name, '/')) {
        found = snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && access(path, X_OK) == 0;
    } else {
        for (char *part; !found && paths && (part = strsep(&rest, ":"));)
            found = snprintf(path, PATH_MAX, "%s/%s", *part ? part : ".", name) < PATH_MAX &&
                    access(path, X_OK) == 0;
    }
    free(paths);
    return found;
}

/* The loader of a dynamically linked program: empty for scripts and for programs without one. */
static void loader_of(const char *path, char loader[PATH_MAX])
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    loader[0] = 0;
    if (file >= 0 && read(file, &head, sizeof head) == sizeof head &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64)
        for (unsigned i = 0; i < head.e_phnum; i++)
            if (pread(file, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) == sizeof part &&
                part.p_type == PT_INTERP && part.p_filesz < PATH_MAX) {
                ssize_t got = pread(file, loader, part.p_filesz, (off_t)part.p_offset);
                loader[got > 0 ? got : 0] = 0;
            }
    if (file >= 0)
        close(file);
}

/* What the program is linked with, as its loader lists it. */
static bool linked_with(const char *loader, const char *path, char *list, size_t room)
{
    int ends[2], status;
    size_t have = 0;
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        execl(loader, loader, "--list", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got;
         child > 0 && have + 1 < room && (got = read(ends[0], list + have, room - 1 - have)) > 0;)
        have += (size_t)got;
    close(ends[0]);
    list[have] = 0;
    return child > 0 && waitpid(child, &status, 0) == child && have > 0;
}

static const char *library_for(const char *path)
{
    static char list[1 << 16];
    char loader[PATH_MAX];
    loader_of(path, loader);
    if (loader[0] && linked_with(loader, path, list, sizeof list)) {
        if (strstr(list, "libmpi.so.40") || strstr(list, "libmpi.so.20"))
            return "libmarstrace.so";
        if (strstr(list, "libmpich.so") || strstr(list, "libmpi.so.12"))
            return "libmarstrace-mpich.so";
    }
    if (getenv("OMPI_COMM_WORLD_SIZE"))
        return "libmarstrace.so";
    return getenv("PMI_SIZE") || getenv("PMI_RANK") ? "libmarstrace-mpich.so" : "libmarstrace.so";
}

/* Beside this program, or where it is installed. */
static bool library_path(const char *name, char path[PATH_MAX])
{
    static const char *const places[] = {"%s/%s", "%s/../lib/%s"};
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = 0;
    for (unsigned i = 0; i < 2; i++)
        if (snprintf(path, PATH_MAX, places[i], own, name) < PATH_MAX && access(path, R_OK) == 0)
            return true;
    return false;
}

/* Programs may go to other folders before MPI_Init, and later. */
static void folder_tell(const char *folder)
{
    char here[PATH_MAX], whole[2 * PATH_MAX];
    if (folder[0] != '/' && getcwd(here, sizeof here) &&
        (size_t)snprintf(whole, sizeof whole, "%s/%s", here, folder) < sizeof whole)
        folder = whole;
    setenv("MARSTRACE_DIR", folder, 1);
}

static int run(const struct settings *settings)
{
    char path[PATH_MAX], library[PATH_MAX], io[PATH_MAX] = "", *preload, text[32];
    const char *others = getenv("LD_PRELOAD");
    if (!program_path(settings->program[0], path))
        return complain("%s: %s", settings->program[0], "there is no such program");
    const char *name = library_for(path);
    if (!library_path(name, library))
        return complain("%s: %s", name,
                        "not found beside marstrace nor in ../lib; was it built for this MPI?");
    if (settings->io && !library_path("libmarstrace-io.so", io))
        return complain("%s: %s", "libmarstrace-io.so", "not found beside marstrace nor in ../lib");
    if (asprintf(&preload, "%s%s%s%s%s", io, io[0] ? ":" : "", library, others ? ":" : "",
                 others ? others : "") < 0)
        return complain("%s: %s", name, "no memory");
    setenv("LD_PRELOAD", preload, 1);
    folder_tell(settings->output ? settings->output : FOLDER);
    if (settings->profile)
        setenv("MARSTRACE_PROFILE", "1", 1);
    if (settings->io)
        setenv("MARSTRACE_IO", "1", 1);
    if (settings->clock)
        setenv("MARSTRACE_CLOCK", settings->clock, 1);
    if (settings->region)
        setenv("MARSTRACE_REGION", settings->region, 1);
    if (settings->first)
        setenv("MARSTRACE_FIRST", settings->first, 1);
    if (settings->resolution) {
        snprintf(text, sizeof text, "%llu", resolution_ns(settings->resolution));
        setenv("MARSTRACE_RESOLUTION", text, 1);
    }
    execv(path, settings->program);
    return complain("%s: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
    struct settings settings = {.level = 15};
    static const struct argp argp = {
        OPTIONS, parse, "PROGRAM [ARGUMENT...]\n--merge FOLDER -o FILE\n--list TRACE",
        "Records every MPI call of a program (mpirun -n N marstrace ./program), for marssim to replay."};
    argp_program_version = "marstrace of marssim";
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &settings) != 0)
        return 2;
    if (settings.resolution && resolution_ns(settings.resolution) == 0)
        return complain("--resolution %s: %s", settings.resolution, "expected 1ns to 1s, like 100ns or 1us");
    if (settings.clock && strcmp(settings.clock, "cpu") != 0 && strcmp(settings.clock, "wall") != 0)
        return complain("--clock %s: %s", settings.clock, "expected cpu or wall");
    if (settings.first && !is_number(settings.first))
        return complain("--first %s: %s", settings.first, "expected the number of a task, 1 to 16000000");
    struct trc_region region;
    if (settings.region && !trc_region_parse(settings.region, &region))
        return complain("--region %s: %s", settings.region,
                        "expected pcontrol, A-B, MPI_NAME:A-B or As-Bs, like 100-200 or 10s-20s");
    if (settings.merge)
        return trc_merge(settings.merge, settings.output, settings.jobs, settings.level);
    if (settings.list)
        return trc_list(settings.list, settings.output);
    if (!settings.program || !settings.program[0])
        return complain("%s%s", "what is to be run? ", "see marstrace --help");
    if (settings.profile && mars_trace_known(settings.program[0]))
        return complain("--profile %s: %s", settings.program[0],
                        "that is a trace: marsconv --stats --json prints its calls, bytes and times");
    return run(&settings);
}
