#!/bin/bash
# Instructions per packet-hop of three small systems stay within 5 % of those recorded in tests/instructions.txt.
#
#   tests/instructions.sh          the test
#   tests/instructions.sh show     the figures of this version, as a table
#   make recount        records them
#
# Each system is run twice under valgrind's callgrind, short and long: the difference is free of what start and end cost. Valgrind
# does not know every processor, so the program is built for x86-64-v3. Another compiler makes other instructions: then nothing is
# compared. Timings are bench/'s affair; this finds what makes the hot path longer on the day it is made.
set -u
cd "$(dirname "$0")/.." || exit 2
recorded=tests/instructions.txt
build=build/release-x86-64-v3
percent=5
#    name | configuration | what makes it short, and long | more
rows='torus | bench/torus-dense.cfg | run.end=1500ns run.end=3500ns | topology.extents=8,8,8 run.warmup=1us
fat-tree | bench/u-fat-tree-1024.cfg | traffic.messages=10 traffic.messages=40 | topology.radix=8
pingpong | configs/star-pingpong.cfg | jobs[0].steps=1000 jobs[0].steps=4000 |'

skip() {
    echo "SKIP: $1"
    exit 0
}

command -v valgrind >/dev/null || skip "valgrind is not installed: nobody counts instructions"
grep -q '^flags.* avx2 .* bmi2 ' /proc/cpuinfo 2>/dev/null || skip "this processor is not an x86-64-v3, for which the program is counted"
case ${BUILD:-build/release} in
build/release*) ;;
*) skip "instructions are those of the optimised build only" ;;
esac
compiler="$(${CC:-gcc} --version | sed -n '1s/ (.*)//p')"
was=$(sed -n 's/^compiler //p' $recorded)
[ "${1:-}" ] || [ "$compiler" = "$was" ] || skip "instructions were counted with $was, this is $compiler: make recount"
[ -x $build/marssim ] || skip "no program in $build: make check builds it"
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT

# All instructions of a run, and its packet-hops.
count() { # FILE OVERRIDE...
    local refs hops
    refs=$(valgrind --tool=callgrind --callgrind-out-file="$out/callgrind" $build/marssim -q -o "$out/run" "$@" 2>&1 |
        sed -n 's/.*Collected : //p')
    hops=$(sed -n 's/^ *"packet_hops": \([0-9]*\),*$/\1/p' "$out/run/summary.json")
    rm -rf "$out/run"
    echo "${refs:-0} ${hops:-0}"
}

measure() { # NAME FILE SHORT LONG MORE...: instructions per packet-hop
    local file=$2 short=$3 long=$4
    shift 4
    { count "$file" "$short" "$@" && count "$file" "$long" "$@"; } |
        awk 'NR == 1 { i = $1; h = $2 } END { if ($2 > h && h > 0) printf "%.1f\n", ($1 - i) / ($2 - h); else print 0 }'
}

each() { # COMMAND: with name, recorded figure and present figure of each row
    local name file ends more now
    while IFS='|' read -r name file ends more; do
        now=$(measure $name $file $ends $more)
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
      echo "version $($build/marssim --version | sed -n '1s/^marssim //p') $(git describe --always 2>/dev/null)"
      echo "compiler $compiler"
      each record; } >"$out/new" && mv "$out/new" $recorded && cat $recorded ;;
show)
    printf '| system | instructions per packet-hop | recorded |\n| --- | --: | --: |\n'
    each show ;;
*)
    each judge | tee "$out/report"
    ! grep -q '^not ok' "$out/report" ;;
esac
