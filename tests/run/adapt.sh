#!/bin/bash
# Ranks that are not worth it: tests/run/adapt.sh
#
# Two tasks on different ranks send each other one message after the other: a round of the ranks for a few records. Where these are all, one
# rank begins alone; beside 32 others, which soon end, two ranks begin again as one, after 1,000 rounds at the latest. Results, rows of
# periods.csv and warnings are those of one rank.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
cd "$work" || exit 2

cat >two.cfg <<'END'
topology: { kind = "torus"; extents = [5, 8]; bandwidth = "10 GB/s"; latency = "100 ns"; };
jobs: ( { program = "pingpong"; placement = "strided"; stride = 13; bytes = 100; steps = 20000; } );
output: { period = "1 ms"; };
partition: { bind = "no"; };
END
{
    sed '/^jobs/,$d' two.cfg
    echo 'jobs: ( { program = "pingpong"; share = true; placement = "strided"; stride = 13; bytes = 100; steps = 20000; }'
    for ((i = 1; i <= 16; i++)); do echo ', { program = "pingpong"; share = true; placement = "random"; bytes = 100; steps = 1; }'; done
    echo ');'
    sed "1,/^jobs/d" two.cfg; echo "node: { cores = 40; };"
} >many.cfg
for system in two many; do
    "$marssim" -q -o one $system.cfg >err 2>&1
    check "$system: one rank"
    for adapt in true false; do
        mpirun -n 2 "$marssim" -q -o "$adapt" $system.cfg partition.adapt=$adapt >err 2>&1 &&
            [ "$(jq -S .result one/summary.json)" = "$(jq -S .result "$adapt/summary.json")" ] &&
            cmp one/periods.csv "$adapt/periods.csv" && cmp one/tasks.csv "$adapt/tasks.csv"
        check "$system: two ranks, partition.adapt = $adapt: the results of one"
    done
    jq -e '.run.adapted == false and .run.working_ranks == 2' false/summary.json >/dev/null
    check "$system: without partition.adapt both ranks stay"
    jq -e '.run.adapted and .run.working_ranks == 1' true/summary.json >/dev/null
    check "$system: with it one continues, and who has simulated is told"
done
mpirun -n 2 "$marssim" -q -o warned many.cfg run.warmup="900 s" run.end="1000 s" >err 2>&1
[ "$(grep -c "nothing was measured" err)" -eq 1 ]
check "a warning is said once"
mpirun -n 2 "$marssim" -q -o piped /dev/stdin <many.cfg >err 2>&1 &&
    [ "$(jq -S .result one/summary.json)" = "$(jq -S .result piped/summary.json)" ] && jq -e .run.adapted piped/summary.json >/dev/null
check "a configuration from a pipe is read once"

# Where traffic keeps both ranks busy first, and then the ping-pong is left, one rank continues with what both have done.
{
    sed '/^output/,$d' many.cfg
    echo 'node: { cores = 40; }; partition: { bind = "no"; };'
    echo 'traffic: { pattern = "uniform"; load = 0.5; size = "4 KiB"; stop = "500 us"; };'
    echo 'output: { period = "100 us"; hdf5 = true; matrix = true; series: { links = "periods"; jobs = "periods"; };'
    echo '          timeline = ["perfetto"]; timeline_links = "all"; waits = true; };'
} >late.cfg
# On a busy machine clocks may say at once that one rank is faster: then it begins again, and another try is needed.
rm -rf one
moved() {
    jq -es '.[1].run.adapted and .[1].run.events < .[0].run.events' one/summary.json true/summary.json >/dev/null
}
"$marssim" -q -o one late.cfg >err 2>&1 && for _ in 1 2 3 4 5 6; do
    rm -rf true
    mpirun -n 2 "$marssim" -q -o true late.cfg >err 2>&1 && [ ! -s err ] || break
    moved && break
done
[ -e true/summary.json ] && [ ! -s err ]
check "busy ranks that thin out"
for file in one/*; do
    case $file in
    */summary.json) cmp <(jq -S .result "$file") <(jq -S .result true/summary.json) ;;
    */summary.txt) ;;
    *) cmp "$file" "true/${file#one/}" ;;
    esac || false
    check "they have the same ${file#one/}"
done
[ -z "$(diff -q <(ls one) <(ls true))" ] && moved
check "one rank continues with what they have done, and nothing is left of how"

# Traces in both formats, beside the same pairs, in memory and in temporary files.
marsconv=$(dirname "$marssim")/marsconv
cp -r "$top/tests/traces/npb-is.S-8" text
"$marsconv" --to mars text own.mars >err 2>&1
check "a trace in our own format"
for trace in text own.mars; do
    {
        sed '/^jobs/,$d' many.cfg
        echo "jobs: ( { program = \"trace\"; trace = \"$trace\"; processor_factor = 0.0; first_node = 3; },"
        sed '1,/^jobs/d; /^output/d' many.cfg | sed '1i { program = "pingpong"; share = true; placement = "strided"; stride = 13; bytes = 100; steps = 20000; }'
        echo 'output: { calls = true; };'
    } >traced.cfg
    rm -rf one
    "$marssim" -q -o one traced.cfg >err 2>&1
    check "$trace: one rank"
    for ranks in 2 3 5; do
        for memory in "1 MiB" "0 B"; do
            rm -rf several
            timeout 120 mpirun -n $ranks "$marssim" -q -o several traced.cfg "jobs[0].trace_memory=\"$memory\"" >err 2>&1 &&
                [ "$(jq -S .result one/summary.json)" = "$(jq -S .result several/summary.json)" ] &&
                cmp one/calls.csv several/calls.csv && cmp one/tasks.csv several/tasks.csv && jq -e .run.adapted several/summary.json >/dev/null
            check "$trace: $ranks ranks begin again as one, trace_memory = $memory"
        done
    done
done
mpirun -n 2 "$marssim" -q -o saved "$work/traced.cfg" 'jobs[0].trace="text"' 'run.checkpoint.at=["1 ms"]' >err 2>&1 && echo >>text/pmpi-trace-rank-1.txt
"$marssim" -q -o resumed --resume saved/checkpoints/* >err 2>&1
[ $? -eq 2 ] && grep -q "text/pmpi-trace-rank-1.txt: has changed since the run began" err
check "a checkpoint of a run that has begun again knows of its files"

# Two ranks need, in place of one's events, those of the rank with most in each epoch, and for each epoch as long as some seven events (checkpoints
# as two ranks on an idle machine: 1.97 M of 3.06 M events, 285,000 epochs, 1.28 times one); who has most must not take turns, or it would have nearly all. Where a trial is in doubt, the clock decides whether one
# rank begins again, so that both must do. The long ones are cut short.
cd "$top" || exit 1
for config in configs/*.cfg; do
    name=$(basename "$config" .cfg)
    case $name in
    torus-leanmd) set -- "jobs[0].steps=1" ;;
    hierarchical-gups-65536) set -- topology.groups=8,2,5 "run.end=6 us" ;;
    fat-tree-gups) set -- run.warmup=0ns run.end=8us ;;
    *) set -- ;;
    esac
    rm -rf "$work/one" "$work/both"
    "$marssim" -q -o "$work/one" "$config" "$@" >"$work/err" 2>&1 &&
        mpirun -n 2 "$marssim" -q -o "$work/both" "$config" partition.bind=no "$@" >"$work/err" 2>&1 &&
        [ "$(jq -S .result "$work/one/summary.json")" = "$(jq -S .result "$work/both/summary.json")" ] &&
        jq -es '.[0].run.events as $alone | .[1].run | .working_ranks == 1 or (.critical_events < 0.75 * .events and .critical_events + 7 * .epochs < $alone)' \
            "$work/one/summary.json" "$work/both/summary.json" >/dev/null
    check "$config: two ranks are not slower than one"
done
