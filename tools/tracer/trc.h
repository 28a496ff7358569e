/* trc.h - inside libmarstrace: what is loaded into a traced program, between it and its MPI library.
 *
 * A wrapper (made by generate.awk) takes the time, calls PMPI_NAME, takes the time again and has the call
 * recorded (record.c): each argument by its word in functions.def. Everything here is hidden but the
 * wrappers, so that nothing can clash with the program's own names. Nothing here speaks to other tasks, and
 * nothing here may fail a program: what cannot be recorded is left out, with one line on standard error.
 *
 * While MPI_THREAD_MULTIPLE is given, the tables are guarded by a lock (trc_lock); otherwise there is one
 * caller at a time. Threads record into writers of their own.
 */
#pragma once

#include "traces/mars/mars.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define TRC_EXPORT __attribute__((visibility("default")))
#define TRC_ARGUMENTS 16 /* of a function, at most */

#include "list.h" /* enum trc_number */
#include "wall.h"

enum trc_role { /* the words of functions.def */
                TRC_R_none,
                TRC_R_buf,
                TRC_R_n,
                TRC_R_parts,
                TRC_R_type,
                TRC_R_bothtype,
                TRC_R_type1,
                TRC_R_rbuf,
                TRC_R_rn,
                TRC_R_rparts,
                TRC_R_part,
                TRC_R_lastpart,
                TRC_R_rtype,
                TRC_R_ns,
                TRC_R_vtype,
                TRC_R_wtypes,
                TRC_R_rns,
                TRC_R_rvtype,
                TRC_R_rwtypes,
                TRC_R_tn,
                TRC_R_ttype,
                TRC_R_dest,
                TRC_R_source,
                TRC_R_tag,
                TRC_R_rtag,
                TRC_R_comm,
                TRC_R_comm2,
                TRC_R_newcomm,
                TRC_R_inewcomm,
                TRC_R_parent,
                TRC_R_freecomm,
                TRC_R_root,
                TRC_R_op,
                TRC_R_newop,
                TRC_R_freeop,
                TRC_R_freetype,
                TRC_R_req,
                TRC_R_rreq,
                TRC_R_preq,
                TRC_R_prreq,
                TRC_R_ioreq,
                TRC_R_reqref,
                TRC_R_reqval,
                TRC_R_cancelreq,
                TRC_R_freereq,
                TRC_R_startreq,
                TRC_R_nreq,
                TRC_R_startreqs,
                TRC_R_reqio,
                TRC_R_reqs,
                TRC_R_index,
                TRC_R_nout,
                TRC_R_indices,
                TRC_R_flag,
                TRC_R_status,
                TRC_R_fstatus,
                TRC_R_wstatus,
                TRC_R_statuses,
                TRC_R_iostatus,
                TRC_R_newmsg,
                TRC_R_msg,
                TRC_R_int,
                TRC_R_lock,
                TRC_R_assert,
                TRC_R_amode,
                TRC_R_whence,
                TRC_R_color,
                TRC_R_splittype,
                TRC_R_len,
                TRC_R_ints,
                TRC_R_name,
                TRC_R_wbase,
                TRC_R_wsize,
                TRC_R_wunit,
                TRC_R_newwin,
                TRC_R_win,
                TRC_R_freewin,
                TRC_R_target,
                TRC_R_tdisp,
                TRC_R_group,
                TRC_R_file,
                TRC_R_newfile,
                TRC_R_freefile,
                TRC_R_offset,
                TRC_R_etype,
                TRC_R_number, /* as it is: of POSIX */
                TRC_R_ftype,
                TRC_R_info, /* hints */
                /* besides the word */
                TRC_ROOT_ONLY = 0x100,
                TRC_NOT_ROOT = 0x200,
                TRC_LARGE = 0x400,
};

enum trc_flags {
    TRC_BEFORE = 1,      /* something must be looked at before the call */
    TRC_TWO_SIDES = 2,   /* has datatypes of the send side and of the receive side */
    TRC_REDUCES = 4,     /* has an operation */
    TRC_NEIGHBOURS = 8,  /* counts are per neighbour */
    TRC_COLLECTIVE = 16, /* blocking, of data: by these regions are counted */
    TRC_TESTS = 32,      /* Test, Testall, Testany, Testsome */
};

struct trc_function {
    const char *name, *schema; /* "MPI_Send", "MPI_Send bytes type ..." */
    const char *classes;       /* of its arguments in Fortran, see generate.awk */
    uint8_t flags, count;
    int8_t comm, root; /* which argument they are; -1: none */
    uint16_t role[TRC_ARGUMENTS];
};

enum trc_by_hand {
    TRC_Init = TRC_FUNCTIONS,
    TRC_Init_thread,
    TRC_Finalize,
    TRC_Abort,
    TRC_Pcontrol,
    TRC_IO_FIRST, /* of POSIX, in the order of io.h */
    TRC_ALL = TRC_IO_FIRST + 8
};
extern const struct trc_function trc_function[TRC_ALL];

/* ---- map.c: tables from a handle or address to a number or object ---- */

struct trc_map {
    struct trc_entry {
        uintptr_t key; /* 1 + it; 0: free */
        uintptr_t value;
    } * entry;
    uint32_t used, size; /* a power of two */
};
/* The value of a key, 0: it has none. */
uintptr_t trc_map_get(const struct trc_map *, uintptr_t key);
void trc_map_set(struct trc_map *, uintptr_t key, uintptr_t value);
void trc_map_remove(struct trc_map *, uintptr_t key);

/* ---- handles.c: communicators, datatypes and so on by number ---- */

struct trc_comm {
    uint32_t number, size, others; /* others: of the remote group, or size */
    uint32_t in, out;              /* neighbours */
    int32_t rank;
    uint64_t id, group; /* the world's ranks as one number */
    bool inter;
};
struct trc_type {
    uint32_t number;
    bool mapped; /* its map is in the trace, or cannot be */
    uint64_t size;
};

void trc_handles_begin(void); /* MPI is there */
const struct trc_comm *trc_comm_of(MPI_Comm);
/* A communicator that has just been made from another; NULL: nobody knows from which. */
const struct trc_comm *trc_comm_made(MPI_Comm, const struct trc_comm *parent);
/* One that will be as its parent, and cannot be asked yet. */
const struct trc_comm *trc_comm_copied(MPI_Comm, MPI_Comm parent);
void trc_comm_freed(MPI_Comm);
const struct trc_type *trc_type_of(MPI_Datatype);
/* The number of one that a view has: where its bytes are is defined, too. */
uint32_t trc_type_viewed(MPI_Datatype);
void trc_type_freed(MPI_Datatype);
uint32_t trc_op_of(MPI_Op);
void trc_op_freed(MPI_Op);
enum trc_thing { TRC_WINDOWS, TRC_FILES, TRC_MESSAGES, TRC_PAGES, TRC_THINGS };
uint32_t trc_thing_of(enum trc_thing, uintptr_t handle); /* the next number when it is new */
uint32_t trc_thing_made(enum trc_thing, uintptr_t handle);
void trc_thing_freed(enum trc_thing, uintptr_t handle);
/* The members of a group by their numbers, -1: unknown; malloc'ed. */
int32_t *trc_group_members(MPI_Group, int *count);
/* The members of this group have these numbers; both are kept. */
void trc_group_known(MPI_Group, int32_t *number, int count);

/* ---- typemap.c: where a datatype has its bytes, as a definition ---- */

void trc_map_define(uint32_t number, MPI_Datatype);

/* ---- requests.c ---- */

struct trc_request {
    uintptr_t handle;
    int64_t room;  /* bytes of the buffer of one that receives */
    uint32_t next; /* of the same bucket; 0: none */
    bool receives, persistent, cancelled;
    bool started; /* a persistent one, and not complete */
    bool unsaid;  /* its status does not say what came */
};
/* Numbers begin with 1; 0 is a request that nobody has seen made, or MPI_REQUEST_NULL. */
uint32_t trc_request_made(MPI_Request, int64_t room, bool persistent); /* -1: it does not receive */
/* The latest of this handle that is not taken; it is taken until it is given back or freed. */
uint32_t trc_request_take(MPI_Request);
/* One that another thread may have taken; looks through all there are. */
uint32_t trc_request_seek(MPI_Request);
void trc_request_give(uint32_t number);
void trc_request_freed(uint32_t number);
struct trc_request *trc_request_at(uint32_t number);
/* How many requests have been made or freed so far: while it stays, a handle has the same number. */
extern uint64_t trc_request_changes;

/* ---- tests.c: tests of requests, which mostly find nothing ---- */

struct trc_tested { /* what a test was asked */
    MPI_Request *request;
    size_t room;
    uint32_t count;
    unsigned function; /* TRC_ALL: nothing is known */
    uint64_t changes;  /* trc_request_changes then */
};

/* ---- a thread that calls MPI ---- */

struct trc_sum {
    uint64_t calls, bytes, ns;
};

#define TRC_POLL_ARGUMENTS 6

/* How the program asked, see light.h. */
struct trc_asked {
    enum trc_way way; /* TRC_WAYS: not known */
    unsigned function;
    uint32_t count;                     /* of requests */
    intptr_t given[TRC_POLL_ARGUMENTS]; /* its arguments */
    intptr_t match[TRC_POLL_ARGUMENTS]; /* the same, or 0: it is to be timed */
    MPI_Fint value[3];                  /* to which arguments point in Fortran */
    uint8_t list;                       /* the argument that has the requests */
    union {
        MPI_Request c;
        MPI_Fint fortran;
    } handle;      /* the first that was there */
    void *handles; /* all of them */
    size_t bytes, room;
    uint64_t changes;
    const int *flag; /* where it says whether something was found */
    void *status;    /* the caller's, or, where it wants none, `spare` */
    void *spare;
    size_t spare_room;
    struct trc_thread *thread;
    uint32_t untimed;   /* this many may still be made without being timed, of thread->allowed */
    const void *inside; /* one is being made: an address in its wrapper's frame */
};

struct trc_poll { /* polls of one shape since the last call that was none */
    uint8_t *shape;
    size_t bytes, room;
    struct mars_times times;
    int64_t returned; /* the last of them */
    uint64_t counted[MARS_COUNTERS];
    struct mars_polls polls;
    struct trc_tested tested;
    struct trc_asked asked;
    uint64_t away; /* the thread did not run between them */
    struct {
        uint64_t count, duration, gaps;
    } quick; /* those that were timed and quick */
};
#define TRC_POLL_SHAPES 8

struct trc_thread {
    struct mars_writer *writer;
    struct trc_thread *next; /* of all */
    unsigned thread;         /* which, from 0 in order of their first calls */
    bool inside;             /* a call is being made or recorded: calls below it are the library's own */
    bool recording;          /* it has been made */
    bool off;                /* not recorded now */
    unsigned function;       /* which call that is */
    const void *stack;       /* an address in its wrapper's frame */
    uint32_t allowed;        /* this many of each poll may be made without being timed (light.h) */
    int64_t enter, called, returned, back; /* wall clock: entered, PMPI called, returned; our own work done */
    int64_t back_cpu;
    uint64_t away;
    bool counts;                                                 /* hardware counters are read */
    int counters;                                                /* PAPI's set of events */
    uint64_t counted[MARS_COUNTERS], counts_back[MARS_COUNTERS]; /* by the computation; when it began */
    uint8_t *key;                                                /* the shape being made */
    size_t key_room;
    uint8_t *at;
    int64_t sent, received; /* bytes of the call; -1: it has no such side */
    uint32_t *number;       /* requests that were taken before the call */
    uint32_t numbers;
    uint32_t numbers_before; /* number of what the call frees */
    size_t number_room;
    MPI_Status *status; /* where the caller wants none */
    size_t status_room;
    int64_t io_bytes; /* of a call of POSIX; -1 */
    bool nothing;     /* a poll found nothing */
    void *fortran;    /* scratch memory of fortran.c */
    size_t fortran_room, fortran_used;
    struct trc_poll poll[TRC_POLL_SHAPES];
    uint32_t polls;
    struct trc_tested tested; /* of this call */
    bool tests;               /* it is a test, whose requests have not been taken */
    struct trc_poll *light;   /* which this call repeats; NULL: none */
    uint32_t doubt, distrust; /* polls to be timed: at first, and still */
    int64_t over;             /* of several threads: the last record that is written */
    clockid_t cpu;            /* its CPU clock, while it lives */
    int64_t ran;              /* -1: it does; what that clock said when it had made its last call */
    struct trc_sum sum[TRC_ALL];
};

struct trc_process {
    bool on;   /* between MPI_Init and MPI_Finalize */
    bool many; /* MPI_THREAD_MULTIPLE */
    int lock;
    int file, rank, size; /* rank: the task's number; size: of its world */
    int first;            /* number of the first task of its world; 0 but of spawned ones */
    char *path;           /* of the task's file */
    const char *folder;
    bool two_clocks, profile, io;
    bool left;  /* a call was left by a jump */
    bool tsc;   /* wall time is the processor's counter */
    bool muted; /* outside of the region that is recorded: handles are followed, nothing is written */
    uint64_t resolution_ns;
    struct mars_writer *definitions;
    struct trc_thread *threads;
    uint32_t thread_count;
    bool defined[2 * TRC_ALL]; /* functions, and behind them those whose calls were refused */
    int pid;
};
extern struct trc_process trc;

/* NULL: this call is not to be recorded. */
struct trc_thread *trc_thread_begin(void);
extern __thread struct trc_thread *trc_me __attribute__((tls_model("initial-exec")));

void trc_define(unsigned kind, const uint8_t *data, size_t bytes);
void trc_lock(void);
void trc_unlock(void);
void trc_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Information about the trace: a definition. */
void trc_info(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *trc_grow(void *old, size_t *room,
               size_t bytes); /* of at least this many; ends the recording when there is none */

/* ---- clock.c ---- */

void trc_clock_entered(struct trc_thread *);
void trc_clock_back(struct trc_thread *);
void trc_clock_begin(struct trc_thread *);
int64_t trc_clock_ran(void);     /* CPU time of the calling thread since its birth */
const char *trc_clock_way(void); /* how the thread's CPU time is taken */

/* light.c: is one of the polls that are not timed being made? And they are over. */
bool trc_light_inside(const struct trc_thread *);
void trc_light_over(struct trc_thread *);

/* left.c: a wrapper says which function it is. Where another function is between the wrapper and this,
 * that one takes TRC_CALLER: where the stack of its caller, the wrapper, is. */
#define TRC_CALLER __builtin_dwarf_cfa()
struct trc_thread *trc_enter(unsigned function);
struct trc_thread *trc_enter_from(unsigned function, const void *stack);

/* ---- threads.c: threads after the first ---- */

/* The thread was seen to call for the first time, and had run for n ns: what it did before is counted
 * from the first thread's last call on. */
void trc_thread_follow(struct trc_thread *, struct trc_thread *first, int64_t seen, int64_t ran);
/* Recording begins, and is over: what threads ran that call no more, or never did, is reported. */
void trc_threads_begin(struct trc_thread *first);
void trc_threads_end(void);
/* Of several threads: what a record that is over at `end` (wall clock), and covers n ns, leaves out
 * of the time since the record before. */
uint64_t trc_thread_own(struct trc_thread *, int64_t end, uint64_t given);

/* ---- counters.c: hardware counters, by PAPI ---- */

extern unsigned trc_counters; /* how many there are */
void trc_counters_begin(void);
const char *trc_counters_names(void);
void trc_counters_thread(struct trc_thread *);
void trc_counters_entered(struct trc_thread *);
void trc_counters_back(struct trc_thread *);

/* ---- before.c ---- */

void trc_requests_take(struct trc_thread *, const MPI_Request *, int count);
MPI_Status *trc_statuses(struct trc_thread *, int count); /* for a caller that wants none */

/* ---- tests.c ---- */

/* Where the arguments of a poll are; -1: it has none. */
struct trc_place {
    bool known, statuses;                 /* the status is an array of them */
    int8_t count, requests, flag, status; /* count -1: one request */
};
const struct trc_place *trc_place_of(unsigned function);

/* Before a test: its requests are remembered, since it overwrites those it completes, and it gets a status.
 * False: they have to be taken now. */
bool trc_test_begin(struct trc_thread *, unsigned function, intptr_t *a);
/* Behind it: the poll that it repeats, if it found nothing again; else NULL, and its requests are taken. */
struct trc_poll *trc_test_again(struct trc_thread *, unsigned function, const intptr_t *a, int result);
/* This poll is, or begins with, the call. */
void trc_test_known(struct trc_thread *, struct trc_poll *);

/* ---- record.c ---- */

void trc_before(struct trc_thread *, unsigned function, intptr_t *a);
void trc_after(struct trc_thread *, unsigned function, const intptr_t *a, int result);
/* The call that the thread is inside of did not return. */
void trc_record_left(struct trc_thread *);
/* The same as trc_after when t->returned has been taken. */
void trc_record(struct trc_thread *, unsigned function, const intptr_t *a, int result);
/* light.c: polls that are not timed. Behind a poll that was repeated and timed: may the next be without? */
void trc_light_allow(struct trc_thread *, struct trc_poll *, const struct mars_times *);
/* There is another thread: those of this one are to be timed from now on. */
void trc_light_revoke(struct trc_thread *);
/* The polls that have been kept back. */
void trc_polls_write(struct trc_thread *);

/* ---- region.c: which part of the run is recorded ---- */

void trc_region_begin(void);
/* A call that has been made: does a region begin with it, or is it beyond its last? And does one end with it?
 */
void trc_region_passed(unsigned function, const intptr_t *a);
void trc_region_left(unsigned function, const intptr_t *a);

/* ---- fortran.c ---- */

struct trc_thread *trc_fortran_enter(unsigned function, void **p, intptr_t *a);
void trc_fortran_leave(struct trc_thread *, unsigned function, void **p, intptr_t *a, const MPI_Fint *error);
static inline int trc_fortran_result(const MPI_Fint *error) /* NULL: the caller of mpi_f08 wants none */
{
    return error ? *error : MPI_SUCCESS;
}
/* The arguments of a call that has been made, addresses as Fortran gives them, become those of C. */
void trc_fortran_converted(struct trc_thread *, unsigned function, intptr_t *a);
bool trc_fortran_ignored(const void *status); /* it is one of those that mean that none is wanted */

/* ---- spawn.c ---- */

int trc_spawn_first(void);  /* trc.first */
void trc_spawn_begin(void); /* the handles are there: of a spawned task, those who spawned it become known */
int trc_MPI_Comm_spawn(const char *command, char *argv[], int most, MPI_Info info, int root, MPI_Comm comm,
                       MPI_Comm *inter, int codes[]);
int trc_MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int most[],
                                const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *inter,
                                int codes[]);

/* Numbers as text, "0-3,7-7"; malloc'ed. And back; NULL: it is no list of this many. */
char *trc_numbers_text(const int32_t *number, int count);
int32_t *trc_numbers_parse(const char *text, int count);
/* The numbers of a communicator's members, malloc'ed; NULL: not all of them are recorded. */
int32_t *trc_members_of(MPI_Comm, int *count);

/* ---- connect.c ---- */

int trc_MPI_Comm_accept(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter);
int trc_MPI_Comm_connect(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter);

#if MPI_VERSION >= 4
/* start.c: in place of PMPI_Session_init when nothing is recorded. */
int trc_MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session);
#endif

/* ---- fortran_dynamic.c: these calls by Fortran programs; lengths of texts; error: NULL or the last argument
 * ----
 */

void trc_fortran_comm_spawn(void **p, size_t command, size_t word, MPI_Fint *error);
void trc_fortran_comm_spawn_multiple(void **p, size_t command, size_t word, MPI_Fint *error);
void trc_fortran_comm_accept(void **p, size_t port, MPI_Fint *error);
void trc_fortran_comm_connect(void **p, size_t port, MPI_Fint *error);

/* ---- profile.c ---- */

void trc_profile_gather(void);
