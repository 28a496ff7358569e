/* counters.c - hardware counters of computations, by PAPI where it is installed: MARSTRACE_COUNTERS names up
 * to four events, separated by commas ("PAPI_TOT_INS,PAPI_L3_TCM").
 *
 * The library is loaded by name when it is asked for, so that nothing needs it at build time, and what is
 * used of it is declared here. Each thread has a set of events of its own. They are read when the program
 * calls MPI and when it continues.
 */
#include "trc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PAPI_NULL (-1)

unsigned trc_counters;

static struct {
    char names[512];
    int (*library_init)(int version);
    int (*thread_init)(unsigned long (*id)(void));
    int (*create_eventset)(int *set);
    int (*add_named_event)(int set, const char *name);
    int (*start)(int set);
    int (*read)(int set, long long *value);
} papi;

static bool found(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

/* PAPI_library_init is to be given the version of its header: of those there are, one is right. */
static bool initialised(void)
{
    for (int major = 7; major >= 5; major--)
        for (int minor = 9; minor >= 0; minor--)
            if (papi.library_init(major << 24 | minor << 16) == (major << 24 | minor << 16))
                return true;
    return false;
}

static bool papi_load(const char *name)
{
    void *library = dlopen(name, RTLD_NOW);
    return library && found(library, "PAPI_library_init", &papi.library_init) &&
           found(library, "PAPI_thread_init", &papi.thread_init) &&
           found(library, "PAPI_create_eventset", &papi.create_eventset) &&
           found(library, "PAPI_add_named_event", &papi.add_named_event) &&
           found(library, "PAPI_start", &papi.start) && found(library, "PAPI_read", &papi.read) &&
           initialised() && papi.thread_init((unsigned long (*)(void))pthread_self) == 0;
}

/* A set with all events; PAPI_NULL: one of them is not there. */
static int set_make(void)
{
    char names[sizeof papi.names], *rest = names;
    int set = PAPI_NULL;
    if (papi.create_eventset(&set) != 0)
        return PAPI_NULL;
    memcpy(names, papi.names, sizeof names);
    for (char *name; (name = strsep(&rest, ","));)
        if (papi.add_named_event(set, name) != 0) {
            trc_warn("PAPI does not count %s here", name);
            return PAPI_NULL;
        }
    return papi.start(set) == 0 ? set : PAPI_NULL;
}

void trc_counters_begin(void)
{
    const char *names = getenv("MARSTRACE_COUNTERS"), *library = getenv("MARSTRACE_PAPI");
    unsigned count = 1;
    if (!names || !*names || strlen(names) >= sizeof papi.names)
        return;
    for (const char *c = names; *c; c++)
        count += *c == ',';
    if (count > MARS_COUNTERS) {
        trc_warn("MARSTRACE_COUNTERS: at most %d events; none are counted", MARS_COUNTERS);
        return;
    }
    strcpy(papi.names, names);
    if (library ? papi_load(library)
                : papi_load("libpapi.so") || papi_load("libpapi.so.7") || papi_load("libpapi.so.6"))
        trc_counters = count;
    else
        trc_warn("MARSTRACE_COUNTERS: PAPI is not there, or counts nothing; none are counted");
}

const char *trc_counters_names(void)
{
    return papi.names;
}

void trc_counters_thread(struct trc_thread *t)
{
    if (!trc_counters)
        return;
    t->counters = set_make();
    t->counts = t->counters != PAPI_NULL;
}

static void counters_read(const struct trc_thread *t, uint64_t *to)
{
    long long value[MARS_COUNTERS] = {0};
    papi.read(t->counters, value);
    for (unsigned i = 0; i < trc_counters; i++)
        to[i] = (uint64_t)value[i];
}

void trc_counters_entered(struct trc_thread *t)
{
    counters_read(t, t->counted);
    for (unsigned i = 0; i < trc_counters; i++)
        t->counted[i] = t->counted[i] > t->counts_back[i] ? t->counted[i] - t->counts_back[i] : 0;
}

void trc_counters_back(struct trc_thread *t)
{
    counters_read(t, t->counts_back);
}
