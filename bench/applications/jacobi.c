/* jacobi.c - heat on a square: rows are divided among tasks, who exchange their first and last ones in each
 * step, and sum the change in each tenth. jacobi N STEPS: N x N doubles. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, n, steps;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 2 ? atoi(argv[1]) : 512;
    steps = argc > 2 ? atoi(argv[2]) : 100;
    int rows = n / size, up = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *now = calloc((size_t)(rows + 2) * n, sizeof *now),
           *next = calloc((size_t)(rows + 2) * n, sizeof *next), sum = 0;
    for (int i = 0; i < n && rank == 0; i++)
        now[i] = next[i] = 1;
    for (int step = 0; step < steps; step++) {
        MPI_Request request[4];
        MPI_Irecv(now, rank > 0 ? n : 0, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(now + (size_t)(rows + 1) * n, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(now + n, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &request[2]);
        MPI_Isend(now + (size_t)rows * n, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        double change = 0;
        for (int r = 1; r <= rows; r++) {
            const double *at = now + (size_t)r * n;
            for (int i = 1; i + 1 < n; i++) {
                double value = 0.25 * (at[i - 1] + at[i + 1] + at[i - n] + at[i + n]);
                change += fabs(value - at[i]);
                next[(size_t)r * n + i] = value;
            }
        }
        if (step % 10 == 9)
            MPI_Allreduce(&change, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        double *other = now;
        now = next;
        next = other;
    }
    if (rank == 0)
        printf("change %g\n", sum);
    MPI_Finalize();
    return 0;
}
