/* kernels.c - three kernels that communicate as codes do whose traces are to be small: kernels cg|mg|ft
 * PASSES
 *
 *   cg  conjugate gradients on a two-dimensional grid of tasks: sums along a row of tasks by exchanges with
 *       partners at doubling distance, of segments and of single numbers, and an exchange with the transpose
 *   mg  V-cycles on a cube that is shared out in three directions: faces with both neighbours of each
 *       direction on each level, and a norm of all
 *   ft  a transform: transposition by MPI_Alltoall in each pass, and a checksum at the root
 *
 * The number of tasks is a power of 2. Between calls each computes on its own share, so that times are those
 * of work that differs by level and step.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static double *doubles(size_t count)
{
    double *array = calloc(count, sizeof *array);
    if (!array)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return array;
}

/* out = a row of a band matrix times in */
static void multiply(const double *in, double *out, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = 4 * in[i] - (i ? in[i - 1] : 0) - (i + 1 < count ? in[i + 1] : 0);
}

/* ---- cg ---- */

static int columns, row, column;

/* Sums over the tasks of a row. */
static void row_sum(double *value, double *other, int count)
{
    for (int distance = 1; distance < columns; distance *= 2) {
        int partner = row * columns + (column ^ distance);
        MPI_Request request;
        MPI_Irecv(other, count, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &request);
        MPI_Send(value, count, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++)
            value[i] += other[i];
    }
}

static void transpose(double *value, double *other, int count)
{
    int rows = size / columns;
    int partner =
        rows == columns ? column * columns + row : size - 1 - rank; /* of an oblong grid the mirrored */
    MPI_Request request;
    if (partner == rank)
        return;
    MPI_Irecv(other, count, MPI_DOUBLE, partner, 2, MPI_COMM_WORLD, &request);
    MPI_Send(value, count, MPI_DOUBLE, partner, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memcpy(value, other, (size_t)count * sizeof *value);
}

static void cg(int passes)
{
    const int steps = 25, count = 1400;
    double *p = doubles(count), *q = doubles(count), *other = doubles(count), norm = 0;
    for (columns = 1; columns * columns < size; columns *= 2)
        ;
    row = rank / columns;
    column = rank % columns;
    for (int pass = 0; pass < passes; pass++) {
        for (int i = 0; i < count; i++)
            p[i] = 1.0 / (1 + i + rank);
        for (int step = 0; step < steps; step++) {
            double sum[2] = {0}, informed[2];
            multiply(p, q, count);
            row_sum(q, other, count);
            transpose(q, other, count);
            for (int i = 0; i < count; i++) {
                sum[0] += p[i] * q[i];
                sum[1] += q[i] * q[i];
            }
            row_sum(&sum[0], informed, 1);
            row_sum(&sum[1], informed, 1);
            for (int i = 0; i < count; i++)
                p[i] = q[i] / (1 + sum[1]) + p[i] * sum[0] / (1 + sum[0]);
        }
        MPI_Reduce(&p[0], &norm, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    free(p);
    free(q);
    free(other);
}

/* ---- mg ---- */

static int extent[3], place[3];

static int neighbour(int axis, int step)
{
    int at[3] = {place[0], place[1], place[2]};
    at[axis] = (at[axis] + step + extent[axis]) % extent[axis];
    return (at[2] * extent[1] + at[1]) * extent[0] + at[0];
}

/* The faces of a cube of `edge` points, with both neighbours of each axis. */
static void faces(double *face[4], int edge)
{
    int count = edge * edge;
    for (int axis = 0; axis < 3; axis++) {
        MPI_Request request[2];
        if (extent[axis] == 1)
            continue;
        for (int side = 0; side < 2; side++)
            MPI_Irecv(face[side], count, MPI_DOUBLE, neighbour(axis, side ? 1 : -1), 10 + axis,
                      MPI_COMM_WORLD, &request[side]);
        for (int side = 0; side < 2; side++)
            MPI_Send(face[2 + side], count, MPI_DOUBLE, neighbour(axis, side ? -1 : 1), 10 + axis,
                     MPI_COMM_WORLD);
        for (int side = 0; side < 2; side++)
            MPI_Wait(&request[side], MPI_STATUS_IGNORE);
    }
}

static void smooth(double *cube, double *other, int edge)
{
    multiply(cube, other, edge * edge * edge);
    memcpy(cube, other, (size_t)(edge * edge * edge) * sizeof *cube);
}

static void mg(int passes)
{
    const int largest = 32;
    double *cube = doubles((size_t)largest * largest * largest),
           *other = doubles((size_t)largest * largest * largest);
    double *face[4], norm;
    for (int i = 0; i < 4; i++)
        face[i] = doubles((size_t)largest * largest);
    extent[0] = extent[1] = extent[2] = 1;
    for (int left = size, axis = 0; left > 1; left /= 2, axis = (axis + 1) % 3)
        extent[axis] *= 2;
    place[0] = rank % extent[0];
    place[1] = rank / extent[0] % extent[1];
    place[2] = rank / extent[0] / extent[1];
    for (int pass = 0; pass < passes; pass++) {
        for (int edge = largest; edge >= 2; edge /= 2) {
            smooth(cube, other, edge);
            faces(face, edge);
        }
        for (int edge = 4; edge <= largest; edge *= 2) {
            faces(face, edge);
            smooth(cube, other, edge);
            faces(face, edge);
        }
        MPI_Allreduce(&cube[0], &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 4; i++)
        free(face[i]);
    free(cube);
    free(other);
}

/* ---- ft ---- */

static void ft(int passes)
{
    const int block = 8192 / size;
    size_t all = (size_t)block * (size_t)size;
    double *in = doubles(2 * all), *out = doubles(2 * all), sum[2] = {0}, total[2];
    for (int pass = 0; pass < passes; pass++) {
        multiply(in, out, (int)(2 * all));
        MPI_Alltoall(out, 2 * block, MPI_DOUBLE, in, 2 * block, MPI_DOUBLE, MPI_COMM_WORLD);
        multiply(in, out, (int)(2 * all));
        sum[0] += out[rank];
        MPI_Reduce(sum, total, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    const char *kernel = argc > 1 ? argv[1] : "cg";
    int passes = argc > 2 ? atoi(argv[2]) : 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(kernel, "cg") == 0)
        cg(passes);
    else if (strcmp(kernel, "mg") == 0)
        mg(passes);
    else
        ft(passes);
    MPI_Finalize();
    return 0;
}
