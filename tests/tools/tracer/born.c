/* born.c - a program for tests/tools/tracer.sh: threads that compute before they call MPI. born [WORK]:
 * additions of each task. Two of its threads are made before the first thread's last call, two after it. Each
 * prints its processor time, ns, and computes as much again.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 4

static long work;
static MPI_Comm comm[THREADS];
static pthread_barrier_t made;

static void compute(long additions)
{
    volatile double x = 1;
    for (long i = 0; i < additions; i++)
        x = x * 1.0000001 + 1e-9;
}

static void *thread(void *argument)
{
    MPI_Comm *own = argument;
    struct timespec t;
    if (own < comm + 2) {
        pthread_barrier_wait(&made);
        pthread_barrier_wait(&made);
    }
    compute(work / 8);
    MPI_Barrier(*own);
    compute(work / 8);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    MPI_Barrier(*own);
    printf("%lld\n", t.tv_sec * 1000000000ll + t.tv_nsec);
    compute(work / 4);
    return NULL;
}

int main(int argc, char **argv)
{
    int given;
    pthread_t threads[THREADS];
    work = argc > 1 ? atol(argv[1]) : 1000;
    compute(work / 8); /* before MPI_Init: not recorded */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &comm[i]);
    pthread_barrier_init(&made, NULL, 3);
    for (int i = 0; i < THREADS; i++) {
        if (i == 2) {
            pthread_barrier_wait(&made);
            MPI_Comm_rank(MPI_COMM_WORLD, &given);
            pthread_barrier_wait(&made);
        }
        pthread_create(&threads[i], NULL, thread, &comm[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    return 0;
}
