#!/bin/bash
# The graphs of the topologies are those of the papers: what does not depend on how switches are numbered (links, degrees, distances, numbers
# of shortest paths, triangles, closed walks of up to 8 links) is compared, for every row of graphs.csv, with what graphs.py counts in the
# links that --write-links lists. The expected values are by independent code, from the published formulas, not by this program; those of
# switches with nodes alone where the second column names a block of switches and how many of it have nodes; keys may follow. Slim fly q = 5 is the
# Hoffman-Singleton graph: 50 switches of degree 7, no triangle, no cycle of four.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
command -v python3 >/dev/null || { echo "SKIP: python3 is missing"; exit 0; }
here=$top/tests/routing
cd "$work" || exit 2
# The links between the three groups of the Cascade row: numbers 0 to 3 of each of its pairs of groups, in order, on switches 0, 1, ... 7.
printf '# group switch group switch\n' >cascade.txt
for n in 0 1 2 3; do printf '0 %d 1 %d\n0 %d 2 %d\n1 %d 2 %d\n' $n $n $((4 + n)) $n $((4 + n)) $((4 + n)); done >>cascade.txt
IFS='|' read -r -a columns <"$here/graphs.csv"
while IFS='|' read -r -a value; do
    [ "${value[0]}" != configuration ] || continue
    echo "topology: { ${value[0]} bandwidth = \"10 GB/s\"; latency = \"10 ns\"; };" >graph.cfg
    why=
    read -r block leaves keys <<<"${value[1]}"
    # shellcheck disable=SC2086
    "$marssim" --write-links links.csv graph.cfg $keys 2>err && python3 "$here/graphs.py" links.csv $block $leaves >found 2>err || why="failed"
    for i in "${!columns[@]}"; do
        [ "$i" -lt 2 ] || [ -z "${value[i]:-}" ] || grep -qxF "${columns[i]},${value[i]}" found ||
            why="$why ${columns[i]} is $(sed -n "s/^${columns[i]},//p" found), not ${value[i]};"
    done
    verdict "$why" "${value[0]}"
done <"$here/graphs.csv"

[ "$(head -n 2 links.csv | tail -n 1 | tr -cd , | wc -c)" -eq 6 ] && grep -q '^from,from_port,to,to_port,class,latency_ps,bandwidth_bytes_per_s$' links.csv
check "the columns of --write-links"
refused '\-\-write-links: none/x.csv cannot be written' --write-links none/x.csv graph.cfg
check "a file that cannot be written"

bad() { # WORDS TOPOLOGY OVERRIDES...: it is refused with these words
    echo "topology: { $2 bandwidth = \"10 GB/s\"; latency = \"10 ns\"; };" >bad.cfg
    refused "$1" --write-links links.csv bad.cfg "${@:3}"
    check "$1"
}
bad 'topology.q: is 6, but has to be a prime power, and 4 w - 1, 4 w or 4 w + 1; the nearest are 5 and 7' 'kind = "slim_fly"; q = 6;'
bad 'topology.q: is 2, .*; the nearest is 3' 'kind = "slim_fly"; q = 2;'
bad 'topology.q: is 15, but has to be a prime power; the nearest are 13 and 16' 'kind = "polarfly"; q = 15;'
bad 'topology.q: is missing; a polarfly topology needs it' 'kind = "polarfly";'
bad 'topology.kind: makes switches of 65542 ports; at most 65535 are possible' 'kind = "slim_fly"; q = 5; nodes_per_switch = 65535;'
bad 'topology.links: has 3 values, but there are 2 dimensions' 'kind = "hyperx"; extents = [3, 3]; links = [1, 1, 1];'
bad 'topology.extents: make .* 2^32 - 1 of 65535 are possible' 'kind = "hyperx"; extents = [65535, 65535, 3];'
plus='kind = "dragonfly_plus"; leaves = 2; spines = 2; h = 2;'
bad 'topology.groups: of 4 does not divide the 4 global links of a group evenly among the others; 3 and 5 are possible' "$plus groups = 4;"
bad 'topology.groups: of 7 does not divide .*; 5 is possible' "$plus groups = 7;"
bad 'topology.group_links: of 3 to each of 2 other groups are more than the 4 global links of a group; at most 2 are possible' \
    "$plus groups = 3; group_links = 3;"
bad 'topology.groups: of 1 are too few' "$plus groups = 1;"
bad 'topology.h: is missing' 'kind = "dragonfly_plus"; leaves = 2; spines = 2;'
bad 'topology.arrangement_file: is missing' "$plus arrangement = \"file\";"
bad 'topology.rails: is "plane"; the adapters of a node are at the leaves of its rails here' \
    'kind = "rail_fat_tree"; pods = 2; pod_nodes = 2; spines = 2; rails = "plane";' node.adapters=2
bad 'topology.spines: is missing' 'kind = "rail_fat_tree"; pods = 2; pod_nodes = 2;'
file="$plus groups = 3; arrangement = \"file\"; arrangement_file = \"a.txt\";"
printf '0 0 1 0\n0 1 3 0\n' >a.txt
bad 'a.txt:2: a line reads: GROUP SWITCH GROUP SWITCH, groups 0 to 2 and switches 0 to 1' "$file"
printf '0 0 1 0\n0 1 2 0 7\n' >a.txt
bad 'a.txt:2: the line should end before "7"' "$file"
printf '0 0 0 1\n' >a.txt
bad 'a.txt:1: a global link joins two groups, not group 0 with itself' "$file"
printf '0 0 1 0\n0 0 1 1\n0 0 2 0\n' >a.txt
bad 'a.txt:3: switch 0 of group 0 has topology.h = 2 global links already' "$file"
printf '0 0 1 0\n0 1 1 1\n# 2 is apart\n' >a.txt
bad 'topology.arrangement_file: has no link between groups 0 and 2; every two groups need one' "$file"
bad 'topology.twist: twists the rings of dimensions that are shorter than the longest, but there are none' \
    'kind = "torus"; extents = [4, 4]; twist = true;'
bad 'topology.twist: has closing links end half way round .*: their extent of 5 has to be even' 'kind = "torus"; extents = [4, 5]; twist = true;'
bad 'topology.twist: needs rings: topology.wrap of dimension 1 is false' \
    'kind = "torus"; extents = [4, 8]; twist = true; wrap = [true, false];'
bad 'topology.rows: of 3 do not divide the 8 switches of a group evenly' 'kind = "dragonfly"; p = 1; a = 8; h = 1; rows = 3;'
bad 'topology.column_links: means nothing with' 'kind = "dragonfly"; p = 1; a = 8; h = 1; column_links = 3;'
