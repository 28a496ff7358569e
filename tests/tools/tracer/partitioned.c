/* partitioned.c - partitioned messages, for tests of the tracer and of the replay: ./partitioned [PASSES]
 *
 * Of MPI 4. Each task sends 12 partitions of 1,000 ints to the next one, which receives them as 8 of 1,500;
 * in the same way 3 partitions of no bytes, and 2 of 40,000 ints to itself. A pass starts all six requests.
 */
#include <mpi.h>
#include <stdlib.h>

static int out[12 * 1000], in[12 * 1000], self_out[80000], self_in[80000];

static void all_ready(MPI_Request *r)
{
    int some[] = {7, 5, 6}, flag = 0;
    MPI_Pready(11, r[0]);
    MPI_Pready_range(0, 4, r[0]);
    MPI_Pready_list(3, some, r[0]);
    MPI_Parrived(r[1], 0, &flag);
    for (int i = 8; i < 11; i++)
        MPI_Pready(i, r[0]);
    for (int i = 0; i < 8; i++)
        do
            MPI_Parrived(r[1], i, &flag);
        while (!flag);
    MPI_Pready_range(0, 2, r[2]);
    MPI_Pready(1, r[4]);
    MPI_Pready(0, r[4]);
}

int main(int argc, char **argv)
{
    int passes = argc > 1 ? atoi(argv[1]) : 3, rank, size, bad = 0;
    MPI_Request r[6];
    MPI_Status status[6];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Psend_init(out, 12, 1000, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 8, 1500, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Psend_init(out, 3, 0, MPI_INT, to, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
    MPI_Precv_init(in, 2, 0, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[3]);
    MPI_Psend_init(self_out, 2, 40000, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r[4]);
    MPI_Precv_init(self_in, 1, 80000, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r[5]);
    for (int pass = 0; pass < passes; pass++) {
        for (int i = 0; i < 12 * 1000; i++)
            out[i] = rank + i + pass;
        MPI_Startall(6, r);
        all_ready(r);
        if (pass % 2)
            for (int i = 0; i < 6; i++)
                MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        else
            MPI_Waitall(6, r, status);
        for (int i = 0; i < 12 * 1000; i++)
            bad += in[i] != from + i + pass;
    }
    for (int i = 0; i < 6; i++)
        MPI_Request_free(&r[i]);
    MPI_Finalize();
    return bad > 0;
}
