#!/bin/bash
# Instructions per packet-hop of three small systems stay within 1 % of those recorded in tests/run/instructions.txt.
#
#   tests/run/instructions.sh          the test
#   tests/run/instructions.sh show     the figures of this version, as a table
#   make recount        records them
#
# Each system is run twice under valgrind's callgrind, short and long: the difference is free of what start and end cost. Valgrind
# does not know every processor, so the program is built for x86-64-v3. Another compiler makes other instructions: then nothing is
# compared. Timings are bench/'s affair; this finds what makes the hot path longer on the day it is made.
set -u
cd "$(dirname "$0")/../.." || exit 2
recorded=tests/run/instructions.txt
build=build/release-x86-64-v3
percent=1
#    name | configuration | what makes it short, and long | more
rows='torus | bench/torus-dense.cfg | run.end=1500ns run.end=3500ns | topology.extents=8,8,8 run.warmup=1us
fat-tree | bench/u-fat-tree-1024.cfg | traffic.messages=10 traffic.messages=160 | topology.radix=8
pingpong | configs/star-pingpong.cfg | jobs[0].steps=1000 jobs[0].steps=4000 |'

skip() {
    echo "SKIP: $1"
    exit 0
}

. tests/lib-instructions.sh
program=$build/marssim
reason=$(why_not)
[ -z "$reason" ] || skip "$reason"
case ${BUILD:-build/release} in
build/release*) ;;
*) skip "instructions are those of the optimised build only" ;;
esac
compiler="$(${CC:-gcc} --version | sed -n '1s/ (.*)//p')"
was=$(sed -n 's/^compiler //p' $recorded)
[ "${1:-}" ] || [ "$compiler" = "$was" ] || skip "instructions were counted with $was, this is $compiler: make recount"
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT

each() { # COMMAND: with name, recorded figure and present figure of each row
    local name file ends more now
    while IFS='|' read -r name file ends more; do
        now=$(measure $ends $file $more)
        "$1" $name "$(sed -n "s/^$(echo $name) //p" $recorded)" "$now"
    done <<<"$rows"
}

record() {
    echo "$1 $3"
}

show() {
    printf '| %s | %s | %s |\n' "$1" "$3" "$2"
}

judge() {
    awk -v name="$1" -v was="$2" -v now="$3" -v percent=$percent 'BEGIN {
        change = was > 0 ? 100 * (now / was - 1) : 1e9
        what = sprintf("%s takes %s instructions per packet-hop, %+.1f %% of the %s recorded", name, now, change, was)
        if (now <= 0) print "not ok " name " runs under valgrind"
        else if (change > percent) print "not ok " what "\n    find out why; if it must be: make recount"
        else if (change < -percent) print "ok " what "\n    faster: record it with make recount"
        else print "ok " what }'
}

case ${1:-} in
record)
    { sed -n '/^#/p' $recorded
      echo "version $($program --version | sed -n '1s/^marssim //p') $(git describe --always 2>/dev/null)"
      echo "compiler $compiler"
      each record; } >"$out/new" && mv "$out/new" $recorded && cat $recorded ;;
show)
    printf '| system | instructions per packet-hop | recorded |\n| --- | --: | --: |\n'
    each show ;;
*)
    each judge | tee "$out/report"
    ! grep -q '^not ok' "$out/report" ;;
esac
