/* fuzz_vl_file.c - libFuzzer target for the reader of VL arbitration tables in options files of OpenSM and in
 * what smpquery prints, on a small fabric: whatever the bytes, it returns tables of lanes that there are, at
 * outputs that are cabled, or an error with a text. */
#include "net/switch/vl.h"
#include "tests/fuzz/subnet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void tables_check(const struct vl_tables *t)
{
    ker_assert(t->low.count <= NET_VL_ENTRIES && t->high.count <= NET_VL_ENTRIES);
    for (uint32_t k = 0; k < t->low.count; k++)
        ker_assert(t->low.entry[k].lane < 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct route_topology *topology;
    struct vl_file f = {0};
    struct ker_error error = {0};
    struct route_peer peer;
    if (!topology)
        topology = subnet_make();
    if (net_vl_file_read(&f, topology, 3, "fuzz", (const char *)data, size, &error) == KER_OK) {
        for (uint32_t i = 0; i < 2 + f.of_ports_count; i++)
            tables_check(i < 2 ? &f.tables[i] : &f.of_ports[i - 2]);
        for (uint32_t i = 0; i < f.ports; i++) {
            const struct vl_port *p = &f.port[i];
            route_port(topology, p->output.switch_id, p->output.port, &peer);
            ker_assert(peer.kind != ROUTE_NOTHING && (!p->output.adapter || peer.kind == ROUTE_ENDPOINT));
            ker_assert(p->tables < f.of_ports_count || (p->tables == NET_VL_NO_TABLES && p->limit));
        }
    } else {
        ker_assert(error.text[0]);
    }
    net_vl_file_release(&f);
    return 0;
}
