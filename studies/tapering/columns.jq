# Up to level l: packets that use a link between levels l - 1 and l going up; each comes down another one.
.[] | {nodes: (.tag.nodes // "512" | tonumber), processors: (.tag.processors // "0" | tonumber), placement: .tag.placement, switch: .tag.switch, reduction_percent: (100 * (1 - (.set["topology.taper"] | tonumber))),
   packet_delay_us: (.result.packet_latency_ps.mean / 1e6), run_time_ms: ([.result.jobs[].finish_ps] | add / length / 1e9),
   up_to_level2_percent: (50 * share_of("level 2")), up_to_level3_percent: (50 * share_of("level 3")),
   up_to_level4_percent: (50 * share_of("level 4")), use_level2: .links["level 2"].utilisation}
| with_entries(if .value | type == "number" then .value |= digits(4) else . end)
