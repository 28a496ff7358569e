#!/bin/bash
# Computations that share cores and memory: the same results on 1, 2, 3 and 5 ranks and after checkpoints in the middle of
# them; with more of everything than is asked for, the same as on the simple node; what cannot be is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/c.cfg" <<'END'
topology = { kind = "torus"; extents = [3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 6; sockets = 2; threads = 2; thread_throughput = 1.3; core_speeds = [1.0, 0.7]; memory_bandwidth = "8 GB/s"; };
jobs = ( { program = "stencil"; first_node = 0; extents = [7, 7]; steps = 6; compute_time = "20 us"; bytes = "3 kB"; tasks_per_node = 7;
           compute_jitter = "9 us"; allreduce_every = 3; allreduce_bytes = "800 B"; },
         { program = "stencil"; first_node = 0; extents = [3, 3, 3]; steps = 4; compute_time = "31 us"; bytes = "20 kB"; placement = "strided"; tasks_per_node = 5; } );
END
memory=(node.controller_bandwidth="12 GB/s" node.single_copy_size="4 kB" node.socket_bandwidth="3 GB/s" node.socket_latency="77 ns" node.core_bandwidth="5 GB/s" 'jobs[0].memory_bandwidth=4 GB/s' 'jobs[1].memory_bandwidth=3 GB/s'
    'jobs[1].memory_factor=1.7' output.cores=true)

same_bits "memory that is short" "${memory[@]}"
mv "$t/one" "$t/1"

run -o "$t/free" "$t/c.cfg" node.threads=1 node.cores=12 node.core_speeds=1 "node.controller_bandwidth=9 TB/s" 'jobs[0].memory_bandwidth=4 GB/s' || exit 1
sed 's/threads = 2; thread_throughput = 1.3; core_speeds = .1.0, 0.7.;//' "$t/c.cfg" >"$t/plain.cfg"
same() { # what both tell
    cmp "$t/free/links.csv" "$t/plain/links.csv" && cmp <(cut -d, -f 1-15 "$t/free/tasks.csv") "$t/plain/tasks.csv" &&
        cmp <(jq -S '.result | del(.node, .jobs[].time_shares)' "$t/free/summary.json") <(jq -S .result "$t/plain/summary.json")
}
run -o "$t/plain" "$t/plain.cfg" node.cores=12 && same
check "where nothing is short, as on the simple node"
longer=$(jq -n --slurpfile a "$t/1/summary.json" --slurpfile b "$t/plain/summary.json" \
    '$a[0].result.simulated_time_ps > $b[0].result.simulated_time_ps')
[ "$longer" = true ]
check "where it is, it takes longer"

adds_up() { # FOLDER: each task's time, from 0 to its end, is what it consists of; cores know the same
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        FNR == NR { busy += $c["compute_ps"] + $c["stalled_ps"] + $c["overhead_ps"] + $c["away_ps"] + $c["preempted_ps"]; tasks++
            if ($c["finish_ps"] != $c["compute_ps"] + $c["stalled_ps"] + $c["overhead_ps"] + $c["away_ps"] + $c["preempted_ps"] + $c["wait_ps"] + $c["send_wait_ps"]) exit 1
            next }
        FNR == 1 { for (i = 1; i <= NF; i++) k[$i] = i; next }
        { cores += $k["computing_ps"] + $k["stalled_ps"] + $k["away_ps"] + $k["preempted_ps"]; if ($k["busy_ps"] + $k["idle_ps"] != end) exit 1 }
        END { exit !(tasks > 0 && busy == cores) }' end="$(jq .result.simulated_time_ps "$1/summary.json")" "$1/tasks.csv" "$1/cores.csv"
}
adds_up "$t/1" && run -o "$t/over" "$t/c.cfg" "${memory[@]}" "node.send_overhead=300 ns" "node.receive_overhead=170 ns" && adds_up "$t/over" &&
    run -o "$t/noise" "$t/c.cfg" "${memory[@]}" node.threads=1 node.cores=12 node.core_speeds=0.7 "node.send_overhead=300 ns" node.noise.kind=periodic \
        "node.noise.period=11 us" "node.noise.length=1700 ns" && adds_up "$t/noise"
check "the times of tasks and of cores add up"
# 49 tasks of 6 steps of 20 us at 4 GB/s, and 27 of 4 of 31 us at 3 GB/s times 1.7; of the messages those inside a node twice, or those below
# 4 kB four times: all of the first job, which are 3 kB but for the all-reduces of 800 B.
bytes() { # FOLDER: of all controllers
    awk -F, '$2 == "controller" { sum += $4 } END { printf "%d\n", sum }' "$1/memory.csv"
}
computed=$((49 * 6 * 80000 + 27 * 4 * 158100))
run -o "$t/quiet" "$t/c.cfg" "${memory[@]}" 'jobs[0].compute_jitter=0 ns' 'jobs[0].bytes=0 B' 'jobs[0].allreduce_bytes=0 B' 'jobs[1].bytes=0 B' &&
    [ "$(bytes "$t/quiet")" = $computed ]
check "controllers move what computations draw: $computed bytes"
inside() { # FOLDER: bytes of messages inside nodes
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        FNR == NR { node[$c["job"], $c["task"]] = $c["node"]; next }
        FNR == 1 { for (i = 1; i <= NF; i++) m[$i] = i; next }
        node[$m["job"], $m["from_task"]] == node[$m["job"], $m["to_task"]] { sum += $m["bytes"] } END { printf "%d\n", sum }' "$1/tasks.csv" "$1/task_matrix.csv"
}
run -o "$t/copies" "$t/c.cfg" "${memory[@]}" output.matrix=true 'output.matrix_levels=["task"]' 'jobs[1].memory_bandwidth=0 B/s' 'jobs[0].memory_bandwidth=0 B/s' \
    node.single_copy_size="0 B" && [ "$(bytes "$t/copies")" = $((2 * $(inside "$t/copies"))) ]
check "and each byte of a message inside a node twice"
run -o "$t/copies" "$t/c.cfg" "${memory[@]}" output.matrix=true 'output.matrix_levels=["task"]' 'jobs[1].memory_bandwidth=0 B/s' 'jobs[0].memory_bandwidth=0 B/s' \
    node.single_copy_size="1 MB" && [ "$(bytes "$t/copies")" = $((4 * $(inside "$t/copies"))) ]
check "and four times when it is copied twice"

# Two nodes of four cores; one computes for 1 us, drawing 20 of the 30 GB/s of its controller. And a run that takes no time.
cat >"$t/one.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 4; controller_bandwidth = "30 GB/s"; };
jobs = ( { program = "stencil"; extents = [1]; steps = 1; compute_time = "1 us"; memory_bandwidth = "20 GB/s"; } );
END
run -o "$t/one" "$t/one.cfg" && jq -e '.result.node | .controllers.bytes == 20000 and .controllers.max_utilisation == 0.666666 and
    .cores == {away: 0, busy: 0.125, computing: 0.125, copying: 0, count: 8, idle: 0.875, preempted: 0, stalled: 0}' "$t/one/summary.json" >"$t/out"
check "what cores and controllers did, in the summary"
run -o "$t/none" "$t/one.cfg" jobs[0].processor_factor=0 && jq -e '.result.node.cores.count == 8 and .result.node.cores.busy == null' "$t/none/summary.json" >"$t/out"
check "and of a run that takes no time"

refused "node.controller_bandwidth" -o "$t/r" "$t/plain.cfg" node.cores=12 "node.controller_bandwidth=0 GB/s"
check "a controller without bandwidth is refused"
refused "jobs\[0\].memory_bandwidth" -o "$t/r" "$t/plain.cfg" node.cores=12 'jobs[0].memory_bandwidth=1 GB/s'
check "memory that nothing limits is refused"
refused "jobs\[0\].memory_factor" -o "$t/r" "$t/plain.cfg" node.cores=12 "node.controller_bandwidth=9 GB/s" jobs[0].memory_factor=2
check "a factor of no memory part is refused"
refused "jobs\[1\].memory_factor" -o "$t/r" "$t/c.cfg" "${memory[@]}" jobs[1].memory_factor=-1
check "a negative one as well"

# ---- periods ----

# Cores and memory in periods that end anywhere: they add up to what both did in all, of bytes up to what is rounded down in each row.
sums() { # FOLDER: of core_series.csv and cores.csv, of memory_series.csv and memory.csv
    local f
    for f in computing_ps stalled_ps away_ps preempted_ps busy_ps copying_ps; do
        awk -F, -v name=$f 'FNR == 1 { file++; for (i = 1; i <= NF; i++) if ($i == name) c = i; if (file == 1) { for (i = 1; i <= NF; i++) k[$i] = i } next }
            { node = file == 1 ? $2 : $1; core = file == 1 ? $3 : $2; sum[node, core] += file == 1 ? $c : -$c; any += $c }
            END { for (i in sum) if (sum[i] != 0) { print name, i, sum[i]; exit 1 }; exit name != "away_ps" && name != "preempted_ps" && !any }' \
            "$1/core_series.csv" "$1/cores.csv" >>"$t/err" || return 1
    done
    awk -F, 'FNR == 1 { file++; next } file == 1 { sum[$2, $3, $4] += $5; rows[$2, $3, $4]++; next } { d = $4 - sum[$1, $2, $3]; if (d < 0 || d > rows[$1, $2, $3]) exit 1; any += $4 }
        END { exit !any }' "$1/memory_series.csv" "$1/memory.csv"
}
periods=("${memory[@]}" output.series.cores=periods "output.period=7123 ns" node.threads=1 node.cores=12 node.noise.kind=random "node.noise.gap=15 us" "node.noise.length=900 ns")
same_bits "periods" "${periods[@]}"
sums "$t/one"
check "periods add up to the whole run"
run -o "$t/off" "$t/c.cfg" "${periods[@]}" output.series.cores=off && cmp "$t/one/tasks.csv" "$t/off/tasks.csv" && cmp "$t/one/memory.csv" "$t/off/memory.csv" &&
    cmp "$t/one/cores.csv" "$t/off/cores.csv"
check "and change nothing"
# One task computes for 1 us, and draws 20 GB/s: 0.4, 0.4 and 0.2 us, and 8000, 8000 and 4000 bytes. Of 30 GB/s: 266.666, 266.666, 133.333 ns.
run -o "$t/one" "$t/one.cfg" output.series.cores=periods "output.period=400 ns" &&
    [ "$(cut -d, -f1-4,8 "$t/one/core_series.csv" | tail -n +2 | tr '\n' ' ')" = "400000,0,0,400000,400000 800000,0,0,400000,400000 1000000,0,0,200000,200000 " ] &&
    [ "$(tail -n +2 "$t/one/memory_series.csv" | tr "\n" " ")" = "400000,0,controller,0,8000,266666 800000,0,controller,0,8000,266666 1000000,0,controller,0,4000,133333 " ]
check "a computation in periods, by hand"
# A message of 100 kB comes before its receive, which is made at 100 us, and is copied from the buffer: 10 us at 10 GB/s, 200 kB read and written. Of a controller of
# 12 GB/s that takes 16.666667 us. Beside a computation of 110 us that draws 20 GB/s, on 30: 15 each from 100 us on, 200 kB of both, 13.333334 us; on 40 nobody waits.
printf '%s\n' "0 init" "0 send 1 5 100000" "0 finalize" "1 init" "1 compute 100000" "1 recv 0 5 100000" "1 finalize" >"$t/early.txt"
printf '0 0\n1 0\n' >"$t/early.nodes" && echo '1 1' >"$t/beside.nodes"
cat >"$t/early.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 2; core_bandwidth = "100 GB/s"; };
mpi = { eager_limit = "1 MB"; copies = "unexpected"; };
jobs = ( { program = "trace"; format = "simgrid"; trace = "early.txt"; placement = "file"; placement_file = "early.nodes"; },
         { program = "stencil"; extents = [1]; steps = 1; compute_time = "110 us"; memory_bandwidth = "20 GB/s"; placement = "file"; placement_file = "beside.nodes"; } );
END
unexpected() { # BANDWIDTH BYTES RECEIVER COMPUTATION KEYS...: they end then, in ps, and this many bytes are moved
    run -o "$t/early" "$t/early.cfg" node.controller_bandwidth="$1" "${@:5}" &&
        [ "$(cut -d, -f5 "$t/early/tasks.csv" | tail -2 | xargs) $(jq .result.node.controllers.bytes "$t/early/summary.json")" = "$3 $4 $2" ]
}
unexpected "12 GB/s" 200000 116666667 110000000 'jobs[1].memory_bandwidth=0 B/s' && unexpected "30 GB/s" 2400000 113333334 113333334 &&
    unexpected "40 GB/s" 2400000 110000000 110000000
check "a copy of an unexpected message, by hand"
