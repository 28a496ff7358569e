#!/bin/bash
# Steps of schedules that repeat are not simulated again: found between the places where all before is done before anything behind begins.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
. tests/lib-skip.sh

# FILE STEPS [loose=1] [crosses=1] [tags=1]: four ranks in a ring, with two cpus, which a calculation of 0 joins; computations have spread, and grow along
# the run. In the order of the options: nobody waits for the end of sends; with tags, what is received was sent in the step before; tags are others in each step.
goal() {
    local file=$1 steps=$2
    shift 2
    awk -v steps="$steps" "${@/#/-v}" '
        function need(a, b) { print a " requires " b }
        BEGIN {
            srand(5); print "num_ranks 4"
            for (r = 0; r < 4; r++) {
                print "rank " r " {"; last = crosses ? "f" : ""
                if (crosses) print "f: send 1000b to " (r + 1) % 4 " tag 6"
                for (s = 0; s < steps; s++) {
                    tag = tags ? s % 7 : 3
                    print "a" s ": calc " 100000 + int(40000 * rand()) + int(50000 * s / steps)
                    print "b" s ": calc " 90000 + int(40000 * rand()) " cpu 1"
                    print "s" s ": send " 1000 + int(3000 * rand()) "b to " (r + 1) % 4 " tag " tag
                    print "r" s ": recv 8000b from " (r + 3) % 4 " tag " (crosses ? (s + 6) % 7 : tag) " cpu 1"
                    print "j" s ": calc 0"
                    if (last != "") { need("a" s, last); need("b" s, last) }
                    need("s" s, "a" s); need("r" s, "b" s); need("j" s, "r" s); need("j" s, "a" s)
                    if (!loose) need("j" s, "s" s)
                    last = "j" s
                }
                print "}"
            } }' >"$file"
}
refused() { # NAME TEXT STEPS OPTION...: a schedule that is made by these is not skipped, because of this
    goal "$t/refused.goal" "${@:3}"
    trace_config refused "$t/refused.goal"
    reason "$1" "$2" refused
}

goal "$t/ring.goal" 600
trace_config ring "$t/ring.goal"
steps 0 'steps        598, known by the same messages' "$t/ring.goal" && grep -q '^ideal        1.* us a step.* 0\.[789].* 1\.[012]' "$t/steps"
check "marsconv --steps: a graph of two cpus, and how its computation drifts"
run -o "$t/full" "$t/ring.cfg" run.skip.enabled=false && run -o "$t/skip" "$t/ring.cfg" && trace_covers "$t/full" "$t/skip" 0.4
check "the interval covers the full run's time"
cmp <(jq '.result.jobs[0].messages' "$t/full/summary.json") <(jq '.result.jobs[0].messages' "$t/skip/summary.json")
check "messages are those of all steps"
all_alike "the same bits: a graph of two cpus" "$t/ring.cfg"
all_alike "the same bits: messages by rendezvous" "$t/ring.cfg" 'mpi.eager_limit=1 KiB'

goal "$t/tags.goal" 300 tags=1
steps 0 'all alike' "$t/tags.goal"
check "steps whose messages have other tags are alike"

# A trace, and the schedule that marsconv makes of it: the collective has another tag in each step.
mkdir "$t/text"
for task in 0 1 2 3; do
    awk -v task=$task 'BEGIN {
        srand(7 + task); print "# htor'"'"'s PMPI Tracer 1.0 Output File\nMPI_Init:-:8192:8192:1"; now = 1; comm = "777," task ",4"
        for (s = 0; s < 300; s++) {
            now += 100 + int(40 * rand())
            printf "MPI_Irecv:%d:4096:8000:1,1,1:%d:0:%s:9000:%d\n", now, (task + 3) % 4, comm, ++now
            printf "MPI_Send:%d:4096:%d:1,1,1:%d:0:%s:%d\n", now, 1000 + int(3000 * rand()), (task + 1) % 4, comm, ++now
            printf "MPI_Wait:%d:9000:0:%d\n", now, ++now
            now += 50
            printf "MPI_Allreduce:%d:4096:8192:1:1,4,4:3:%s:%d\n", now, comm, ++now
        }
        printf "MPI_Finalize:%d:-\n", now + 5 }' >"$t/text/pmpi-trace-rank-$task.txt"
done
"$(dirname "$m")/marsconv" --to goal "$t/text" "$t/text.goal" 2>"$t/err" && steps 0 'known by the same messages' "$t/text.goal" && trace_config text "$t/text.goal" &&
    run -o "$t/full" "$t/text.cfg" run.skip.enabled=false && run -o "$t/skip" "$t/text.cfg" && trace_covers "$t/full" "$t/skip" 0.4 && grep -q '^steps        29[89]' "$t/steps"
check "a schedule that was made of a trace"

refused "sends for which nobody waits" 'is a graph in which task 0 does not repeat what it does between places where all before is done before' 300 loose=1
refused "a message that another step receives" 'sends messages in step 1, or begins' 100 tags=1 crosses=1
refused "few steps" 'has only 20 steps' 20
