/* fuzz_vl_file.c - libFuzzer target for the reader of VL arbitration tables in options files of OpenSM:
 * whatever the bytes, it returns tables of lanes that there are, or an error with a text. */
#include "net/switch/vl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vl_tables tables[2] = {0};
    struct ker_error error = {0};
    if (net_vl_file_read(tables, 3, "fuzz", (const char *)data, size, &error) != KER_OK) {
        ker_assert(error.text[0]);
        return 0;
    }
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < tables[i].low.count; k++)
            ker_assert(tables[i].low.count <= NET_VL_ENTRIES && tables[i].low.entry[k].lane < 3);
    return 0;
}
