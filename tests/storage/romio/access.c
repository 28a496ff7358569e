/* access.c - a collective write of all tasks, then a collective read:
 * access FILE AGGREGATORS BUFFER BLOCK BLOCKS strided|whole */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int task, tasks, strided = strcmp(argv[6], "strided") == 0;
    int block = atoi(argv[4]), blocks = atoi(argv[5]), all = block * blocks;
    char list[32];
    MPI_Info hints;
    MPI_File file;
    MPI_Datatype view = MPI_BYTE;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &task);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    snprintf(list, sizeof list, "*:%s", argv[2]); /* otherwise there is one aggregator on a host */
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "cb_nodes", argv[2]);
    MPI_Info_set(hints, "cb_config_list", list);
    MPI_Info_set(hints, "cb_buffer_size", argv[3]);
    MPI_Info_set(hints, "romio_cb_write", "enable");
    MPI_Info_set(hints, "romio_cb_read", "enable");
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (strided) {
        MPI_Type_vector(blocks, block, block * tasks, MPI_BYTE, &view);
        MPI_Type_commit(&view);
        MPI_File_set_view(file, (MPI_Offset)block * task, MPI_BYTE, view, "native", MPI_INFO_NULL);
    }
    MPI_Offset at = strided ? 0 : (MPI_Offset)all * task;
    char *data = malloc((size_t)all);
    memset(data, task, (size_t)all);
    MPI_File_write_at_all(file, at, data, all, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, at, data, all, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Info_free(&hints);
    free(data);
    MPI_Finalize();
    return argc != 7;
}
