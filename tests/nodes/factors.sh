#!/bin/bash
# Processors: factors of jobs, of tasks and of cores, of the compute and of the memory part; calls that the operating system serves; memory
# parts by the counters of a trace. tests/nodes/factors.sh
#
# A task that talks to nobody takes what its trace says, so that its time is a sum over the lines of marstrace --list, which is built here from
# the rule of each key: times in the trace are whole nanoseconds, and so are the results where factors are.
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=3
. tests/lib-replay.sh
gcc -shared -fPIC -o papi.so "$top/tests/tools/tracer/papi.c" >err 2>&1 && mpicc -O1 -o served "$top/tests/tools/tracer/served.c" >>err 2>&1 || exit 1
trace() { # FOLDER ARGUMENTS...: of three tasks; the stand-in counts 1000 and 7 in each computation
    MARSTRACE_PAPI=$PWD/papi.so MARSTRACE_COUNTERS=PAPI_TOT_INS,PAPI_L3_TCM mpirun -n 3 "$marstrace" --io -o "$1" ./served "${@:2}" >err 2>&1
}
trace t && mpirun -n 3 "$marstrace" --io -o bare ./served >err 2>&1 || exit 1

# TASK AWK: the sum, over its calls, of what AWK makes of them into `sum`: gap, of the computation before, 0 for the first; took, of calls on files,
# otherwise 0; ns.
sum_of() {
    "$marstrace" --list t | awk -v task="$1.0" "$3"'$1 "" == task "" {
            gap = took = away = 0
            for (i = 4; i <= NF; i++) { split($i, v, "="); if (v[1] == "gap") gap = v[2]; if (v[1] == "away") away = v[2]; if (v[1] == "time") took = v[2] }
            if ($3 !~ /^POSIX_/) took = 0
            gap = calls++ ? gap - (away < gap ? away : gap) : 0
            '"$2"'
        } END { printf "%.0f", sum * 1000 }'
}
finish_is() { # NAME AWK0 AWK1 AWK2 KEYS...: when each task ends
    local name=$1 expected
    expected="$(sum_of 0 "$2" "") $(sum_of 1 "$3" "") $(sum_of 2 "$4" "") "
    rm -rf one
    "$marssim" -q -o one replay.cfg "${@:5}" >err 2>&1 && { [ "$(column finish_ps)" = "$expected" ] || echo "$(column finish_ps) instead of $expected" >>err; } &&
        [ "$(column finish_ps)" = "$expected" ]
    check "$name"
}
adds_up() { # each task's time is what it consists of
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { n++
        if ($c["finish_ps"] != $c["compute_ps"] + $c["stalled_ps"] + $c["overhead_ps"] + $c["away_ps"] + $c["preempted_ps"] + $c["system_ps"] + $c["wait_ps"] + $c["send_wait_ps"]) exit 1 }
        END { exit n != 3 }' one/tasks.csv
}
refuses() { # WORDS NAME KEYS...
    refused "$1" -o refused replay.cfg "${@:3}"
    check "$2"
}

# Rules of the old days: all is computation.
all='sum += gap + took'
finish_is "without keys calls on files are computation" "$all" "$all" "$all"

# ---- factors of tasks ----

finish_is "tasks with factors of their own, the others with the job's" 'sum += 3 * (gap + took)' 'sum += 2 * (gap + took)' 'sum = 0' 'jobs[0].processor_factor=2' \
    'jobs[0].task_factors=({tasks="0"; processor_factor=3;}, {tasks="2"; processor_factor=0;})'
finish_is "ranges with steps" 'sum += 3 * (gap + took)' "$all" 'sum += 3 * (gap + took)' 'jobs[0].task_factors=({tasks="0-2:2"; processor_factor=3;})'
# A core of half the speed takes twice as long, whatever the factors are: they multiply.
finish_is "factors times the slowness of the core" 'sum += 6 * (gap + took)' 'sum += 2 * (gap + took)' 'sum += 2 * (gap + took)' node.core_speeds=0.5 \
    'jobs[0].task_factors=({tasks="0"; processor_factor=3;})'
# Kinds of nodes have cores of their own: node 1 is four times as fast as node 0.
finish_is "cores of kinds of nodes" 'sum += 2 * (gap + took)' 'sum += 0.5 * (gap + took)' 'sum += 2 * (gap + took)' \
    'nodes=({name="slow"; list="0,2"; core_speeds=0.5;}, {name="fast"; core_speeds=2.0;})'

# ---- calls that the operating system serves ----

# 7 times as long and 3 us more each; the program is 2 times as slow, which does not touch them.
served='sum += 2 * gap + (took ? 7 * took + 3000 : 0)'
finish_is "calls on files by the system's factor and latency" "$served" "$served" "$served" jobs[0].processor_factor=2 node.system_factor=7 "node.system_latency=3 us"
adds_up && [ "$(column system_ps)" = "$(sum_of 0 'sum += took ? 7 * took + 3000 : 0' "") $(sum_of 1 'sum += took ? 7 * took + 3000 : 0' "") $(
    sum_of 2 'sum += took ? 7 * took + 3000 : 0' "") " ] && [ "$(column compute_ps)" = "$(sum_of 0 'sum += 2 * gap' "") $(sum_of 1 'sum += 2 * gap' "") $(sum_of 2 'sum += 2 * gap' "") " ]
check "and they are distinguished from computation"
"$marssim" -q -o one replay.cfg jobs[0].processor_factor=2 node.system_factor=7 output.cores=true >err 2>&1 &&
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[FILENAME, $i] = i; if (FNR == 1) next } FNR == 1 { for (i = 1; i <= NF; i++) c[FILENAME, $i] = i; next }
        { sum[FILENAME] += $c[FILENAME, "system_ps"] } END { exit !(sum["one/tasks.csv"] > 0 && sum["one/tasks.csv"] == sum["one/cores.csv"]) }' one/tasks.csv one/cores.csv &&
    jq -e '.result.node.cores.system > 0 and .result.jobs[0].time_shares.system > 0' one/summary.json >err
check "cores know as much, and the summary"
later='sum += gap + (took ? took + 3000 : 0)'
finish_is "a latency alone" "$later" "$later" "$later" "node.system_latency=3 us"
finish_is "the system of kinds of nodes" 'sum += gap + (took ? 7 * took + 3000 : 0)' 'sum += gap + took' 'sum += gap + (took ? 7 * took + 3000 : 0)' node.system_factor=1 \
    'nodes=({name="slow"; list="0,2"; system_factor=7; system_latency="3 us";}, {name="fast";})'
finish_is "a system that takes no time" 'sum += gap' 'sum += gap' 'sum += gap' node.system_factor=0
# The tasks share one core of half the speed: system calls, too, take twice as long, and three tasks one after the other the sum of their times. Slices are
# longer than the run, and 5 us between two.
turns=$(($(sum_of 0 "$all" "") * 2 + $(sum_of 1 "$all" "") * 2 + $(sum_of 2 "$all" "") * 2 + 10000000))
"$marssim" -q -o one replay.cfg node.tasks=3 jobs[0].tasks_per_node=3 "node.quantum=100 s" "node.switch_cost=5 us" node.system_factor=1 node.core_speeds=0.5 >err 2>&1 &&
    [ "$(jq .result.simulated_time_ps one/summary.json)" = $turns ] && adds_up
check "a call in the system keeps the core"

# ---- memory parts by counters ----

# 1000 lines of 64 bytes at 1 GB/s: 64 us for each computation, or as long as it computes, where that is longer.
counted='m = calls == 1 ? 0 : 64000; sum += (gap > m ? gap : m) + took'
finish_is "what counters counted is moved" "$counted" "$counted" "$counted" "node.core_bandwidth=1 GB/s" jobs[0].memory_counters=PAPI_TOT_INS
# 7 lines of 128 bytes and 1000 of 128: 128,896 bytes; twice as many, and half for task 1.
line='m = calls == 1 ? 0 : 257792; sum += (gap > m ? gap : m) + took'
half='m = calls == 1 ? 0 : 64448; sum += (gap > m ? gap : m) + took'
finish_is "two counters, lines of another size, factors" "$line" "$half" "$line" "node.core_bandwidth=1 GB/s" 'jobs[0].memory_counters=["PAPI_L3_TCM", "PAPI_TOT_INS"]' \
    "jobs[0].memory_line=128 B" jobs[0].memory_factor=2 'jobs[0].task_factors=({tasks="1"; memory_factor=0.5;})'
# An infinite processor takes the memory part with it, but where that is asked for.
finish_is "an infinite processor without and with its memory part" 'sum = 0' 'sum = 0' 'm = calls == 1 ? 0 : 64000; sum += m' \
    "node.core_bandwidth=1 GB/s" jobs[0].memory_counters=PAPI_TOT_INS jobs[0].processor_factor=0 'jobs[0].task_factors=({tasks="2"; memory_factor=1;})'
bytes=$("$marstrace" --list t | awk '$1 ~ /[.]/ { first = !seen[$1]++; if (!first) sum += 64000 } END { printf "%.0f", sum }')
"$marssim" -q -o one replay.cfg "node.controller_bandwidth=1 GB/s" jobs[0].memory_counters=PAPI_TOT_INS >err 2>&1 &&
    jq -e ".result.node.controllers.bytes == $bytes" one/summary.json >err
check "each byte once"

# ---- everywhere, and what cannot be ----

rm -rf t && trace t with && everywhere "factors, system calls and counters" 'jobs[0].task_factors=({tasks="0,2"; processor_factor=0.3; memory_factor=1.7;})' node.system_factor=2.3 \
    "node.system_latency=700 ns" "node.controller_bandwidth=1 GB/s" 'jobs[0].memory_counters=["PAPI_TOT_INS", "PAPI_L3_TCM"]' node.cores=2 jobs[0].tasks_per_node=2 node.core_speeds=[1,0.7]
everywhere "tasks that take turns" 'jobs[0].task_factors=({tasks="1"; processor_factor=3;})' node.system_factor=1.3 node.tasks=3 jobs[0].tasks_per_node=3 \
    "node.quantum=30 us" "jobs[0].compute_jitter=5 us"

factors='jobs[0].task_factors'
refuses "the job has the tasks 0 to 2" "a task that is not there" "$factors=({tasks=\"0-3\"; processor_factor=2;})"
refuses "is no task or range of tasks" "no number" "$factors=({tasks=\"all\"; processor_factor=2;})"
refuses "task 1 has factors already: jobs\[0\].task_factors\[0\]" "a task twice" "$factors=({tasks=\"1\"; processor_factor=2;}, {tasks=\"0-2\"; processor_factor=2;})"
refuses "task_factors\[0\].tasks: is missing" "no tasks" "$factors=({processor_factor=2;})"
refuses "is missing, and so is memory_factor" "no factor" "$factors=({tasks=\"1\";})"
refuses "task_factors\[0\].processor_factor" "a negative factor" "$factors=({tasks=\"1\"; processor_factor=-1;})"
refuses "task_factors\[0\].memory_factor" "a memory factor of no memory part" "$factors=({tasks=\"1\"; memory_factor=1;})"
refuses "system_factor" "a negative factor of the system" node.system_factor=-0.5
refuses "system_latency" "a latency without unit" node.system_latency=3
refuses "task [0-2] has not counted PAPI_L2_TCM, but PAPI_TOT_INS,PAPI_L3_TCM" "a counter that was not counted" "node.core_bandwidth=1 GB/s" jobs[0].memory_counters=PAPI_L2_TCM
refuses "task [0-2] has not counted PAPI_TOT_INS, but nothing: trace it with MARSTRACE_COUNTERS" "a trace without counters" "node.core_bandwidth=1 GB/s" \
    jobs[0].memory_counters=PAPI_TOT_INS jobs[0].trace=bare
refuses "memory_counters" "counters of memory that nothing limits" jobs[0].memory_counters=PAPI_TOT_INS
refuses "what computations move is counted" "counters and a bandwidth" "node.core_bandwidth=1 GB/s" jobs[0].memory_counters=PAPI_TOT_INS "jobs[0].memory_bandwidth=1 GB/s"
refuses "memory_line" "lines of no bytes" "node.core_bandwidth=1 GB/s" jobs[0].memory_counters=PAPI_TOT_INS "jobs[0].memory_line=0"
refuses "memory_line" "lines without counters" "jobs[0].memory_line=64"
