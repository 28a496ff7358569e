/* start.c - from MPI_Init to MPI_Finalize: the task's file, its threads, and what is said about the trace.
 *
 * The wrappers of MPI_Init and its like are written here by hand, since before and after them nothing may be
 * asked of MPI.
 */
#define _GNU_SOURCE
#include "trc.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct trc_process trc = {.file = -1};
__thread struct trc_thread *trc_me __attribute__((tls_model("initial-exec")));

void trc_warn(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "marstrace: task %d: %s\n", trc.rank, text);
}

void *trc_grow(void *old, size_t *room, size_t bytes)
{
    size_t more = *room * 2 > bytes ? *room * 2 : bytes;
    void *larger = realloc(old, more);
    if (!larger) {
        trc_warn("no memory (%zu bytes); recording ends", more);
        trc.on = false;
        return old;
    }
    *room = more;
    return larger;
}

static void spin(int *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

void trc_lock(void)
{
    if (trc.many)
        spin(&trc.lock);
}

void trc_unlock(void)
{
    if (trc.many)
        __atomic_store_n(&trc.lock, 0, __ATOMIC_RELEASE);
}

void trc_define(unsigned kind, const uint8_t *data, size_t bytes)
{
    static int lock;
    spin(&lock);
    if (trc.definitions)
        mars_writer_define(trc.definitions, kind, data, bytes);
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

void trc_info(const char *key, const char *format, ...)
{
    char text[4096];
    int length = snprintf(text, sizeof text, "%s=", key);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    trc_define(MARS_DEFINE_INFO, (const uint8_t *)text, strlen(text));
}

/* ---- threads ---- */

static struct mars_writer *writer_new(unsigned thread)
{
    struct mars_writer_setup setup = {.file = trc.file,
                                      .path = trc.path,
                                      .task = (uint32_t)trc.rank,
                                      .thread = (uint16_t)thread,
                                      .resolution_ns = trc.resolution_ns,
                                      .counters = trc_counters,
                                      .level = 3};
    return mars_writer_new(&setup);
}

struct trc_thread *trc_thread_begin(void)
{
    static int lock;
    static struct trc_thread *first;
    if (!trc.on)
        return NULL;
    int64_t seen = trc_wall(), ran = trc_clock_ran();
    struct trc_thread *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    spin(&lock);
    t->thread = trc.thread_count;
    t->writer = trc.thread_count < MARS_DEFINITIONS ? writer_new(trc.thread_count) : NULL;
    trc.thread_count += t->writer != NULL;
    for (struct trc_thread *other = trc.threads; other; other = other->next)
        trc_light_revoke(other);
    t->next = trc.threads;
    trc.threads = t;
    if (t->thread == 0)
        first = t;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    if (!t->writer) {
        t->off = true;
        trc_warn("a thread cannot be recorded: %s", strerror(errno));
    }
    t->ran = -1;
    pthread_getcpuclockid(pthread_self(), &t->cpu);
    trc_me = t;
    trc_counters_thread(t);
    trc_clock_begin(t);
    if (t->writer && t->thread > 0)
        trc_thread_follow(t, first, seen, ran);
    return t;
}

/* ---- the task's file ---- */

/* The rank as the launcher gives it before MPI_Init: -1, it does not. */
static int rank_early(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return -1;
}

static void files_remove(const char *pattern, int from)
{
    char path[4096];
    glob_t found;
    const char *folder = getenv("MARSTRACE_DIR");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "trace", pattern);
    if (glob(path, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        if (name[0] == '.' || atoi(name + strlen("task-")) >= from)
            unlink(found.gl_pathv[i]);
    }
    globfree(&found);
}

/* Of what an earlier run has left nothing shall be taken for a part of this one. It is removed by rank 0 of
 * the first world, before MPI_Init, which no task leaves before all have come to it: behind it others may
 * have begun, or even spawned some. Where the launcher does not give the rank, files of tasks that there are
 * not are removed behind it. */
static void folder_clean(int rank, int from)
{
    if (rank != 0 || trc_spawn_first() > 0)
        return;
    files_remove(".spawned", 0);
    files_remove(".port-*", 0);
    files_remove("task-*.mars", from);
    files_remove("task-*.mars.open-*", from);
}

static bool file_begin(void)
{
    uint8_t head[MARS_HEAD_BYTES];
    char own[64];
    mkdir(trc.folder, 0777);
    snprintf(own, sizeof own, "task-%06d.mars.open-*", trc.rank);
    files_remove(own, 0);
    if (asprintf(&trc.path, "%s/task-%06d.mars", trc.folder, trc.rank) < 0)
        return false;
    trc.file = open(trc.path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    mars_head_put(head, MARS_FILE_TASK);
    if (trc.file < 0 || write(trc.file, head, sizeof head) != sizeof head)
        return false;
    trc.definitions = writer_new(MARS_DEFINITIONS);
    return trc.definitions != NULL;
}

/* tsc_hz: ticks a second of the processor's counter, 0: it is not read. */
static void infos(uint64_t tsc_hz)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = 0;
    trc_info("tasks", "%d", trc.size);
    trc_info("resolution_ns", "%llu", (unsigned long long)trc.resolution_ns);
    trc_info("clock", "%s", trc_clock_way());
    if (tsc_hz)
        trc_info("tsc_hz", "%llu", (unsigned long long)tsc_hz);
    if (trc_counters)
        trc_info("counters", "%s", trc_counters_names());
    trc_info("library", "%s", library);
    trc_info("program", "%s", program_invocation_short_name);
    trc_info("threads", "%s", trc.many ? "multiple" : "one at a time");
}

static void settings(void)
{
    const char *folder = getenv("MARSTRACE_DIR"), *clock = getenv("MARSTRACE_CLOCK"),
               *resolution = getenv("MARSTRACE_RESOLUTION");
    trc.folder = folder ? strdup(folder) : "trace";
    trc.two_clocks = !clock || strcmp(clock, "wall") != 0;
    trc.profile = getenv("MARSTRACE_PROFILE") != NULL;
    trc.io = getenv("MARSTRACE_IO") != NULL;
    trc.resolution_ns = resolution ? strtoull(resolution, NULL, 10) : 1;
    if (trc.resolution_ns < 1 || trc.resolution_ns > 1000000000)
        trc.resolution_ns = 1;
}

/* What a child does is none of the task's. */
static void forked(void)
{
    trc.on = false;
}

/* MPI is there: the first call is recorded, which took `ns`. */
static void begin(unsigned function, int64_t ns, int result)
{
    int given = MPI_THREAD_SINGLE;
    const intptr_t none[1] = {0};
    if (result != MPI_SUCCESS || trc.on || trc.file >= 0)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &trc.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &trc.size);
    if (rank_early() < 0)
        folder_clean(trc.rank, trc.size);
    trc.first = trc_spawn_first();
    trc.rank += trc.first;
    PMPI_Query_thread(&given);
    trc.many = given == MPI_THREAD_MULTIPLE;
    trc.pid = getpid();
    settings();
    trc_counters_begin();
    if (!file_begin()) {
        trc_warn("%s: %s; this task is not recorded", trc.path ? trc.path : trc.folder, strerror(errno));
        return;
    }
    uint64_t tsc_hz = trc_wall_begin();
    trc.on = true;
    pthread_atfork(NULL, NULL, forked);
    struct trc_thread *t = trc_thread_begin();
    infos(tsc_hz);
    trc.tsc = tsc_hz > 0;
    trc_handles_begin();
    trc_spawn_begin();
    if (!t)
        return;
    trc_threads_begin(t);
    t->inside = true;
    t->enter = t->back = trc_wall();
    t->away = 0;
    t->returned = t->enter;
    t->called = t->enter - ns;
    trc_record(t, function, none, result);
    trc_region_begin();
}

static void end_block(void)
{
    struct mars_block block = {.kind = MARS_BLOCK_END, .task = (uint32_t)trc.rank};
    uint8_t header[MARS_BLOCK_BYTES];
    mars_block_put(header, &block);
    if (write(trc.file, header, sizeof header) != sizeof header)
        trc_warn("%s: %s", trc.path, strerror(errno));
}

/* All that has been recorded is written to the file; `ended`: the program came to its end. */
static void finish(bool ended)
{
    bool fine = true;
    if (!trc.on)
        return;
    trc_threads_end();
    trc.on = false;
    for (struct trc_thread *t = trc.threads; t; t = t->next) {
        t->off = true;
        if (!t->writer)
            continue;
        if (t == trc_me && t->light) { /* it ended between polls that are not timed */
            trc_clock_entered(t);
            trc_light_over(t);
        }
        trc_polls_write(t);
        fine &= mars_writer_close(t->writer);
        t->writer = NULL;
    }
    if (trc.tsc)
        trc_info("tsc_off_ns", "%lld", (long long)trc_wall_off());
    fine &= mars_writer_close(trc.definitions);
    trc.definitions = NULL;
    if (ended && fine)
        end_block();
    if (close(trc.file) != 0 || !fine)
        trc_warn("%s: could not be written to the end: %s", trc.path, strerror(errno));
}

/* A program that ends without MPI_Finalize. */
__attribute__((destructor)) static void unloaded(void)
{
    if (trc.on && trc.pid == getpid())
        finish(false);
}

/* ---- by hand ---- */

static int64_t init_enter(void)
{
    if (!trc.on)
        folder_clean(rank_early(), 0);
    return trc_wall();
}

TRC_EXPORT int MPI_Init(int *argc, char ***argv)
{
    int64_t start = init_enter();
    int result = PMPI_Init(argc, argv);
    begin(TRC_Init, trc_wall() - start, result);
    return result;
}

TRC_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int64_t start = init_enter();
    int result = PMPI_Init_thread(argc, argv, required, provided);
    begin(TRC_Init_thread, trc_wall() - start, result);
    return result;
}

#if MPI_VERSION >= 4
/* Before MPI_Init there is no world whose tasks have numbers. */
int trc_MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    static bool warned;
    if (!trc.on && trc.file < 0 && !warned && rank_early() <= 0)
        trc_warn("MPI_Session_init before MPI_Init: nothing is recorded until the program calls MPI_Init");
    warned = true;
    return PMPI_Session_init(info, handler, session);
}
#endif

/* The program's part is over when it calls; what we do here is not its computation. */
static __attribute__((noinline)) struct trc_thread *finalize_enter(void)
{
    struct trc_thread *t = trc_enter_from(TRC_Finalize, TRC_CALLER);
    if (t && trc.profile) {
        t->sum[TRC_Finalize].calls++; /* its time is not known yet */
        trc_profile_gather();
    }
    if (t)
        t->called = trc_wall();
    return t;
}

TRC_EXPORT int MPI_Finalize(void)
{
    const intptr_t none[1] = {0};
    struct trc_thread *t = finalize_enter();
    int result = PMPI_Finalize();
    if (t) {
        trc_after(t, TRC_Finalize, none, MPI_SUCCESS);
        finish(true);
    }
    return result;
}

TRC_EXPORT int MPI_Abort(MPI_Comm comm, int code)
{
    struct trc_thread *t = trc_enter(TRC_Abort);
    const intptr_t a[] = {(intptr_t)comm, code};
    if (t) {
        trc_after(t, TRC_Abort, a, MPI_SUCCESS);
        finish(false);
    }
    return PMPI_Abort(comm, code);
}

TRC_EXPORT int MPI_Pcontrol(const int level, ...)
{
    struct trc_thread *t = trc_enter(TRC_Pcontrol);
    const intptr_t a[] = {level};
    if (t)
        trc_after(t, TRC_Pcontrol, a, MPI_SUCCESS);
    return MPI_SUCCESS;
}

#ifdef MPICH_VERSION /* as in generate.awk */
#define pmpi_init_f08_ pmpir_init_f08_
#define pmpi_init_thread_f08_ pmpir_init_thread_f08_
#define pmpi_finalize_f08_ pmpir_finalize_f08_
#endif
extern __attribute__((weak)) void pmpi_init_(void *ierror), pmpi_init_f08_(void *ierror);
extern __attribute__((weak)) void pmpi_init_thread_(void *required, void *provided, void *ierror),
    pmpi_init_thread_f08_(void *required, void *provided, void *ierror);
extern __attribute__((weak)) void pmpi_finalize_(void *ierror), pmpi_finalize_f08_(void *ierror);
TRC_EXPORT void mpi_init_(void *ierror), mpi_init_f08_(void *ierror), mpi_finalize_(void *ierror),
    mpi_finalize_f08_(void *ierror), mpi_init_thread_(void *required, void *provided, void *ierror),
    mpi_init_thread_f08_(void *required, void *provided, void *ierror),
    mpi_abort_(void *comm, void *code, void *ierror), mpi_abort_f08_(void *comm, void *code, void *ierror),
    mpi_pcontrol_(void *level), mpi_pcontrol_f08_(void *level);

#define INIT(NAME, PROFILED)                                                                                 \
    void mpi_##NAME(void *ierror)                                                                            \
    {                                                                                                        \
        int64_t start = init_enter();                                                                        \
        PROFILED(ierror);                                                                                    \
        begin(TRC_Init, trc_wall() - start, MPI_SUCCESS);                                                    \
    }
INIT(init_, pmpi_init_)
INIT(init_f08_, pmpi_init_f08_)

#define INIT_THREAD(NAME, PROFILED)                                                                          \
    void mpi_##NAME(void *required, void *provided, void *ierror)                                            \
    {                                                                                                        \
        int64_t start = init_enter();                                                                        \
        PROFILED(required, provided, ierror);                                                                \
        begin(TRC_Init_thread, trc_wall() - start, MPI_SUCCESS);                                             \
    }
INIT_THREAD(init_thread_, pmpi_init_thread_)
INIT_THREAD(init_thread_f08_, pmpi_init_thread_f08_)

#define FINALIZE(NAME, PROFILED)                                                                             \
    void mpi_##NAME(void *ierror)                                                                            \
    {                                                                                                        \
        const intptr_t none[1] = {0};                                                                        \
        struct trc_thread *t = finalize_enter();                                                             \
        PROFILED(ierror);                                                                                    \
        if (t) {                                                                                             \
            trc_after(t, TRC_Finalize, none, MPI_SUCCESS);                                                   \
            finish(true);                                                                                    \
        }                                                                                                    \
    }
FINALIZE(finalize_, pmpi_finalize_)
FINALIZE(finalize_f08_, pmpi_finalize_f08_)

#define ABORT(NAME)                                                                                          \
    void mpi_##NAME(void *comm, void *code, void *ierror)                                                    \
    {                                                                                                        \
        MPI_Abort(PMPI_Comm_f2c(*(MPI_Fint *)comm), *(int *)code);                                           \
    }
ABORT(abort_)
ABORT(abort_f08_)

void mpi_pcontrol_(void *level)
{
    MPI_Pcontrol(*(int *)level);
}

void mpi_pcontrol_f08_(void *level)
{
    MPI_Pcontrol(*(int *)level);
}
