/* links.c - the links between switches as a table, so that anybody can check a network's graph.
 *
 * Every link is listed once, at its end at the lower switch (of a switch with itself: the lower port), in the
 * order of these ends; parallel links are rows of their own.
 */
#include "routing/topology.h"

#include <errno.h>
#include <string.h>

static void link_write(FILE *out, const struct route_summary *summary, uint32_t from, uint32_t port,
                       const struct route_peer *peer)
{
    const struct route_link *link = &summary->link[peer->link];
    fprintf(out, "%u,%u,%u,%u,%s,%lld,%llu\n", from, port, peer->id, peer->port, link->name,
            (long long)link->latency, (unsigned long long)link->rate);
}

enum ker_status route_links_write(const struct route_topology *topology, const char *path,
                                  struct ker_error *error)
{
    const struct route_summary *summary = &topology->summary;
    FILE *out = fopen(path, "w");
    if (!out)
        return ker_fail(error, KER_BAD_INPUT, "--write-links: %s cannot be written: %s", path,
                        strerror(errno));
    fputs("from,from_port,to,to_port,class,latency_ps,bandwidth_bytes_per_s\n", out);
    for (uint32_t s = 0; s < summary->switches; s++)
        for (uint32_t port = 0; port < route_ports(topology, s); port++) {
            struct route_peer peer;
            route_port(topology, s, port, &peer);
            if (peer.kind == ROUTE_SWITCH && (peer.id > s || (peer.id == s && peer.port > port)))
                link_write(out, summary, s, port, &peer);
        }
    bool bad = ferror(out);
    return fclose(out) || bad ? ker_fail(error, KER_BAD_INPUT, "--write-links: %s cannot be written: %s",
                                         path, strerror(errno))
                              : KER_OK;
}
