/* hints.c - what else a trace has of a file: the hints that it was opened with, and its pointer.
 *
 * Of an info object only what says how a file is to be accessed or stored: cb_*, romio_* and striping_*.
 */
#include "call.h"

#include <stdio.h>
#include <string.h>

#define HINTS_BYTES 2048

static bool is_hint(const char *key)
{
    return strncmp(key, "cb_", 3) == 0 || strncmp(key, "romio_", 6) == 0 || strncmp(key, "striping_", 9) == 0;
}

void trc_hints_put(struct trc_call *c, MPI_Info info)
{
    char text[HINTS_BYTES] = "", key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int keys = 0, given = 0;
    size_t used = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        if (PMPI_Info_get_nthkey(info, i, key) != MPI_SUCCESS || !is_hint(key) ||
            PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &given) != MPI_SUCCESS || !given ||
            used + strlen(key) + strlen(value) + 3 > sizeof text)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", used ? ";" : "", key, value);
    }
    trc_text_put(c, text);
}

int64_t trc_file_position(MPI_File file)
{
    MPI_Offset at = -1;
    return PMPI_File_get_position(file, &at) == MPI_SUCCESS ? (int64_t)at : -1;
}
