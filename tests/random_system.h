/* random_system.h - random small systems for tests/run/test_equal_bits.c: number n is always the same
 * configuration.
 *
 * Each part is in a file of its own (tests/random_system/), and each key is drawn from a random stream of its
 * own (draw.h): a new key or a new kind leaves the systems without it as they were. Every system is valid,
 * and sizes are chosen so that it moves some thousand packets at most.
 */
#pragma once

#include "tests/random_system/jobs.h"
#include "tests/random_system/network.h"
#include "tests/random_system/rails.h"
#include "tests/random_system/routing.h"
#include "tests/random_system/run.h"
#include "tests/random_system/services.h"
#include "tests/random_system/topology.h"

/* Writes system `number` to FOLDER/NUMBER.cfg. `tables`: the options of all folders. */
static void random_system_write(int number, const char *folder, const char *traces,
                                const struct ker_option *const *tables)
{
    struct random_system r = {
        .folder = folder, .traces = traces, .number = number, .tables = tables, .cores = 1};
    r.path = ker_format("%s/%03d.cfg", folder, number);
    r.out = fopen(r.path, "w");
    ker_assert(r.out != NULL);
    r.wild = random_flag(&r, "wild", 35);
    r.turns_of_lanes = random_flag(&r, "lanes", 15) && random_plugin();
    r.rich = random_flag(&r, "rich nodes", 35);
    r.plain = r.rich && random_flag(&r, "plain calls", 70);
    random_packet(&r);
    random_topology(&r);
    random_rails(&r);
    random_routing(&r);
    random_faults(&r);
    r.jobs = random_flag(&r, "jobs", r.rich ? 100 : 45) && r.nodes >= 2 && !r.lossy;
    bool traffic = random_flag(&r, "traffic", 30) || !r.jobs;
    /* not beside traffic and services, which may keep jobs from ever ending where no run.end does */
    r.skips = r.jobs && !r.wild && !traffic && random_flag(&r, "skips", 75);
    random_carrier(&r);
    random_switch(&r);
    random_adapter(&r);
    random_congestion(&r);
    if (r.jobs)
        random_jobs(&r);
    if (traffic) {
        random_traffic(&r);
        random_services(&r);
    }
    random_run(&r, traffic);
    if (r.turns_of_lanes) /* last: probes of a part load none */
        fprintf(r.out, "plugins = [\"%s\"];\n", random_plugin());
    fclose(r.out);
    random_rails_write(&r);
    random_fabric_release(&r);
    free(r.path);
}
