#!/bin/bash
# What --check says of a network, as text and as JSON: lengths of links, hops, bounds of throughput.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
cd "$work" || exit 2

topology() { # KEYS...: net.cfg
    echo "topology: { $* bandwidth = \"10 GB/s\"; latency = \"10 ns\"; };" >net.cfg
}
says() { # NAME PATTERN OVERRIDES...: a line of --check
    timeout 120 "$marssim" --check net.cfg "${@:3}" >out 2>err </dev/null
    grep -q -- "$2" out
    local status=$?
    shown=$work/out
    verdict "$([ $status -eq 0 ] || echo "there is no line $2")" "$1"
}
# By independent code: the mean distance of the Hoffman-Singleton graph, and 26/25 on the busiest link when every node sends to all alike,
# shared equally over the shortest paths; its capacity divided by 1.82 links a packet is the same, since all links are equally busy.
topology 'kind = "slim_fly"; q = 5; nodes_per_switch = 4;'
says "hops of a slim fly" '^hops  *1.857 links between two switches with nodes in the mean, 2 at most$'
says "uniform traffic on it" '^throughput every node to all alike: 96.2 % of the nodes. links by shortest paths, at most 96.2 % by any$'
# 16/15 = 1 / 0.9375, so that nodes cannot fill the links: 100 %
topology 'kind = "slim_fly"; q = 4; nodes_per_switch = 3;'
says "links that nodes cannot fill" 'every node to all alike: 100.0 % .* by shortest paths, at most 100.0 % by any'
# 71/60 on the busiest link; 2 x 4 nodes share the one link to the next group, and there are 8 links to other groups
topology 'kind = "dragonfly"; p = 2; a = 4; h = 2; arrangement = "absolute";'
says "uniform traffic on a dragonfly" 'every node to all alike: 84.5 % '
says "each group to the next" 'each group to the next: .* by shortest paths, at most 100.0 % by any'
# 4 racks of a row of 4: an x link is between racks 1, 2 or 3 apart; floor: 4 x 2.4 / 0.6 = 16, so that 4 are in each row
topology 'kind = "hyperx"; extents = [2, 4];'
says "links inside racks and along a row" '^  *y  *12  *10 GB/s  *120 GB/s  *10 ns  *3.0 m  *3.8 m$'
says "of racks" '^  *x  *4  *10 GB/s  *40 GB/s  *10 ns  *2.0 m  *2.0 m$'
says "wider racks" '^  *y  .* 3.7 m  *5.0 m$' floor.rack_width=1 floor.row_pitch=4
# 8 racks of one switch: sqrt(8 x 4) = 5.7, 6 in a row: switches 6 and 7 are in the next one
says "more racks" '^  *x .* 2.6 m  *2.6 m$' floor.rack_switches=1

topology 'kind = "polarfly"; q = 5; nodes_per_switch = 3;'
timeout 120 "$marssim" --check=json net.cfg >out 2>err </dev/null &&
    jq -e '.network | .switches == 31 and .nodes == 93 and .ports == [8, 9] and .most_hops == 2 and (.mean_hops - 1.80645161 | fabs) < 1e-7 and
        (.uniform_shortest - 1) == 0 and .link_classes[0].class == "link" and .link_classes[0].links == 90 and .deadlock_free == true and
        .channels_needed == 2 and .bisection_bytes_per_s >= 30e10 - 1' out >/dev/null
check "--check=json"
ends 2 'there are --check, --check=full and --check=json' "$marssim" --check=xml net.cfg
check "--check=xml"
