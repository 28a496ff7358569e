#!/bin/bash
# CONTRIBUTING's recipes, done: tests/extend.sh
#
# A copy of the tree gets a kind of each sort: one new file of tests/extend, which stands where it would stand in the tree, and one
# line in a table. What changed is built, and the kinds run on 1 and 3 ranks with equal results.
set -u
cd "$(dirname "$0")/.." || exit 2
program=$(readlink -f "${MARSSIM:-./marssim}")
built=$(dirname "$program")
[ -e "$built/flags" ] || { echo "SKIP: the program is not where it was built"; exit 0; }
case $built in *sanitize*) echo "SKIP: built without sanitisers already"; exit 0 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
number=0

check() { # NAME: the last command is to have succeeded
    local status=$?
    number=$((number + 1))
    if [ $status -eq 0 ]; then echo "ok $number $1"; else echo "not ok $number $1"; tail -5 "$work/log"; fi
}

mkdir -p "$work/build/release"
cp -pR Makefile marssim.c kernel stats routing partition net nodes tasks run plugin tools "$work"
(cd "$built" && tar cf - --exclude=tests --exclude=marssim .) | tar xf - -C "$work/build/release"
cp -R tests/extend/* "$work"
cd "$work" || exit 2
line() { # FILE TABLE KIND: one line in a table
    sed -i "s/^#define $2(KIND).*/#define $2(KIND) KIND($3) \\\\/" "$1" && grep -q "KIND($3)" "$1" && echo "$3" >>kinds
}
line routing/route.c TOPOLOGIES route_line
line tasks/traffic/traffic.c PATTERNS task_pattern_mirror
line tasks/traffic/time.c ARRIVALS task_arrival_even
line net/settings.c SELECTIONS net_select_by_source
line tasks/jobs/placement.c PLACEMENTS task_placement_backward
[ "$(wc -l <kinds)" -eq 5 ]
check "one line in each table"
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u EXTRA make BUILD=build/release build/release/marssim >log 2>&1
check "it is built"
marssim=$work/build/release/marssim

equal() { # NAME FILE WORDS...: 1 and 3 ranks
    local name=$1
    shift
    "$marssim" -q -o one "$@" >log 2>&1 && mpirun -n 3 "$marssim" -q -o three "$@" partition.oversubscribe=true >log 2>&1 &&
        [ "$(jq -S .result one/summary.json)" = "$(jq -S .result three/summary.json)" ] && cmp -s one/links.csv three/links.csv &&
        [ "$(jq .result.packets_delivered one/summary.json)" -gt 20 ]
    check "$name: 1 and 3 ranks"
}
cat >line.cfg <<'END'
topology: { kind = "line"; length = 11; bandwidth = "10 GB/s"; latency = "50 ns"; };
traffic: { pattern = "mirror"; every = 3; load = 0.3; arrival = "even"; };
run: { end = "20 us"; };
END
equal "a topology, a pattern, an arrival" line.cfg
cat >tree.cfg <<'END'
topology: { kind = "fat_tree"; down = [4, 4]; up = [1, 2]; bandwidth = "10 GB/s"; latency = "50 ns"; };
routing: { algorithm = "adaptive"; selection = "by_source"; };
jobs = ( { program = "stencil"; extents = [10]; steps = 5; placement = "backward"; first_node = 2; } );
END
equal "a path selection, a placement" tree.cfg
"$marssim" --help-config topology.length >log && grep -q "only with topology.kind = line" log
check "its key is explained"
"$marssim" -q line.cfg topology.kind=star >log 2>&1
[ $? -eq 2 ] && grep -q 'topology.nodes: is missing' log
check "and means nothing with another kind"
"$marssim" --list >log && for kind in line mirror even by_source backward; do grep -q "  $kind " log || echo "$kind"; done >missing && [ ! -s missing ]
check "--list has all"
