/* maps.c - a program for tests/tools/tracer.sh: views with random filetypes. For each it prints where the
 * datatype has its bytes, as MPI_Pack says it: "WEIGHT COUNT", the sum of the offsets of the bytes, each
 * times its number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int draw(int below)
{
    return rand() % below;
}

static MPI_Datatype array(MPI_Datatype of, int dealt)
{
    MPI_Datatype made;
    int dims = 1 + draw(3), size[3], part[3], first[3], how[3], argument[3], grid[3], procs = 1;
    int order = draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int i = 0; i < dims; i++) {
        size[i] = 1 + draw(6);
        part[i] = 1 + draw(size[i]);
        first[i] = draw(size[i] - part[i] + 1);
        how[i] = (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE}[draw(3)];
        grid[i] = how[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + draw(3);
        int least = (size[i] + grid[i] - 1) / grid[i];
        argument[i] = draw(2) || how[i] == MPI_DISTRIBUTE_NONE ? MPI_DISTRIBUTE_DFLT_DARG
                      : how[i] == MPI_DISTRIBUTE_BLOCK         ? least + draw(3)
                                                               : 1 + draw(3);
        procs *= grid[i];
    }
    if (dealt)
        MPI_Type_create_darray(procs, draw(procs), dims, size, how, argument, grid, order, of, &made);
    else
        MPI_Type_create_subarray(dims, size, part, first, order, of, &made);
    return made;
}

static MPI_Datatype derived(MPI_Datatype of)
{
    MPI_Datatype made;
    MPI_Aint lower, extent, place[3] = {0};
    int length[3], element[3] = {0}, count = 1 + draw(3), block = 1 + draw(3), gap = draw(3);
    MPI_Type_get_extent(of, &lower, &extent);
    for (int i = 0; i < 3; i++) {
        length[i] = 1 + draw(3);
        if (i < 2) {
            element[i + 1] = element[i] + 3 + draw(3);
            place[i + 1] = place[i] + 3 * extent + draw(5);
        }
    }
    switch (draw(11)) {
    case 0:
        MPI_Type_contiguous(count, of, &made);
        break;
    case 1:
        MPI_Type_vector(count, block, block + gap, of, &made);
        break;
    case 2:
        MPI_Type_create_hvector(count, block, block * extent + gap, of, &made);
        break;
    case 3:
        MPI_Type_indexed(count, length, element, of, &made);
        break;
    case 4:
        MPI_Type_create_hindexed(count, length, place, of, &made);
        break;
    case 5:
        MPI_Type_create_indexed_block(count, block, element, of, &made);
        break;
    case 6:
        MPI_Type_create_hindexed_block(count, block, place, of, &made);
        break;
    case 7:
        MPI_Type_create_struct(count, length, place, (MPI_Datatype[]){of, MPI_BYTE, of}, &made);
        break;
    case 8:
        MPI_Type_create_resized(of, lower, extent + gap, &made);
        break;
    default:
        made = array(of, draw(2));
    }
    return made;
}

static void print(MPI_Datatype type)
{
    MPI_Aint lower, extent;
    int size, at = 0;
    MPI_Type_get_true_extent(type, &lower, &extent);
    MPI_Type_size(type, &size);
    unsigned char *memory = calloc((size_t)(lower + extent) + 1, 1);
    unsigned *offset = calloc((size_t)size + 1, sizeof *offset);
    unsigned char *packed = malloc((size_t)size + 1);
    for (int pass = 0; pass < 3; pass++) {
        for (MPI_Aint i = 0; i < lower + extent; i++)
            memory[i] = (unsigned char)(i >> 8 * pass);
        at = 0;
        MPI_Pack(memory, 1, type, packed, size, &at, MPI_COMM_SELF);
        for (int i = 0; i < size; i++)
            offset[i] |= (unsigned)packed[i] << 8 * pass;
    }
    double sum = 0;
    for (int i = 0; i < size; i++)
        sum += (i + 1.0) * offset[i];
    printf("%.0f %d\n", sum, size);
    free(memory);
    free(offset);
    free(packed);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    for (int i = 0; i < 200; i++) {
        MPI_Datatype type[4] = {draw(2) ? MPI_INT : MPI_BYTE};
        int levels = 1 + draw(3);
        for (int j = 0; j < levels; j++)
            type[j + 1] = derived(type[j]);
        MPI_Type_commit(&type[levels]);
        MPI_File_set_view(file, 0, MPI_BYTE, type[levels], "native", MPI_INFO_NULL);
        print(type[levels]);
        MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        for (int j = 1; j <= levels; j++)
            MPI_Type_free(&type[j]);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
