# Cost: bandwidth x (weight of the link's length class + weights of its ports at switches), of the links that the simulated network
# has; the fat tree costs 1.
def weights: {node: 1, fat_tree: {"level 2": 2, "level 3": 6}, torus: {x: 1, y: 2, z: 6}, dragonfly: {"level 1": 2, "level 2": 6},
    three_levels: {"level 1": 1, "level 2": 2, "level 3": 6}, port: 12};
def cost: weights[.tag.network] as $w | (.tag.rate | tonumber) as $rate | .links
    | [to_entries[] | .value.directions / 2 * (if .key == "node" then 12.5 * (weights.node + weights.port)
        else $rate * ($w[.key] + 2 * weights.port) end)] | add / (12.5 * (256 * 13 + 256 * 26 + 256 * 30));
def run_time: [.result.jobs[].finish_ps] | add / length / 1e6;
. as $points
# The fat tree costs what it costs: its runs stand in both halves of the table.
| .[] | . as $p | (if .tag.network == "fat_tree" then ["links", "cost"] else [.tag.equal] end)[] as $equal
| ([$points[] | select(.tag.job == $p.tag.job and .tag.network == "fat_tree")][0]) as $tree
| $p | {equal: $equal, network: (.tag.network | gsub("_"; " ")), job: (.tag.job | gsub("_"; " ")), switch_link_GBps: (.tag.rate | tonumber),
   relative_cost: cost, run_time_us: run_time, relative_run_time: (if $tree then run_time / ($tree | run_time) else null end),
   packet_latency_us: (.result.packet_latency_ps.mean / 1e6), control_wait_us: (.result.control_wait_ps.mean / 1e6), hops: .result.hops.mean,
   busiest_link: ([.links[].utilisation_max] | max)}
| with_entries(if .value | type == "number" then .value |= digits(4) else . end)
