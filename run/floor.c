/* floor.c - how long links are: racks in rows on a floor.
 *
 * A natural group of switches (route_group) is one rack, or as many as it takes with floor.rack_switches in
 * each, in the order of their numbers. Racks stand side by side in rows, as many in each as make the floor
 * close to square, group after group. A cable is floor.slack long for its ways up and down, and as much as
 * the racks are apart along the row and across the rows.
 */
#include "run/stages.h"

#include <math.h>
#include <stdlib.h>

const struct ker_option run_floor_options[] = {
    {"floor.rack_switches", KER_TYPE_INT, "0", "0", "1000000", NULL,
     "--check: switches of a rack, with their nodes; 0: a natural group is a rack. For lengths of links."},
    {"floor.rack_width", KER_TYPE_REAL, "0.6", "0.01", "100", NULL,
     "--check: metres from rack to rack in a row."},
    {"floor.row_pitch", KER_TYPE_REAL, "2.4", "0.01", "100", NULL, "--check: metres from row to row."},
    {"floor.slack", KER_TYPE_REAL, "2", "0", "1000", NULL,
     "--check: metres of a link inside a rack, and beyond the distance of two racks."},
    {0},
};

struct run_floor {
    uint32_t *rack; /* of a switch */
    uint32_t per_row;
    double width, pitch, slack;
};

struct run_floor *run_floor_new(const struct run *run)
{
    struct run_floor *floor = ker_alloc(sizeof *floor);
    uint32_t switches = route_summarise(run->topology)->switches, groups = route_groups(run->topology),
             each = (uint32_t)ker_config_int(run->config, "floor.rack_switches");
    uint32_t *count = ker_alloc(groups * sizeof *count), *first = ker_alloc((groups + 1ull) * sizeof *first);
    floor->rack = ker_alloc(switches * sizeof *floor->rack);
    floor->width = ker_config_real(run->config, "floor.rack_width");
    floor->pitch = ker_config_real(run->config, "floor.row_pitch");
    floor->slack = ker_config_real(run->config, "floor.slack");
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t nth = count[route_group(run->topology, s)]++;
        floor->rack[s] = each ? nth / each : 0;
    }
    for (uint32_t i = 0; i < groups; i++)
        first[i + 1] = first[i] + (each ? (count[i] + each - 1) / each : 1);
    for (uint32_t s = 0; s < switches; s++)
        floor->rack[s] += first[route_group(run->topology, s)];
    floor->per_row = (uint32_t)ceil(sqrt(first[groups] * floor->pitch / floor->width));
    free(count);
    free(first);
    return floor;
}

void run_floor_free(struct run_floor *floor)
{
    free(floor->rack);
    free(floor);
}

double run_floor_length(const struct run_floor *floor, uint32_t from, uint32_t to)
{
    uint32_t a = floor->rack[from], b = floor->rack[to];
    double along = (double)(a % floor->per_row) - (double)(b % floor->per_row),
           across = (double)(a / floor->per_row) - (double)(b / floor->per_row);
    return floor->slack + fabs(along) * floor->width + fabs(across) * floor->pitch;
}
