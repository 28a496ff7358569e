#!/bin/bash
# A run that is saved on two ranks and continues on one and on three ends as the run without interruption does;
# what cannot be resumed is refused with a message.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
m=$marssim t=$work
run() { "$m" -q "$@" partition.bind=no; }
torus=(configs/torus-uniform.cfg topology.extents=4,4,4 "run.warmup=500 ns" "run.end=3 us" "output.period=250 ns"
    "output.matrix=true")

equal() { # FOLDER FOLDER
    local f
    for f in links periods packet_latency message_size matrix; do cmp "$1/$f.csv" "$2/$f.csv" || return 1; done
    cmp <(jq -S .result "$1/summary.json") <(jq -S .result "$2/summary.json")
}

run -o "$t/a" "${torus[@]}" || exit 1
mpirun -n 2 "$m" -q -o "$t/b" "${torus[@]}" "run.checkpoint.at=1300 ns" partition.adapt=false partition.bind=no
equal "$t/a" "$t/b"
check "saving changes no result"
run --resume "$t/b/checkpoints" -o "$t/c" && equal "$t/a" "$t/c"
check "from two ranks to one"
mpirun -n 3 "$m" -q --resume "$t/b" -o "$t/d" partition.oversubscribe=true partition.method=random partition.bind=no &&
    equal "$t/a" "$t/d"
check "from two ranks to three"

c=$(echo "$t"/b/checkpoints/checkpoint-*)
refused "is fixed once a run has begun" --resume "$c" -o "$t/e" run.seed=7
check "a key that was baked in is refused by name"
refused "leave the file out" --resume "$c" -o "$t/e" configs/torus-uniform.cfg
check "a configuration beside the checkpoint is refused"
refused "holds no checkpoint" --resume "$t/a" -o "$t/e"
check "a folder without checkpoints is refused"
mv "$c/part-1" "$t/part"
refused "part-1" --resume "$c" -o "$t/e"
check "a missing part is refused"
head -c 3000 "$t/part" >"$c/part-1"
refused "cut short" --resume "$c" -o "$t/e"
check "a part that was cut short is refused"
{ head -c 3000 "$t/part"; printf x; tail -c +3002 "$t/part"; } >"$c/part-1"
refused "checksum" --resume "$c" -o "$t/e"
check "a damaged part is refused"
cp "$c/part-0" "$c/part-1"
refused "part-1" --resume "$c" -o "$t/e"
check "a part that is twice is refused"
mpirun -n 2 "$m" -q -o "$t/other" "${torus[@]}" "run.checkpoint.at=1300 ns" traffic.load=0.21 partition.adapt=false partition.bind=no
cp "$t"/other/checkpoints/*/part-1 "$c/part-1"
refused "part-1: the state of \"part\" 1 does not fit" --resume "$c" -o "$t/e"
check "a part of another run is refused"
cp configs/torus-uniform.cfg "$c/part-1"
refused "part-1: is no state of marssim" --resume "$c" -o "$t/e"
check "a foreign file is refused"
cp "$t/part" "$c/part-1"
good=0 flips=$(stat -c %s "$t/part")
for i in 0 1 2 3 4 5 6 7 8 9; do # every tenth of the file, each time another bit
    at=$((flips * i / 10 + i)) byte=$(od -An -tu1 -j $((flips * i / 10 + i)) -N 1 "$t/part")
    cp "$t/part" "$c/part-1"
    printf "\\x$(printf %x $((byte ^ (1 << i % 8))))" | dd of="$c/part-1" bs=1 seek=$at conv=notrunc status=none
    refused "part-1" --resume "$c" -o "$t/e" && good=$((good + 1))
done
[ "$good" -eq 10 ]
check "a bit that has flipped is found"
cp "$t/part" "$c/part-1"
cp "$c/index" "$t/index"
head -c 200 "$t/index" >"$c/index"
refused "index: has been cut short" --resume "$c" -o "$t/e" && cp "$c/part-0" "$c/index" && refused "index: " --resume "$c" -o "$t/e"
check "so is what is wrong with the index"
cp "$t/index" "$c/index"
mv "$c" "$c.tmp"
refused "holds no checkpoint" --resume "$t/b" -o "$t/e"
check "a checkpoint that was not finished is not taken"
# The files that a run was made from: who sends to whom, where tasks are, and what they do.
mkdir "$t/in"
cp -r tests/traces/npb-is.S-8 "$t/in/trace"
printf '%d\n' 2 3 4 5 6 7 0 1 >"$t/in/who"
seq 7 -1 0 >"$t/in/where"
cat >"$t/in/system.cfg" <<'C'
topology: { kind = "torus"; extents = [8]; bandwidth = "10 GB/s"; latency = "50 ns"; };
jobs: ( { program = "trace"; trace = "trace"; trace_memory = "0 B"; placement = "file"; placement_file = "where"; } );
traffic: { pattern = "permutation"; permutation_file = "who"; load = 0.1; size = "64 B"; stop = "20 us"; };
C
run -o "$t/f" "$t/in/system.cfg" "run.checkpoint.at=5 us" && run --resume "$t/f" -o "$t/g" &&
    cmp "$t/f/tasks.csv" "$t/g/tasks.csv"
check "a run made from files continues"
for f in who where trace/pmpi-trace-rank-0.txt; do
    cp "$t/in/$f" "$t/kept"
    echo "# " >>"$t/in/$f"
    refused "has changed since the run began" --resume "$t/f" -o "$t/e"
    check "not when ${f%%/*} has changed"
    cp "$t/kept" "$t/in/$f"
done
# The same with names as seen from where the run began: it continues elsewhere, and knows its files.
(cd "$t/in" && "$m" -q -o here system.cfg "run.checkpoint.at=5 us" partition.bind=no) && run --resume "$t/in/here" -o "$t/h" &&
    cmp "$t/in/here/tasks.csv" "$t/h/tasks.csv"
check "a run with relative names continues elsewhere"
for f in who where trace/pmpi-trace-rank-3.txt; do
    cp "$t/in/$f" "$t/kept"
    echo "# " >>"$t/in/$f"
    refused "$f: has changed since the run began" --resume "$t/in/here" -o "$t/e"
    check "not when ${f%%/*} has changed"
    cp "$t/kept" "$t/in/$f"
done
if [ -x "${m%/*}/marsconv" ]; then
    "${m%/*}/marsconv" --to mars "$t/in/trace" "$t/in/own"
    (cd "$t/in" && "$m" -q -o own-out system.cfg 'jobs[0].trace="own"' "run.checkpoint.at=5 us" partition.bind=no) && run --resume "$t/in/own-out" -o "$t/i" &&
        cmp "$t/in/own-out/tasks.csv" "$t/i/tasks.csv"
    check "a trace of marstrace, too"
    rm -rf "$t/in/own"
    "${m%/*}/marsconv" --to mars --cut time=:5ms tests/traces/npb-is.S-8 "$t/in/own" 2>/dev/null
    refused "own: has changed since the run began" --resume "$t/in/own-out" -o "$t/e"
    check "not when it is another one"
fi
[ ! -e "$t/e" ]
check "what is refused writes nothing"
