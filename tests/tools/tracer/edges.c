/* edges.c - traced several times with other words, as agree.c, for what goes over the edges of topologies:
 * edges GRID GRAPH. GRID: bytes to each neighbour in a ring; GRAPH: to the next two in a distributed graph.
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static char out[4096], in[4096];
    int rank, size, periodic = 1;
    MPI_Comm ring, graph;
    if (argc != 3)
        return 2;
    int grid_bytes = atoi(argv[1]), graph_bytes = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_allgather(out, grid_bytes, MPI_CHAR, in, grid_bytes, MPI_CHAR, ring);
    int from[2] = {(rank + size - 1) % size, (rank + size - 2) % size},
        to[2] = {(rank + 1) % size, (rank + 2) % size};
    int counts[2] = {graph_bytes, 1}, places[2] = {0, 2000};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, graph);
    MPI_Neighbor_alltoall(out, 10, MPI_CHAR, in, 10, MPI_CHAR, graph);
    MPI_Finalize();
    return 0;
}
