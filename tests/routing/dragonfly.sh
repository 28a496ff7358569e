#!/bin/bash
# Dragonflies by p, a and h are the hierarchical topology, bit for bit; and what took detours is counted: each packet once, on any number
# of ranks, saved and resumed.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
. tests/libcsv.sh
cat >"$t/d.cfg" <<'END2'
topology: { kind = "dragonfly"; p = 2; a = 4; h = 2; bandwidth = "10 GB/s"; local_latency = "10 ns"; global_latency = "100 ns"; };
routing: { algorithm = "par"; };
switch: { channels = 8; buffer = "16 KiB"; delay = "50 ns"; };
adapter: { packet_size = "1 KiB"; header = "0 B"; };
traffic: { pattern = "adversarial"; load = 0.3; size = "1 KiB"; };
run: { warmup = "0 us"; end = "8 us"; };
END2
sed 's/kind = "dragonfly"; p = 2; a = 4; h = 2/kind = "hierarchical"; groups = [4, 9]; nodes_per_switch = 2/
     s/local_latency = "10 ns"; global_latency = "100 ns"/latency = ["10 ns", "100 ns"]/' "$t/d.cfg" >"$t/h.cfg"
without_names() { sed 's/,local,/,level 1,/; s/,global,/,level 2,/' "$1/links.csv"; }
without_names_json() { jq -S '.result | del(.network) | .link_classes |= map(del(.class))' "$1/summary.json"; }
for keys in routing.algorithm=minimal routing.algorithm=par "topology.groups=5 routing.algorithm=ugal"; do
    [[ $keys != *groups* ]] || sed -i 's/\[4, 9\]/[4, 5]; links = [1, 2]/' "$t/h.cfg"
    # shellcheck disable=SC2086
    run -o "$t/d" "$t/d.cfg" $keys && run -o "$t/h" "$t/h.cfg" "${keys##* }" && cmp <(without_names "$t/d") <(without_names "$t/h") &&
        cmp <(without_names_json "$t/d") <(without_names_json "$t/h") && grep -q '^network     dragonfly p = 2, a = 4, h = 2, ' "$t/d/summary.txt"
    check "$keys: as the hierarchical network"
done
[ "$(csv_columns "$t/d/links.csv" class packets | cut -d, -f1 | sort -u | tr '\n' ' ')" = "class global local node " ] ||
    [ "$(csv_columns "$t/d/links.csv" class packets | cut -d, -f1 | sort -u | tr '\n' ' ')" = "global local node " ]
check "links are local and global ones"

refused 'topology.groups: of 4 does not divide the a h = 8 global links of a group evenly' "$t/d.cfg" topology.groups=4
check "groups that do not divide the global links"
refused 'topology.groups: of 10 does not divide' "$t/d.cfg" topology.groups=10
check "more groups than links to join them"
sed 's/ h = 2;//' "$t/d.cfg" >"$t/bad.cfg"
refused 'bad.cfg:1: topology.h: is missing' "$t/bad.cfg"
check "h is missing"
sed 's/ global_latency = "100 ns";//' "$t/d.cfg" >"$t/bad.cfg"
refused 'topology.global_latency: is missing; give it, or topology.latency for all links' "$t/bad.cfg"
check "the latency of global links is missing"
refused 'topology.nodes_per_switch: ' "$t/d.cfg" topology.nodes_per_switch=2
check "a key of the hierarchical topology"

run -o "$t/former" "$t/d.cfg" traffic.pattern=next_group && grep -q 'traffic.pattern: "next_group" is called "adversarial" now' "$t/err" &&
    run -o "$t/now" "$t/d.cfg" && alike "$t/former" "$t/now" && ! grep -q . "$t/err"
check "the pattern's former name"

# 8 x 100 ns and four packets of 102.4 ns
"$m" --check "$t/d.cfg" | grep -q '^bias .* by 1.21 us, the time of 11.8 largest packets' && ! "$m" --check "$t/d.cfg" routing.algorithm=minimal | grep '^bias'
check "--check tells the bias"

# All packets, from the beginning until they have arrived: whoever took a detour comes to its node by a link that counts it once.
sums() { # FOLDER: minimal, detours, their sum; those on links to nodes; packets measured; of all
    csv_columns "$1/links.csv" to_kind detour_packets | awk -F, '$1 == "node" { n += $2 } END { print n + 0 }' >"$t/n"
    jq -r --argjson n "$(cat "$t/n")" '.result | .routes | [.minimal, .detour, .minimal + .detour, $n] | map(tostring) | join(" ")' "$1/summary.json"
}
for routing in "valiant" "valiant routing.valiant=any" "valiant routing.valiant=group" "indirect" "indirect routing.indirect=adaptive" "ugal" \
    "ugal routing.candidates=3 routing.selection=random" "par" "par routing.pinning=message" "ugal_piggyback" "ugal switch.queueing=fifo"; do
    # shellcheck disable=SC2086
    run -o "$t/c" "$t/h.cfg" traffic.stop="6 us" run.end="40 us" traffic.load=0.45 routing.algorithm=$routing && read -r minimal detour all there < <(sums "$t/c") &&
        [ "$there" = "$detour" ] && [ "$all" = "$(jq .result.packet_latency_ps.count "$t/c/summary.json")" ] && [ "$detour" -gt 100 ] &&
        case $routing in valiant | *=group) [ "$minimal" = 0 ] ;; *) [ "$minimal" -gt 50 ] ;; esac
    check "$routing: each detour counts once"
done
run -o "$t/c" "$t/h.cfg" routing.algorithm=minimal && [ "$(jq .result.routes "$t/c/summary.json")" = null ] && ! head -n 1 "$t/c/links.csv" | grep -q detour &&
    ! grep -q '^detours' "$t/c/summary.txt"
check "without detours nothing is said of them"

all_alike "par, counted" "$t/d.cfg" traffic.load=0.4
all_alike "torus, valiant" configs/torus-uniform.cfg topology.extents=4,4 routing.algorithm=valiant switch.channels=8 traffic.load=0.3 "run.warmup=1 us" "run.end=5 us"
all_alike "par, faults in mid-run, FIFO" "$t/d.cfg" traffic.load=0.4 switch.queueing=fifo "faults.link_rate=0.05" "faults.at=3 us" faults.unreachable=drop
run -o "$t/s" "$t/d.cfg" && run -o "$t/f" "$t/d.cfg" engine.cell_order=shuffled && alike "$t/s" "$t/f"
check "cells in any order"
