/* access.c - all tasks write a file, then read it: access FILE AGGREGATORS BUFFER BLOCK BLOCKS PATTERN CALLS
 *
 * PATTERN: whole (each task's part in one piece), strided (blocks in turn), holes (likewise, and a block of
 * nobody's behind each), indexed (blocks of other sizes at other distances), square (a part of a matrix of
 * BLOCKS rows), uneven (task t has t times as much as task 1; the first has nothing).
 * CALLS: collective, automatic (ROMIO decides whether tasks exchange), independent, pointer (collective, by
 * the pointer, in two halves).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int task, tasks, block, blocks;

static int is(const char *text, const char *wanted)
{
    return strcmp(text, wanted) == 0;
}

/* The view's datatype, and where it begins. */
static MPI_Datatype view_of(const char *pattern, MPI_Offset *begin)
{
    MPI_Datatype view = MPI_BYTE;
    *begin = (MPI_Offset)block * task;
    if (is(pattern, "strided"))
        MPI_Type_vector(blocks, block, block * tasks, MPI_BYTE, &view);
    if (is(pattern, "holes"))
        MPI_Type_create_hvector(blocks, block, (MPI_Aint)block * (tasks + 1), MPI_BYTE, &view);
    if (is(pattern,
           "indexed")) { /* piece i begins at i x tasks + task blocks, and has i + 1 quarters of one */
        int *length = malloc((size_t)blocks * sizeof *length),
            *place = malloc((size_t)blocks * sizeof *place);
        for (int i = 0; i < blocks; i++) {
            length[i] = block / 4 * (i % 4 + 1);
            place[i] = i * tasks * block;
        }
        MPI_Type_indexed(blocks, length, place, MPI_BYTE, &view);
        free(length);
        free(place);
    }
    if (is(pattern, "square")) {
        int size[] = {blocks, tasks * 2, block}, part[] = {blocks, 2, block / 2},
            first[] = {0, task * 2, block / 4};
        MPI_Type_create_subarray(3, size, part, first, MPI_ORDER_C, MPI_BYTE, &view);
        *begin = 0;
    }
    if (is(pattern, "whole"))
        *begin = (MPI_Offset)block * blocks * task;
    if (is(pattern, "uneven"))
        *begin = (MPI_Offset)block * blocks * (task * (task - 1) / 2);
    if (view != MPI_BYTE)
        MPI_Type_commit(&view);
    return view;
}

static void access_once(MPI_File file, const char *calls, char *data, int all)
{
    if (is(calls, "independent")) {
        MPI_File_write_at(file, 0, data, all, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_read_at(file, 0, data, all, MPI_BYTE, MPI_STATUS_IGNORE);
    } else if (is(calls, "pointer")) {
        MPI_File_write_all(file, data, all / 2, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_write_all(file, data, all - all / 2, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_seek(file, -all, MPI_SEEK_CUR);
        MPI_File_read_all(file, data, all / 2, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_read_all_begin(file, data, all - all / 2, MPI_BYTE);
        MPI_File_read_all_end(file, data, MPI_STATUS_IGNORE);
    } else {
        MPI_File_write_at_all(file, 0, data, all, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_read_at_all(file, 0, data, all, MPI_BYTE, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    char list[32];
    MPI_Info hints;
    MPI_File file;
    MPI_Offset begin;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &task);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    block = atoi(argv[4]);
    blocks = atoi(argv[5]);
    const char *pattern = argv[6], *calls = argv[7];
    snprintf(list, sizeof list, "*:%s", argv[2]); /* otherwise there is one aggregator on a host */
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "cb_nodes", argv[2]);
    MPI_Info_set(hints, "cb_config_list", list);
    MPI_Info_set(hints, "cb_buffer_size", argv[3]);
    if (is(calls, "independent")) { /* holes are not read and written with what is between them */
        MPI_Info_set(hints, "romio_ds_write", "disable");
        MPI_Info_set(hints, "romio_ds_read", "disable");
    } else if (!is(calls, "automatic")) {
        MPI_Info_set(hints, "romio_cb_write", "enable");
        MPI_Info_set(hints, "romio_cb_read", "enable");
    }
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Datatype view = view_of(pattern, &begin);
    int all = is(pattern, "uneven") ? block * blocks * task : block * blocks;
    if (view != MPI_BYTE)
        MPI_Type_size(view, &all);
    MPI_File_set_view(file, begin, MPI_BYTE, view, "native", MPI_INFO_NULL);
    char *data = calloc((size_t)all + 1, 1);
    access_once(file, calls, data, all);
    MPI_File_close(&file);
    if (view != MPI_BYTE)
        MPI_Type_free(&view);
    MPI_Info_free(&hints);
    free(data);
    MPI_Finalize();
    return argc != 8;
}
