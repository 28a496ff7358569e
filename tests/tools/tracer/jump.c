/* jump.c - a program for tests/tools/tracer.sh: calls of MPI that are left by a jump. A receive of a message
 * that never comes, a wait and tests for one that comes later, by a signal's handler; a reduction by its
 * operation, of one's own. Then all goes on, deeper in the stack and less deep.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static sigjmp_buf back;
static MPI_Comm self;

static void leave(int number)
{
    siglongjmp(back, number);
}

static void soon(void)
{
    struct itimerval time = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &time, NULL);
}

static void never(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)from, (void)to, (void)count, (void)type;
    siglongjmp(back, 3);
}

static void __attribute__((noinline)) receive(int tag)
{
    int x;
    volatile char unused[5000];
    unused[0] = 0;
    MPI_Recv(&x, 1, MPI_INT, unused[0], tag, self, MPI_STATUS_IGNORE);
}

static int copies(MPI_Comm comm, int key, void *extra, void *value, void *to, int *flag)
{
    (void)key, (void)extra, (void)value, (void)to;
    return *flag = 0, MPI_Barrier(comm);
}

/* What is on the stack where the call was is not overwritten at once. */
static void __attribute__((noinline)) deep(int calls)
{
    volatile char unused[100000];
    unused[0] = 0;
    for (int i = 0; i < calls + unused[0]; i++)
        MPI_Barrier(self);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};
    MPI_Request request;
    MPI_Op op;
    MPI_Comm other;
    int in = 0, out = 1, key, flag = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Op_create(never, 0, &op);
    sigaction(SIGALRM, &action, NULL);
    if (sigsetjmp(back, 1) == 0) {
        soon();
        receive(1);
    }
    deep(3);
    MPI_Irecv(&in, 1, MPI_INT, 0, 2, self, &request);
    if (sigsetjmp(back, 1) == 0) {
        soon();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    deep(2);
    if (sigsetjmp(back, 1) == 0) {
        soon();
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    deep(4);
    MPI_Send(&out, 1, MPI_INT, 0, 2, self);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sigsetjmp(back, 1) == 0)
        MPI_Reduce_local(&out, &in, 1, MPI_INT, op);
    deep(1);
    MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(self, key, NULL);
    MPI_Comm_dup(self, &other); /* a call inside of a call that is not left */
    MPI_Comm_free(&other);
    MPI_Comm_free(&self);
    MPI_Finalize();
    return 0;
}
