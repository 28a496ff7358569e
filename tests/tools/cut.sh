#!/bin/bash
# Parts of traces of each family of MPI's calls: tests/tools/cut.sh
#
# The programs of tests/tools/tracer/ are traced and cut in the middle at many times, and to some of their tasks. Nothing is wrong with any part, it
# comes to its end when it is replayed, and all that is sent in it is received. Where several threads call MPI, the parts have the calls of
# several. A part of all of the time is the whole: the same results.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace marsconv=$(dirname "$marssim")/marsconv
[ -x "$marsconv" ] || { echo "SKIP: marsconv is not built"; exit 0; }
shared=$(readlink -f ../shared/traces)
cd "$work" || exit 2

cat >replay.cfg <<'EOF2'
topology: { kind = "star"; nodes = 8; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; trace = "part.mars"; } );
partition: { bind = "no"; };
EOF2

replay() { # OUT WORDS...
    rm -rf "$1"
    timeout 60 "$marssim" -q -o "$1" replay.cfg "${@:2}" >err 2>&1
}
part_of() { # TRACE PART
    rm -f part.mars
    timeout 60 "$marsconv" --to mars --cut "$2" "$1" part.mars >err 2>&1 && timeout 60 "$marsconv" --check part.mars >>err &&
        replay part && jq -e '.result.end_reason == "jobs done" and .result.jobs[0].unreceived == 0' part/summary.json >>err
}
all_of() { # TRACE PARTS...
    local part
    for part in "${@:2}"; do
        part_of "$1" "$part" || { echo "$part" >>err; return 1; }
    done
}
# Parts of a quarter of the time, each beginning 1/16 behind the one before, and one of 1/64; then some tasks.
parts_of() { # TRACE TASKS...
    local trace=$1 end at part=
    shift
    "$marsconv" --stats --json "$trace" >stats 2>err || { false; check "$trace: it is read"; return; }
    end=$(jq '[.times[].time_ns] | max' stats)
    for at in {0..15}; do
        part+=" time=$((end * at / 16))ns:$((end * (at + 4) / 16))ns"
    done
    all_of "$trace" $part time=$((end / 2))ns:$((end / 2 + end / 64))ns
    check "$trace: parts of its time can be replayed"
    all_of "$trace" "${@/#/tasks=}"
    check "$trace: and some of its tasks"
    rm -f part.mars
    "$marsconv" --to mars --cut time=: "$trace" part.mars >err 2>&1 && replay whole && replay all "jobs[0].trace=\"$trace\"" &&
        diff <(jq -S .result whole/summary.json) <(jq -S .result all/summary.json) >err && cmp whole/tasks.csv all/tasks.csv >err
    check "$trace: all of it is what it was"
}
traced() { # NAME MPIRUN TASKS PROGRAM WORDS...
    timeout -k 5 120 "$2" -n "$3" "$marstrace" -o "$1" "./$4" "${@:5}" >err 2>&1
    check "$1: it is traced"
}

if [ -x "$marstrace" ]; then
    for program in collectives matched windows inter families streams; do
        mpicc -O1 -w -fopenmp -o $program "$top/tests/tools/tracer/$program.c" -lpthread >err 2>&1
        check "$program: it is compiled"
    done
    traced overlap mpirun 5 collectives overlap
    parts_of overlap 1-3 0-0 2-4
    traced nonblocking mpirun 3 collectives nonblocking
    parts_of nonblocking 0-1 1-2
    traced probes mpirun 3 matched 40
    parts_of probes 0-1 2-2
    traced onesided mpirun 3 windows 30
    parts_of onesided
    traced groups mpirun 5 inter
    parts_of groups 0-3
    traced calls mpirun 4 families
    parts_of calls 1-2
    traced multiple mpirun 3 streams multiple
    parts_of multiple 0-1 1-2
    part_of multiple "time=:$(jq '.times[0].time_ns / 2 | floor' stats)ns" &&
        [ "$("$marstrace" --list part.mars | awk '$1 ~ /^0[.]/ { print $1 }' | sort -u | wc -l)" -ge 2 ]
    check "a part has the calls of those threads that make some in it"
    traced serialized mpirun 3 streams serialized
    parts_of serialized 0-1
    if command -v mpicc.mpich >/dev/null && [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
        mpicc.mpich -O1 -w -o collectives-mpich "$top/tests/tools/tracer/collectives.c" >err 2>&1
        mpicc.mpich -O1 -w -o matched-mpich "$top/tests/tools/tracer/matched.c" >err 2>&1
        traced persistent mpirun.mpich 3 collectives-mpich persistent twice
        parts_of persistent 0-1
        mpicc.mpich -O1 -w -o partitioned "$top/tests/tools/tracer/partitioned.c" >err 2>&1
        traced parts mpirun.mpich 3 partitioned
        parts_of parts 0-1
        traced exchanges mpirun.mpich 3 matched-mpich 20
        parts_of exchanges 0-1
    else
        echo "SKIP: marssim was built without MPICH (mpich, libmpich-dev)"
    fi
else
    echo "SKIP: the tracer is not built"
fi

# Receives of any source of which the trace does not say what came.
if [ -d "$shared" ]; then
    tar xf "$shared/hpcc-8.tar.xz"
    for part in time=:100ms time=200ms:400ms time=1s:1500ms tasks=2-5; do
        part_of hpcc-8 $part
        check "hpcc-8, $part: a part with receives of any source"
    done
else
    echo "SKIP: ../shared/traces is not there"
fi
