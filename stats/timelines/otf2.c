/* otf2.c - timeline-otf2/traces.otf2, in the Open Trace Format 2: for Vampir, Scalasca, and otf2-print.
 *
 * A job is a process group, each thread of a chosen task a location. Calls, computations ("compute") and
 * waits
 * ("waiting") are regions, waits inside their calls; messages are MPI sends and receives on the communicator
 * of the job, where a task's rank is its number among the chosen tasks, and have the communicator's number as
 * an attribute. Links are locations of one group, their states regions. A tick is a picosecond. The library
 * writes; whatever the time of day would say is 0.
 *
 * The budget. How long an event is follows from the format (compressed integers); when their sum is above the
 * budget no more is written, only counted. In the end the files are measured as they are.
 */
#include "stats/timelines/format.h"

#ifdef MARSSIM_OTF2

#include <dirent.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "timeline-otf2"
#define CHUNK (1u << 18)     /* the least that the library takes */
#define LOCATION_BYTES 400   /* files of a location without events, and what is said of it */
#define FIXED_BYTES 4096     /* regions and the like */
#define TICKS 1000000000000u /* a second */
enum {
    STRING_EMPTY,
    STRING_COMPUTE,
    STRING_WAITING,
    STRING_LINK, /* and the other states of links */
    STRING_COMM = STRING_LINK + STATS_LINK_STATES,
    STRING_MACHINE,
    STRING_LOCATIONS,
    STRINGS
};
enum { REGION_COMPUTE, REGION_WAITING, REGION_LINK, REGIONS = REGION_LINK + STATS_LINK_STATES };
enum { GROUP_LOCATIONS, GROUPS };

struct place { /* a location */
    OTF2_EvtWriter *events;
    uint64_t last, count; /* its last time + 1, its events */
    uint32_t rank;        /* in its job's communicator */
};
struct line_writer {
    const struct line_plan *plan;
    OTF2_Archive *archive;
    char *path;
    struct place *place; /* by location */
    uint32_t *location;  /* by task: of its first thread, + 1; 0: it is not chosen */
    uint32_t locations;
    uint64_t bytes, most;
    OTF2_AttributeList *attributes;
    bool failed;
};

/* ---- the folder ---- */

static char *path_of(const char *folder, const char *name)
{
    return ker_format("%s/" FOLDER "%s%s", folder, *name ? "/" : "", name);
}

/* Does it look like a file of an archive? Others are not touched. */
static bool is_ours(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits && (strcmp(name + digits, ".evt") == 0 || strcmp(name + digits, ".def") == 0);
}

/* Removes the files, or measures them. */
static uint64_t folder_walk(const char *path, bool removes)
{
    DIR *list = opendir(path);
    uint64_t bytes = 0;
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        char *file = ker_format("%s/%s", path, entry->d_name);
        bool ours = is_ours(entry->d_name) || strcmp(entry->d_name, "traces.def") == 0 ||
                    strcmp(entry->d_name, "traces.otf2") == 0;
        FILE *in = ours && !removes ? fopen(file, "r") : NULL;
        if (ours && removes)
            unlink(file);
        if (in && fseek(in, 0, SEEK_END) == 0)
            bytes += (uint64_t)ftell(in);
        if (in)
            fclose(in);
        free(file);
    }
    if (list)
        closedir(list);
    if (removes)
        rmdir(path);
    return bytes;
}

static uint64_t archive_walk(const char *path, bool removes)
{
    char *within = ker_format("%s/traces", path);
    uint64_t bytes = folder_walk(within, removes) + folder_walk(path, removes);
    free(within);
    return bytes;
}

static void otf2_clear(const char *folder)
{
    char *path = path_of(folder, "");
    archive_walk(path, true);
    free(path);
}

/* ---- definitions ---- */

static uint64_t otf2_least(const struct line_plan *plan)
{
    uint64_t locations = 0;
    for (uint32_t i = 0; i < plan->groups; i++)
        for (uint32_t task = 0; task < plan->group[i].tasks; task++)
            if (line_chosen(plan, plan->group[i].first + task))
                locations += line_streams(plan, &plan->group[i]);
    return FIXED_BYTES + locations * LOCATION_BYTES;
}

static void string_define(OTF2_GlobalDefWriter *g, uint32_t number, const char *text)
{
    OTF2_GlobalDefWriter_WriteString(g, number, text);
}

/* A region as it is in STRINGS, or a function. */
static void region_define(OTF2_GlobalDefWriter *g, uint32_t region)
{
    uint32_t name = region < REGIONS ? STRING_COMPUTE + region : STRINGS + region - REGIONS;
    OTF2_Paradigm paradigm = region >= REGIONS       ? OTF2_PARADIGM_MPI
                             : region >= REGION_LINK ? OTF2_PARADIGM_HARDWARE
                                                     : OTF2_PARADIGM_USER;
    OTF2_GlobalDefWriter_WriteRegion(g, region, name, name, STRING_EMPTY, OTF2_REGION_ROLE_FUNCTION, paradigm,
                                     OTF2_REGION_FLAG_NONE, STRING_EMPTY, 0, 0);
}

static void regions_define(const struct line_writer *w, OTF2_GlobalDefWriter *g)
{
    static const char *const own[STRINGS] = {"",        "compute", "waiting", [STRING_COMM] = "communicator",
                                             "machine", "MPI"};
    const struct line_plan *plan = w->plan;
    for (uint32_t i = 0; i < STRINGS; i++)
        string_define(g, i, own[i] ? own[i] : stats_link_state_name[i - STRING_LINK]);
    for (uint32_t i = 0; i < plan->names; i++)
        string_define(g, STRINGS + i, plan->name[i]);
    for (uint32_t i = 0; i < REGIONS + plan->names; i++)
        region_define(g, i);
    OTF2_GlobalDefWriter_WriteAttribute(g, 0, STRING_COMM, STRING_EMPTY, OTF2_TYPE_INT32);
}

/* The number of the next string, and of the next group of locations. */
struct numbers {
    uint32_t string, process;
};

static void process_define(OTF2_GlobalDefWriter *g, const struct numbers *n, const char *name)
{
    string_define(g, n->string, name);
    OTF2_GlobalDefWriter_WriteLocationGroup(g, n->process, n->string, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                            OTF2_UNDEFINED_LOCATION_GROUP);
}

/* The tasks of a job, as processes with their threads. */
static void tasks_define(const struct line_writer *w, OTF2_GlobalDefWriter *g, const struct line_group *group,
                         struct numbers *n)
{
    uint32_t streams = w->plan->streams;
    for (uint32_t task = 0; task < group->tasks; task++) {
        if (!w->location[group->first + task])
            continue;
        char *name = ker_format("%s%s task %u", group->name, group->traced ? " (traced)" : "", task);
        uint32_t first = w->location[group->first + task] - 1;
        process_define(g, n, name);
        for (uint32_t stream = 0; stream < streams; stream++, n->string++) {
            char *thread = ker_format("%s, thread %u", name, stream);
            if (stream)
                string_define(g, n->string, thread);
            OTF2_GlobalDefWriter_WriteLocation(g, first + stream, n->string, OTF2_LOCATION_TYPE_CPU_THREAD,
                                               w->place[first + stream].count, n->process);
            free(thread);
        }
        n->process++;
        free(name);
    }
}

/* All links are in one group; of the types of locations only this one may have regions. */
static void links_define(const struct line_writer *w, OTF2_GlobalDefWriter *g, const struct line_group *group,
                         struct numbers *n)
{
    process_define(g, n, group->name);
    n->string++;
    for (uint32_t i = 0; i < group->tasks; i++, n->string++) {
        uint32_t location = w->location[group->first + i] - 1;
        string_define(g, n->string, group->link[i]);
        OTF2_GlobalDefWriter_WriteLocation(g, location, n->string, OTF2_LOCATION_TYPE_CPU_THREAD,
                                           w->place[location].count, n->process);
    }
    n->process++;
}

/* A group's members are numbers among the locations that talk by MPI: here the first thread of each task. */
static void communicators_define(const struct line_writer *w, OTF2_GlobalDefWriter *g, uint32_t *string)
{
    const struct line_plan *plan = w->plan;
    uint64_t *member = ker_alloc(((size_t)plan->tasks + 1) * sizeof *member);
    uint32_t members = 0, before = 0;
    uint32_t tasks = line_has_links(plan) ? plan->group[plan->groups - 1].first : plan->tasks;
    for (uint32_t task = 0; task < tasks; task++)
        if (w->location[task])
            member[members++] = w->location[task] - 1;
    OTF2_GlobalDefWriter_WriteGroup(g, GROUP_LOCATIONS, STRING_LOCATIONS, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, members, member);
    for (uint32_t i = 0; i < plan->groups && !plan->group[i].link; i++) {
        uint32_t count = 0;
        for (uint32_t task = 0; task < plan->group[i].tasks; task++)
            if (w->location[plan->group[i].first + task])
                member[count++] = before++;
        string_define(g, *string, plan->group[i].name);
        OTF2_GlobalDefWriter_WriteGroup(g, GROUPS + i, *string, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                        OTF2_GROUP_FLAG_NONE, count, member);
        OTF2_GlobalDefWriter_WriteComm(g, i, *string, GROUPS + i, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
        ++*string;
    }
    free(member);
}

static void all_define(const struct line_writer *w)
{
    OTF2_GlobalDefWriter *g = OTF2_Archive_GetGlobalDefWriter(w->archive);
    struct numbers n = {.string = STRINGS + w->plan->names};
    OTF2_GlobalDefWriter_WriteClockProperties(g, TICKS, 0, (uint64_t)w->plan->end + 1, 0);
    regions_define(w, g);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(g, 0, STRING_MACHINE, STRING_MACHINE,
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < w->plan->groups; i++)
        (w->plan->group[i].link ? links_define : tasks_define)(w, g, &w->plan->group[i], &n);
    communicators_define(w, g, &n.string);
    OTF2_Archive_CloseGlobalDefWriter(w->archive, g);
}

/* ---- opening ---- */

static OTF2_FlushType flush_before(void *context, OTF2_FileType type, OTF2_LocationRef location, void *data,
                                   bool final)
{
    return OTF2_FLUSH;
}

static OTF2_TimeStamp flush_behind(void *context, OTF2_FileType type, OTF2_LocationRef location)
{
    return 0;
}

/* What the library has to say is said by us. */
static OTF2_ErrorCode error_keep(void *context, const char *file, uint64_t line, const char *function,
                                 OTF2_ErrorCode code, const char *format, va_list arguments)
{
    return code;
}

static void writer_free(struct line_writer *w)
{
    KER_FREE(w->place, w->location, w->path, w);
}

static void locations_number(struct line_writer *w)
{
    const struct line_plan *plan = w->plan;
    w->location = ker_alloc(((size_t)plan->tasks + 1) * sizeof *w->location);
    for (uint32_t i = 0; i < plan->groups; i++)
        for (uint32_t task = plan->group[i].first; task < plan->group[i].first + plan->group[i].tasks; task++)
            if (line_chosen(plan, task)) {
                w->location[task] = w->locations + 1;
                w->locations += line_streams(plan, &plan->group[i]);
            }
    w->place = ker_alloc(((size_t)w->locations + 1) * sizeof *w->place);
    for (uint32_t i = 0; i < plan->groups; i++)
        for (uint32_t task = 0, rank = 0; task < plan->group[i].tasks; task++)
            if (w->location[plan->group[i].first + task])
                w->place[w->location[plan->group[i].first + task] - 1].rank = rank++;
}

static struct line_writer *otf2_open(const struct line_plan *plan, struct ker_error *error)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = flush_before,
                                              .otf2_post_flush = flush_behind};
    struct line_writer *w = ker_alloc(sizeof *w);
    w->plan = plan;
    w->path = path_of(plan->folder, "");
    w->bytes = otf2_least(plan);
    w->most = plan->bytes;
    locations_number(w);
    otf2_clear(plan->folder);
    OTF2_Error_RegisterCallback(error_keep, NULL);
    w->archive = OTF2_Archive_Open(w->path, "traces", OTF2_FILEMODE_WRITE, CHUNK, CHUNK, OTF2_SUBSTRATE_POSIX,
                                   OTF2_COMPRESSION_NONE);
    if (!w->archive) {
        ker_fail(error, KER_RUN_FAILED, "cannot write %s: the OTF2 library refuses it", w->path);
        writer_free(w);
        return NULL;
    }
    char *note = line_plan_note(plan);
    OTF2_Archive_SetFlushCallbacks(w->archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(w->archive);
    OTF2_Archive_SetCreator(w->archive, "marssim");
    OTF2_Archive_SetDescription(w->archive, note);
    free(note);
    w->failed = OTF2_Archive_OpenEvtFiles(w->archive) != OTF2_SUCCESS;
    for (uint32_t i = 0; i < w->locations && !w->failed; i++)
        w->failed |= !(w->place[i].events = OTF2_Archive_GetEvtWriter(w->archive, i));
    w->attributes = OTF2_AttributeList_New();
    return w;
}

/* ---- events ---- */

/* A length, and the bytes up to the last one that is not 0. */
static uint32_t number_bytes(uint64_t value)
{
    return value ? 1 + (uint32_t)(71 - __builtin_clzll(value)) / 8 : 1;
}

/* Is there room for an event of this many bytes at this time? Times are written where they differ. */
static inline bool event_fits(struct line_writer *w, struct place *place, ker_time time, uint32_t bytes)
{
    uint64_t now = (uint64_t)time + 1;
    w->bytes += bytes + (place->last != now ? 9 : 0);
    if (__builtin_expect(w->bytes > w->most || w->failed, 0))
        return false;
    place->last = now;
    place->count++;
    return true;
}

/* Not inline, as in the other formats: most points are others. */
__attribute__((noinline)) static void message_write(struct line_writer *w, const struct line_record *r,
                                                    bool end)
{
    struct place *from = &w->place[w->location[r->task] - 1],
                 *to = &w->place[w->location[(uint32_t)r->peer] - 1], *here = end ? to : from;
    uint32_t other = end ? from->rank : to->rank;
    uint32_t comm = (uint32_t)(line_group_of(w->plan, r->task) - w->plan->group);
    uint32_t tag = (uint32_t)r->tag,
             attribute = r->comm ? 2 + 1 + 1 + 1 + number_bytes((uint32_t)r->comm) : 0;
    uint32_t bytes =
        2 + number_bytes(other) + number_bytes(comm) + number_bytes(tag) + number_bytes(r->bytes);
    if (!event_fits(w, here, end ? r->end : r->begin, bytes + attribute + 4))
        return;
    OTF2_AttributeList *attributes = r->comm ? w->attributes : NULL;
    if (attributes)
        OTF2_AttributeList_AddInt32(attributes, 0, r->comm);
    OTF2_ErrorCode code =
        end ? OTF2_EvtWriter_MpiRecv(here->events, attributes, (uint64_t)r->end, other, comm, tag, r->bytes)
            : OTF2_EvtWriter_MpiSend(here->events, attributes, (uint64_t)r->begin, other, comm, tag,
                                     r->bytes);
    w->failed |= code != OTF2_SUCCESS;
}

static void otf2_point(struct line_writer *w, const struct line_record *r, bool end)
{
    if (r->kind == LINE_MESSAGE) {
        message_write(w, r, end);
        return;
    }
    struct place *place = &w->place[w->location[r->task] - 1 + r->stream];
    uint32_t region = r->kind == LINE_COMPUTE ? REGION_COMPUTE
                      : r->kind == LINE_WAIT  ? REGION_WAITING
                      : r->kind == LINE_STATE ? REGION_LINK + (uint32_t)r->tag
                                              : (uint32_t)REGIONS + r->name;
    ker_time time = end ? r->end : r->begin;
    if (!event_fits(w, place, time, 2 + number_bytes(region)))
        return;
    OTF2_ErrorCode code = end ? OTF2_EvtWriter_Leave(place->events, NULL, (uint64_t)time, region)
                              : OTF2_EvtWriter_Enter(place->events, NULL, (uint64_t)time, region);
    w->failed |= code != OTF2_SUCCESS;
}

/* ---- closing ---- */

static void archive_close(struct line_writer *w)
{
    for (uint32_t i = 0; i < w->locations; i++)
        if (w->place[i].events)
            w->failed |= OTF2_Archive_CloseEvtWriter(w->archive, w->place[i].events) != OTF2_SUCCESS;
    w->failed |= OTF2_Archive_CloseEvtFiles(w->archive) != OTF2_SUCCESS;
    w->failed |= OTF2_Archive_OpenDefFiles(w->archive) != OTF2_SUCCESS;
    for (uint32_t i = 0; i < w->locations && !w->failed; i++) {
        OTF2_DefWriter *definitions = OTF2_Archive_GetDefWriter(w->archive, i);
        w->failed |= !definitions || OTF2_Archive_CloseDefWriter(w->archive, definitions) != OTF2_SUCCESS;
    }
    w->failed |= OTF2_Archive_CloseDefFiles(w->archive) != OTF2_SUCCESS;
    all_define(w);
    w->failed |= OTF2_Archive_Close(w->archive) != OTF2_SUCCESS;
}

/* The number by which the library distinguishes archives is drawn from the clock; equal runs get equal ones.
 */
static bool id_settle(const struct line_writer *w)
{
    char *path = path_of(w->plan->folder, "traces.otf2"), text[8192];
    uint64_t drawn = 0, id = ker_hash(ker_hash(w->plan->records) + w->bytes) + (uint64_t)w->plan->end;
    OTF2_Reader *reader = OTF2_Reader_Open(path);
    bool known = reader && OTF2_Reader_GetTraceId(reader, &drawn) == OTF2_SUCCESS, settled = false;
    if (reader)
        OTF2_Reader_Close(reader);
    FILE *file = known ? fopen(path, "r+") : NULL;
    size_t bytes = file ? fread(text, 1, sizeof text, file) : 0;
    for (size_t at = 0; at + sizeof drawn <= bytes && !settled; at++)
        settled = memcmp(text + at, &drawn, sizeof drawn) == 0 && fseek(file, (long)at, SEEK_SET) == 0 &&
                  fwrite(&id, sizeof id, 1, file) == 1;
    if (file)
        settled = fclose(file) == 0 && settled;
    free(path);
    return settled;
}

static uint64_t otf2_close(struct line_writer *w, struct ker_error *error)
{
    archive_close(w);
    OTF2_AttributeList_Delete(w->attributes);
    w->failed |= !w->failed && !id_settle(w);
    uint64_t bytes = w->bytes > w->plan->bytes ? w->bytes : archive_walk(w->path, false);
    if (w->failed)
        ker_fail(error, KER_RUN_FAILED, "cannot write %s: the OTF2 library has failed", w->path);
    if (w->failed || bytes > w->plan->bytes || error->status != KER_OK)
        archive_walk(w->path, true);
    writer_free(w);
    return bytes;
}

static const struct line_format otf2 = {.file = FOLDER "/traces.otf2",
                                        .least = otf2_least,
                                        .open = otf2_open,
                                        .ends = LINE_ALL_END,
                                        .by_task = true,
                                        .point = otf2_point,
                                        .close = otf2_close,
                                        .clear = otf2_clear};

#else

static const struct line_format otf2 = {
    .missing =
        "this marssim was built without OTF2: install libopen-trace-format2-dev (Debian) and rebuild it"};

#endif

const struct ker_kind line_kind_otf2 = {"otf2", "timeline-otf2/traces.otf2: for Vampir and Scalasca",
                                        .operations = &otf2};
