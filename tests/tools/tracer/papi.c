/* papi.c - a stand-in for libpapi in tests: two counters that grow by 1000 and by 7 each time they are read.
 */
int PAPI_library_init(int version);
int PAPI_thread_init(unsigned long (*id)(void));
int PAPI_create_eventset(int *set);
int PAPI_add_named_event(int set, const char *name);
int PAPI_start(int set);
int PAPI_read(int set, long long *value);

static int events;
static long long reads;

int PAPI_library_init(int version)
{
    return version;
}

int PAPI_thread_init(unsigned long (*id)(void))
{
    return id ? 0 : -1;
}

int PAPI_create_eventset(int *set)
{
    *set = 1;
    return 0;
}

int PAPI_add_named_event(int set, const char *name)
{
    if (set != 1 || name[0] != 'P')
        return -7;
    events++;
    return 0;
}

int PAPI_start(int set)
{
    return set == 1 && events > 0 ? 0 : -1;
}

int PAPI_read(int set, long long *value)
{
    reads++;
    for (int i = 0; i < events; i++)
        value[i] = reads * (i == 0 ? 1000 : 7);
    return set == 1 ? 0 : -1;
}
