#!/bin/bash
# Every topology with every algorithm that it has: proved free of deadlock with as many channels as it asks for, and refused with one fewer; proved
# and run with links and switches that are down; tables of shortest paths, up*/down* and layers; the same bits on 1, 2, 3 and 5 ranks, in every order
# of cells, saved and resumed; with links that go down in between, and with LONG=1 without as well. kinds.sh [PATTERN]: those whose name it matches alone.
set -u
only=${1:-}
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

links='bandwidth = "10 GB/s"; latency = ["20 ns"]; node_latency = "30 ns";'
printf '%s\n' 'switch a' 'switch b' 'switch c' 'switch d' >"$t/file.net"
for n in 0 1 2 3 4 5; do printf 'node n%d %s 20ns 10GB/s\n' $n "$(echo a a b c d d | cut -d' ' -f$((n + 1)))" >>"$t/file.net"; done
for ends in 'a b' 'b c' 'c d' 'd a' 'a c'; do echo "link $ends 20ns 10GB/s"; done >>"$t/file.net"
general="adaptive valiant ugal par"
kinds=( # NAME; ITS KEYS; ITS ALGORITHMS but minimal; further keys of all its runs
    "torus;kind = \"torus\"; extents = [4, 1, 3, 2]; $links;adaptive valiant inner_outer_inner ugal par;"
    "twisted torus;kind = \"torus\"; extents = [2, 2, 4]; twist = true; $links;$general;"
    "fat tree;kind = \"fat_tree\"; down = [2, 3]; up = [1, 2]; $links;d_mod_k s_mod_k random $general;"
    "rails;kind = \"rail_fat_tree\"; pods = 2; pod_nodes = 3; spines = 2; $links;d_mod_k s_mod_k random $general;node.adapters=2"
    "hierarchical;kind = \"hierarchical\"; groups = [2, 4]; $links;adaptive valiant indirect ugal par ugal_piggyback;"
    "dragonfly;kind = \"dragonfly\"; p = 1; a = 3; h = 1; $links;adaptive valiant indirect ugal par ugal_piggyback;"
    "rows;kind = \"dragonfly\"; p = 1; a = 4; rows = 2; column_links = 2; h = 1; groups = 3; arrangement = \"circulant\"; $links;$general;"
    "hyperx;kind = \"hyperx\"; extents = [3, 3]; links = [1, 2]; $links;$general dal;"
    "slim fly;kind = \"slim_fly\"; q = 3; $links;$general;"
    "polarfly;kind = \"polarfly\"; q = 3; $links;$general;"
    "dragonfly plus;kind = \"dragonfly_plus\"; leaves = 2; spines = 2; h = 1; $links;$general;"
    "star;kind = \"star\"; nodes = 6; $links;;"
    "file;kind = \"file\"; file = \"$t/file.net\";;$general;"
)
traffic='traffic: { pattern = "uniform"; load = 0.5; size = "1000 B"; }; adapter: { packet_size = "500 B"; header = "0 B"; };'
down="faults.link_rate=0.1 faults.switch_rate=0.04 faults.seed=3 faults.unreachable=drop"

free() { # of deadlock: $t/c.cfg with further keys
    "$m" --check=full "$t/c.cfg" "$@" >"$t/err" 2>&1 && grep -q 'deadlock *none' "$t/err"
}
for kind in "${kinds[@]}"; do
    IFS=';' read -r name _ <<<"$kind"
    [[ $name =~ $only ]] || continue
    rest=${kind#*;} more=${kind##*;}
    rest=${rest%;*} algorithms=${rest##*;}
    keys=${rest%;*}
    echo "topology: { $keys }; $traffic run: { warmup = \"0 ns\"; end = \"2 us\"; };" >"$t/c.cfg"
    # shellcheck disable=SC2086
    for algorithm in minimal $algorithms; do
        set -- $more routing.algorithm=$algorithm
        needed=1
        ! grep -q 'switch.channels' <("$m" --check "$t/c.cfg" "$@" switch.channels=1 2>&1) ||
            needed=$("$m" --check "$t/c.cfg" "$@" switch.channels=1 2>&1 | sed -n 's/.* needs \([0-9]*\) virtual channels.*/\1/p')
        why=
        free "$@" switch.channels="${needed:-0}" || why="not proved with ${needed:-no} channels;"
        [ "$needed" = 1 ] || refused "needs $needed virtual channels" "$t/c.cfg" "$@" switch.channels=$((needed - 1)) ||
            why="$why not refused with one channel fewer;"
        [ "$name" = star ] || free "$@" $down switch.channels=$((needed + 1)) || why="$why not proved with faults;"
        verdict "$why" "$name, $algorithm: $needed channels"
        [ "$name" = star ] || same_bits "$name, $algorithm, faults in between" "$@" $down faults.at=700ns switch.channels=$((needed + 1))
        [ "$name" != star ] && [ -z "${LONG:-}" ] || same_bits "$name, $algorithm" "$@"
    done
    for algorithm in shortest updown layered; do
        # shellcheck disable=SC2086
        free $more routing.algorithm=$algorithm switch.channels=8
        check "$name, $algorithm"
    done
done
same_bits_run
