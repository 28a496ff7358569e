/* archive.c - what the OTF2 library reads of an archive, as otf2.h has it. */
#include "traces/otf2/otf2.h"

#include <stdlib.h>
#include <string.h>

#ifdef MARSSIM_OTF2

#include <otf2/otf2.h>

/* What the library has to say is said by us. */
static OTF2_ErrorCode error_keep(void *context, const char *file, uint64_t line, const char *function,
                                 OTF2_ErrorCode code, const char *format, va_list arguments)
{
    return code;
}

static OTF2_Reader *reader_open(const struct otf2_trace *trace, struct ker_error *error)
{
    OTF2_Error_RegisterCallback(error_keep, NULL);
    OTF2_Reader *reader = OTF2_Reader_Open(trace->path);
    if (reader && OTF2_Reader_SetSerialCollectiveCallbacks(reader) != OTF2_SUCCESS) {
        OTF2_Reader_Close(reader);
        reader = NULL;
    }
    if (!reader)
        ker_fail(error, KER_BAD_INPUT, "%s: the OTF2 library cannot open the archive by this anchor file",
                 trace->path);
    return reader;
}

/* ---- definitions ---- */

static OTF2_CallbackCode clock_define(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
                                      uint64_t realtime)
{
    ((struct otf2_trace *)user)->resolution = resolution;
    ((struct otf2_trace *)user)->offset = offset;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode text_define(void *user, OTF2_StringRef self, const char *text)
{
    struct otf2_trace *trace = user;
    *KER_APPEND(trace->text, trace->texts) = (struct otf2_text){self, ker_format("%s", text)};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode location_define(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                                         OTF2_LocationType type, uint64_t events, OTF2_LocationGroupRef group)
{
    struct otf2_trace *trace = user;
    *KER_APPEND(trace->location, trace->locations) =
        (struct otf2_location){self, events, group, type == OTF2_LOCATION_TYPE_CPU_THREAD};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode region_define(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                                       OTF2_StringRef canonical, OTF2_StringRef description,
                                       OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
                                       OTF2_StringRef file, uint32_t begin, uint32_t end)
{
    struct otf2_trace *trace = user;
    *KER_APPEND(trace->region, trace->regions) =
        (struct otf2_region){.id = self, .name = name, .mpi = paradigm == OTF2_PARADIGM_MPI};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode group_define(void *user, OTF2_GroupRef self, OTF2_StringRef name,
                                      OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                      uint32_t count, const uint64_t *members)
{
    struct otf2_trace *trace = user;
    struct otf2_group group = {.id = self, .type = OTF2_GROUP_OTHER};
    if (paradigm == OTF2_PARADIGM_MPI)
        group.type = type == OTF2_GROUP_TYPE_COMM_LOCATIONS ? OTF2_GROUP_LOCATIONS
                     : type == OTF2_GROUP_TYPE_COMM_GROUP   ? OTF2_GROUP_RANKS
                     : type == OTF2_GROUP_TYPE_COMM_SELF    ? OTF2_GROUP_SELF
                                                            : OTF2_GROUP_OTHER;
    if (group.type != OTF2_GROUP_OTHER) {
        group.count = count;
        group.member = ker_alloc(((size_t)count + 1) * sizeof *group.member);
        memcpy(group.member, members, count * sizeof *group.member);
    }
    *KER_APPEND(trace->group, trace->groups) = group;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode comm_define(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                     OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct otf2_trace *trace = user;
    *KER_APPEND(trace->comm, trace->comms) = (struct otf2_comm){.id = self, .group = group};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode between_define(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef a,
                                        OTF2_GroupRef b, OTF2_CommRef common, OTF2_CommFlag flags)
{
    struct otf2_trace *trace = user;
    *KER_APPEND(trace->comm, trace->comms) =
        (struct otf2_comm){.id = self, .group = a, .kind = OTF2_COMM_BETWEEN};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_ErrorCode definitions_read(struct otf2_trace *trace, OTF2_Reader *reader)
{
    uint64_t read;
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *calls = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(calls, clock_define);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, text_define);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(calls, location_define);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(calls, region_define);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(calls, group_define);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(calls, comm_define);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(calls, between_define);
    OTF2_ErrorCode code = definitions ? OTF2_SUCCESS : OTF2_ERROR_INVALID;
    if (definitions)
        code = OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, calls, trace);
    OTF2_GlobalDefReaderCallbacks_Delete(calls);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read);
    if (definitions)
        OTF2_Reader_CloseGlobalDefReader(reader, definitions);
    return code;
}

enum ker_status otf2_archive_read(struct otf2_trace *trace, struct ker_error *error)
{
    OTF2_Reader *reader = reader_open(trace, error);
    if (!reader)
        return KER_BAD_INPUT;
    enum ker_status status = KER_OK;
    OTF2_ErrorCode code = definitions_read(trace, reader);
    if (code != OTF2_SUCCESS)
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: the global definitions (the .def file beside it) cannot be read: %s",
                          trace->path, OTF2_Error_GetDescription(code));
    char *creator = NULL;
    if (OTF2_Reader_GetCreator(reader, &creator) == OTF2_SUCCESS && creator)
        trace->creator = ker_format("%s", creator);
    free(creator);
    OTF2_Reader_GetTraceId(reader, &trace->id);
    OTF2_Reader_Close(reader);
    return status;
}

/* ---- events ---- */

/* Who is shown the events of a location. */
struct showing {
    bool (*event)(void *context, const struct otf2_event *);
    void *context;
    uint64_t number;
};

static OTF2_CallbackCode show(void *user, uint64_t time, struct otf2_event event)
{
    struct showing *s = user;
    event.time = time;
    event.number = ++s->number;
    return s->event(s->context, &event) ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

#define EVENT                                                                                                \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user, OTF2_AttributeList *list
#define SHOW(...) return show(user, time, (struct otf2_event){__VA_ARGS__})

static OTF2_CallbackCode enter_show(EVENT, OTF2_RegionRef region)
{
    SHOW(.kind = OTF2_ENTER, .region = region);
}

static OTF2_CallbackCode leave_show(EVENT, OTF2_RegionRef region)
{
    SHOW(.kind = OTF2_LEAVE, .region = region);
}

static OTF2_CallbackCode send_show(EVENT, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    SHOW(.kind = OTF2_SEND, .peer = peer, .comm = comm, .tag = tag, .sent = bytes);
}

static OTF2_CallbackCode receive_show(EVENT, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    SHOW(.kind = OTF2_RECEIVE, .peer = peer, .comm = comm, .tag = tag, .sent = bytes);
}

static OTF2_CallbackCode isend_show(EVENT, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                    uint64_t request)
{
    SHOW(.kind = OTF2_ISEND, .peer = peer, .comm = comm, .tag = tag, .sent = bytes, .request = request);
}

static OTF2_CallbackCode irecv_show(EVENT, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                    uint64_t request)
{
    SHOW(.kind = OTF2_IRECV, .peer = peer, .comm = comm, .tag = tag, .sent = bytes, .request = request);
}

/* Those that name a request only. */
#define SHOW_REQUEST(name, of)                                                                               \
    static OTF2_CallbackCode name(EVENT, uint64_t request_)                                                  \
    {                                                                                                        \
        SHOW(.kind = (of), .request = request_);                                                             \
    }
SHOW_REQUEST(isend_complete_show, OTF2_ISEND_COMPLETE)
SHOW_REQUEST(irecv_request_show, OTF2_IRECV_REQUEST)
SHOW_REQUEST(tested_show, OTF2_TESTED)
SHOW_REQUEST(cancelled_show, OTF2_CANCELLED)
SHOW_REQUEST(request_show, OTF2_REQUEST)

static OTF2_CallbackCode begin_show(EVENT)
{
    SHOW(.kind = OTF2_COLLECTIVE_BEGIN);
}

static uint8_t collective_of(OTF2_CollectiveOp op)
{
    static const uint8_t collective[] = {
        [OTF2_COLLECTIVE_OP_BARRIER] = TASK_COLL_BARRIER,
        [OTF2_COLLECTIVE_OP_BCAST] = TASK_COLL_BCAST,
        [OTF2_COLLECTIVE_OP_GATHER] = TASK_COLL_GATHER,
        [OTF2_COLLECTIVE_OP_GATHERV] = TASK_COLL_GATHERV,
        [OTF2_COLLECTIVE_OP_SCATTER] = TASK_COLL_SCATTER,
        [OTF2_COLLECTIVE_OP_SCATTERV] = TASK_COLL_SCATTERV,
        [OTF2_COLLECTIVE_OP_ALLGATHER] = TASK_COLL_ALLGATHER,
        [OTF2_COLLECTIVE_OP_ALLGATHERV] = TASK_COLL_ALLGATHERV,
        [OTF2_COLLECTIVE_OP_ALLTOALL] = TASK_COLL_ALLTOALL,
        [OTF2_COLLECTIVE_OP_ALLTOALLV] = TASK_COLL_ALLTOALLV,
        [OTF2_COLLECTIVE_OP_ALLTOALLW] = OTF2_COLL_UNKNOWN,
        [OTF2_COLLECTIVE_OP_ALLREDUCE] = TASK_COLL_ALLREDUCE,
        [OTF2_COLLECTIVE_OP_REDUCE] = TASK_COLL_REDUCE,
        [OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = TASK_COLL_REDUCE_SCATTER,
        [OTF2_COLLECTIVE_OP_SCAN] = TASK_COLL_SCAN,
        [OTF2_COLLECTIVE_OP_EXSCAN] = TASK_COLL_EXSCAN,
        [OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = TASK_COLL_REDUCE_SCATTER_BLOCK,
        [OTF2_COLLECTIVE_OP_CREATE_HANDLE] = TASK_COLL_COMM,
        [OTF2_COLLECTIVE_OP_DESTROY_HANDLE] = OTF2_COLL_NOTHING,
        [OTF2_COLLECTIVE_OP_ALLOCATE] = TASK_COLL_COMM,
        [OTF2_COLLECTIVE_OP_DEALLOCATE] = TASK_COLL_BARRIER,
        [OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE] = TASK_COLL_COMM,
        [OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE] = TASK_COLL_BARRIER,
    };
    return op < sizeof collective ? collective[op] : OTF2_COLL_UNKNOWN;
}

static OTF2_CallbackCode end_show(EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                  uint64_t sent, uint64_t received)
{
    SHOW(.kind = OTF2_COLLECTIVE_END, .collective = collective_of(op), .comm = comm, .root = root,
         .sent = sent, .received = received);
}

static OTF2_CallbackCode complete_show(EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                       uint64_t sent, uint64_t received, uint64_t request)
{
    SHOW(.kind = OTF2_COMPLETE, .collective = collective_of(op), .comm = comm, .root = root, .sent = sent,
         .received = received, .request = request);
}

/* One-sided communication. */
#define REFUSE(name, ...)                                                                                    \
    static OTF2_CallbackCode name(__VA_ARGS__)                                                               \
    {                                                                                                        \
        SHOW(.kind = OTF2_REFUSED);                                                                          \
    }
REFUSE(put_show, EVENT, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t matching)
REFUSE(get_show, EVENT, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t matching)
REFUSE(atomic_show, EVENT, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent,
       uint64_t received, uint64_t matching)
REFUSE(group_sync_show, EVENT, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win, OTF2_GroupRef group)
REFUSE(lock_show, EVENT, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock, OTF2_LockType type)
REFUSE(rma_begin_show, EVENT)

static OTF2_EvtReaderCallbacks *callbacks_make(void)
{
    OTF2_EvtReaderCallbacks *calls = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(calls, enter_show);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(calls, leave_show);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(calls, send_show);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(calls, receive_show);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(calls, isend_show);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(calls, irecv_show);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(calls, isend_complete_show);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(calls, irecv_request_show);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(calls, tested_show);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(calls, cancelled_show);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(calls, begin_show);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(calls, end_show);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(calls, request_show);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(calls, complete_show);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(calls, put_show);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(calls, get_show);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(calls, atomic_show);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(calls, group_sync_show);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(calls, lock_show);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(calls, rma_begin_show);
    return calls;
}

/* A location's own definitions say which of the global ones its events mean. */
static void mappings_read(OTF2_Reader *reader, uint64_t location)
{
    uint64_t read;
    bool files = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
    OTF2_DefReader *definitions = files ? OTF2_Reader_GetDefReader(reader, location) : NULL;
    if (definitions) {
        OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &read);
        OTF2_Reader_CloseDefReader(reader, definitions);
    }
    if (files)
        OTF2_Reader_CloseDefFiles(reader);
}

static OTF2_ErrorCode events_read(OTF2_Reader *reader, uint64_t location, struct showing *s, uint64_t *read)
{
    *read = 0;
    OTF2_ErrorCode code = OTF2_Reader_SelectLocation(reader, location);
    if (code != OTF2_SUCCESS)
        return code;
    mappings_read(reader, location);
    code = OTF2_Reader_OpenEvtFiles(reader);
    if (code != OTF2_SUCCESS)
        return code;
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(reader, location);
    OTF2_EvtReaderCallbacks *calls = callbacks_make();
    code = events ? OTF2_Reader_RegisterEvtCallbacks(reader, events, calls, s) : OTF2_ERROR_INVALID;
    OTF2_EvtReaderCallbacks_Delete(calls);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllLocalEvents(reader, events, read);
    if (events)
        OTF2_Reader_CloseEvtReader(reader, events);
    OTF2_Reader_CloseEvtFiles(reader);
    return code;
}

enum ker_status otf2_archive_events(const struct otf2_trace *trace, const struct otf2_location *location,
                                    bool (*event)(void *context, const struct otf2_event *), void *context,
                                    struct ker_error *error)
{
    struct showing s = {event, context, 0};
    uint64_t read;
    OTF2_Reader *reader = reader_open(trace, error);
    if (!reader)
        return KER_BAD_INPUT;
    OTF2_ErrorCode code = events_read(reader, location->id, &s, &read);
    OTF2_Reader_Close(reader);
    if (code == OTF2_ERROR_INTERRUPTED_BY_CALLBACK)
        return KER_OK;
    if (code != OTF2_SUCCESS && !(location->events == 0 && read == 0)) /* which need not have a file */
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: the events of location %llu cannot be read behind the first %llu: %s",
                        trace->path, (unsigned long long)location->id, (unsigned long long)s.number,
                        OTF2_Error_GetDescription(code));
    if (read < location->events)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: location %llu has %llu events of the %llu that its definition names: it was cut",
                        trace->path, (unsigned long long)location->id, (unsigned long long)read,
                        (unsigned long long)location->events);
    return KER_OK;
}

#else

enum ker_status otf2_archive_read(struct otf2_trace *trace, struct ker_error *error)
{
    return ker_fail(
        error, KER_BAD_INPUT,
        "%s: this marssim was built without the OTF2 library (Debian: libopen-trace-format2-dev) and "
        "cannot read archives of it",
        trace->path);
}

enum ker_status otf2_archive_events(const struct otf2_trace *trace, const struct otf2_location *location,
                                    bool (*event)(void *context, const struct otf2_event *), void *context,
                                    struct ker_error *error)
{
    return ker_fail(error, KER_BAD_INPUT, "%s: built without the OTF2 library", trace->path);
}

#endif
