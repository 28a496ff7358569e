# Cost: bandwidth x (weight of the link's length class + weights of its ports at switches), of the links that the simulated network
# has; the fat tree of equal links costs 1.
def classes: {fat_tree: ["", "level 2", "level 3"], torus: ["x", "y", "z"], dragonfly: ["", "level 1", "level 2"],
    three_levels: ["level 1", "level 2", "level 3"]};
def cost: .tag.network as $network | .links as $links | (.tag.rates | split("/") | map(tonumber)) as $rates
    | [range(3) | ($links[classes[$network][.]].directions // 0) / 2 * $rates[.] * ([1, 2, 6][.] + 2 * 12)] + [256 * 12.5 * (1 + 12)]
    | add / (12.5 * (256 * 13 + 256 * 26 + 256 * 30));
def run_time: [.result.jobs[].finish_ps] | add / length / 1e6;
. as $points
| .[] | . as $p
| ([$points[] | select(.tag.job == $p.tag.job and .tag.network == "fat_tree" and .tag.equal == "links")][0]) as $tree
| ([$points[] | select(.tag.job == $p.tag.job and .tag.network == "fat_tree" and .tag.equal == $p.tag.equal) | run_time] | min) as $best
| $p | {equal: .tag.equal, network: (.tag.network | gsub("_"; " ")), design: (.tag.design | gsub("_"; " ")), job: (.tag.job | gsub("_"; " ")),
   GBps_board_rack_room: .tag.rates, relative_cost: cost, run_time_us: run_time,
   relative_run_time: (if $tree then run_time / ($tree | run_time) else null end), relative_to_best_tree: (if $best then run_time / $best else null end),
   packet_latency_us: (.result.packet_latency_ps.mean / 1e6), control_wait_us: (.result.control_wait_ps.mean / 1e6), hops: .result.hops.mean,
   busiest_link: ([.links[].utilisation_max] | max)}
| with_entries(if .value | type == "number" then .value |= digits(4) else . end)
