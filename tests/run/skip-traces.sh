#!/bin/bash
# Steps of traces that repeat are not simulated again: by marks, or by their shortest period, in text traces and in those of marstrace.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
. tests/lib-skip.sh

# FOLDER STEPS [mark=LEVEL] [crosses=1] [lost=1] [other=1] [every=N]: four tasks in a ring; computations have spread, and grow along the run. In the order
# of the options: each step begins with a mark; a receive stays open between steps; task 2 has a mark less; task 2 sends twice in step 50; an Allreduce
# behind every N-th step.
trace() {
    local folder=$1 steps=$2
    shift 2
    mkdir -p "$folder"
    for task in 0 1 2 3; do
        awk -v task=$task -v steps="$steps" "${@/#/-v}" '
            function call(name, arguments) { now += 2; printf "MPI_%s:%d:%s:%d\n", name, now - 2, arguments, now }
            function message(bytes, peer) { return "4096:" bytes ":1,1,1:" peer ":7:" comm }
            BEGIN {
                srand(7 + task); comm = "777," task ",4"
                print "# htor'"'"'s PMPI Tracer 1.0 Output File"
                print "MPI_Init:-:8192:8192:1"; now = 1
                for (i = 0; i < 5; i++) call("Bcast", "4096:1:1,4,4:0:" comm)
                for (step = 0; step < steps; step++) {
                    now += 100 + int(40 * rand()) + int(50 * step / steps) + (rand() < 0.05) * 200
                    if (mark && !(lost && task == 2 && step == 30)) call("Pcontrol", mark)
                    bytes = 1000 + int(3000 * rand())
                    if (!crosses) call("Irecv", message(8000, (task + 3) % 4) ":9000")
                    else if (step) call("Wait", "9000:0")
                    call("Send", message(bytes, (task + 1) % 4))
                    if (other && task == 2 && step == 50) { call("Send", message(8, 3)) }
                    if (!crosses) call("Wait", "9000:0")
                    else if (step + 1 < steps) call("Irecv", message(8000, (task + 3) % 4) ":9000")
                    if (other && task == 3 && step == 51) call("Recv", message(8, 2) ":0")
                    now += 50 + int(20 * rand())
                    if (every && (step + 1) % every == 0) call("Allreduce", "4096:8192:1:1,4,4:3:" comm)
                }
                if (crosses) call("Recv", message(8000, (task + 3) % 4) ":0")
                call("Barrier", comm)
                printf "MPI_Finalize:%d:-\n", now + 5
            }' >"$folder/pmpi-trace-rank-$task.txt"
    done
}
refused() { # CONFIGURATION NAME TEXT STEPS WORD...: a trace that is made by these is not skipped, because of this
    trace "$t/$1" "${@:4}"
    trace_config "$1" "$t/$1"
    reason "$2" "$3" "$1"
}

trace "$t/text" 600 every=1
trace_config text "$t/text"
run -o "$t/full" "$t/text.cfg" run.skip.enabled=false && run -o "$t/found" "$t/text.cfg" && trace_covers "$t/full" "$t/found" 0.4
check "a text trace: its period is found, and its steps are estimated, with what they compute by themselves"
result "$t/found" '.result.jobs[0].estimated.steps == 600'
check "step 0 is what precedes the first that repeats"
run -o "$t/calls" "$t/text.cfg" output.calls=true && run -o "$t/all-calls" "$t/text.cfg" output.calls=true run.skip.enabled=false &&
    cmp <(cut -d, -f1-5 "$t/calls/calls.csv") <(cut -d, -f1-5 "$t/all-calls/calls.csv") && cmp <(cut -d, -f1-5 "$t/calls/functions.csv") <(cut -d, -f1-5 "$t/all-calls/functions.csv")
check "calls that the trace counts are those of all steps"
steps 0 'steps        598, known by the same messages and collectives' "$t/text" && grep -q '^ideal        2.* us a step.* 0\.[789].* 1\.[012]' "$t/steps"
check "marsconv --steps says what repeats, and how computation drifts"
"$m" --check "$t/text.cfg" 2>"$t/err" | tr -s '\n ' ' ' | grep -q 'skip of 600 steps of job `t`, known by the same messages and collectives at least'
check "--check says what steps are known by"
all_alike "the same bits: a text trace" "$t/text.cfg"

trace "$t/marked" 600 mark=2
trace_config marked "$t/marked"
run -o "$t/marked-full" "$t/marked.cfg" run.skip.enabled=false && run -o "$t/marked-skip" "$t/marked.cfg" && trace_covers "$t/marked-full" "$t/marked-skip" 0.4 &&
    result "$t/marked-skip" '.result.jobs[0].estimated.steps == 601'
check "marks: a step is what is between two of them"
steps 0 'steps        599, known by marks (MPI_Pcontrol)' "$t/marked"
check "marsconv --steps: marks"
"$(dirname "$m")/marsconv" --to mars "$t/marked" "$t/converted" 2>"$t/err" && steps 0 'steps        599, known by marks (MPI_Pcontrol)' "$t/converted" && trace_config converted "$t/converted" &&
    run -o "$t/converted-skip" "$t/converted.cfg" && cmp <(jq .result.jobs[0].estimated "$t/marked-skip/summary.json") <(jq .result.jobs[0].estimated "$t/converted-skip/summary.json")
check "marks are converted"
# Over a network that takes next to no time all of a step is known.
ideal=('topology.bandwidth="100000 GB/s"' 'topology.latency="1 ps"' 'switch.delay="1 ps"')
run -o "$t/ideal-full" "$t/text.cfg" run.skip.enabled=false "${ideal[@]}" && run -o "$t/ideal" "$t/text.cfg" "${ideal[@]}" &&
    jq -ne --slurpfile f "$t/ideal-full/summary.json" --slurpfile s "$t/ideal/summary.json" '$f[0].result.jobs[0].finish_ps as $full | $s[0].result.jobs[0] |
        .estimated.simulated_steps < 30 and (.finish_ps / $full - 1 | fabs) < 1e-6 and .estimated.high_ps - .finish_ps < 0.0025 * $full' >/dev/null
check "who waits for whom is known before the run"
all_alike "the same bits: marks, in operations that lie in a file" "$t/marked.cfg" 'jobs[0].trace_memory=1 KiB'
missed=0
for first in $(seq 0 3 57); do
    run -o "$t/found" "$t/text.cfg" run.skip.first="$first" && trace_covers "$t/full" "$t/found" 0.5 || missed=$((missed + 1))
done
[ $missed -le 2 ]
check "from 20 beginnings the interval covers the full run in 18 at least ($missed misses)"

trace "$t/level" 100 mark=1
trace_config level "$t/level"
run -o "$t/level.out" "$t/level.cfg" && result "$t/level.out" '.result.jobs[0].estimated.steps == 100'
check "marks of level 1 are none, and what repeats is found in their place"
refused lost "tasks have as many marks" "has 100 marks of steps (MPI_Pcontrol) in one task, and only 99 in task 2: $t/lost/pmpi-trace-rank-2.txt:" 100 mark=3 lost=1
refused crosses "a request that is open where a step begins" "has a request open where step 2 of task 0 begins: $t/crosses/pmpi-trace-rank-0.txt:11" 100 mark=2 crosses=1
refused other "a message that another step receives" 'sends messages in step 51, or begins collectives, that are of another one elsewhere' 100 mark=2 other=1
trace "$t/seldom" 600 every=100 mark=2
trace_config seldom "$t/seldom"
run -o "$t/seldom-full" "$t/seldom.cfg" run.skip.enabled=false && run -o "$t/seldom-skip" "$t/seldom.cfg" && trace_covers "$t/seldom-full" "$t/seldom-skip" 0.2
check "a collective in each hundredth step"
refused few "few steps" 'has only 20 steps' 20 every=1
steps 1 'steps        none that may be skipped: the job has a request open' "$t/crosses"
check "marsconv --steps says why there are none"

# A program that marks its steps, traced by marstrace, converted, and replayed by several ranks.
if command -v mpicc >/dev/null && [ -x "$(dirname "$m")/marstrace" ]; then
    mpicc -O1 -o "$t/marks" tests/tools/tracer/marks.c 2>"$t/err" && timeout 120 mpirun -n 3 "$(dirname "$m")/marstrace" -o "$t/traced" "$t/marks" 300 >"$t/out" 2>"$t/err" &&
        steps 0 'steps        299, known by marks (MPI_Pcontrol)' "$t/traced" && trace_config traced "$t/traced"
    check "marstrace records marks"
    all_alike "the same bits: a trace of marstrace" "$t/traced.cfg" topology.latency=2us run.skip.precision=0.5
fi
