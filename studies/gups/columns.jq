# Bounds as derived in README.md, per node in GB/s of payload: 64 of the 96 bytes that an update puts on the wire.
.[] | . as $p | (.set["topology.groups"] | split(",")[2] | tonumber) as $racks
| 2 as $n | 8 as $switches | ($n * $switches) as $m | ($m * $racks) as $nodes
| (64 / 96 * ($nodes - 1)) as $f
| (($racks - 1) / $switches) as $mean | (($racks - 1) % $switches) as $left
| (2 * ($mean | floor) + (if $left > 1 then 2 else $left end)) as $most
| ($n * $n + 2 * $n * $m * $mean) as $load | ($n * $n + $n * $m * $most) as $load_most
| {racks: $racks, nodes: $nodes, even: (if $left == 0 then 1 else 0 end),
   bound_node: (25 * 64 / 96), bound_level1: ($f * 25 / $load), bound_level2: ($f * 5 / $load), bound_level3: ($f * 4 / ($m * $m)),
   simulated: (.result.accepted_load * 25)}
| .bound = ([.bound_node, .bound_level1, .bound_level2, .bound_level3] | min)
| .percent_of_bound = (100 * .simulated / .bound)
| .bound_fullest_link = ([.bound, $f * 5 / $load_most] | min)
| .updates_per_ns = (.simulated * .nodes / 64)
| .use_level2 = $p.links["level 2"].utilisation | .use_level3 = $p.links["level 3"].utilisation
| .warmup_us = ($p.set["run.warmup"] | number)
| with_entries(.value |= digits(5))
