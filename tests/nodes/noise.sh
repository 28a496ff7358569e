#!/bin/bash
# Noise of cores: closed forms on one task and on 1,024 at a barrier, to the picosecond where they are synchronised; the same results on 1, 2, 3
# and 5 ranks and after checkpoints in the middle of detours; without detours, as without noise; what cannot be is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
finish() { jq ".result.jobs[0].finish_ps" "$t/$1/summary.json"; }
is() { # VALUE NAME: of the last run
    local got
    got=$(finish one)
    [ "$got" = "$1" ] || echo "$got instead of $1" >>"$t/err"
    [ "$got" = "$1" ]
    check "$2"
}

# One task computes for 10 ms. Each period of 1 ms has 25 us of detour at its begin, and 975 us of work. The first is waited for (25 us), 10 of
# them lie within 10 ms of work (10 x 975 us < 10 ms < 11 x 975 us): 10 ms + 11 x 25 us.
cat >"$t/one.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { noise = { kind = "periodic"; period = "1 ms"; length = "25 us"; begin = "same"; }; };
jobs = ( { program = "stencil"; extents = [1]; steps = 1; compute_time = "10 ms"; } );
END
run -o "$t/one" "$t/one.cfg"
is 10275000000 "periodic detours of one task"
# 975.001 us after the begin of the file time is 0: free for 24.999 us - 25 us = none; the detour has 24.999 us left. Then as above.
run -o "$t/one" "$t/one.cfg" "node.noise.phase=1 ns"
is 10274999000 "a nanosecond into the first of them"
printf '0 25000\n1000000 0\n' >"$t/file.txt"
run -o "$t/one" "$t/one.cfg" node.noise.kind=file node.noise.file="$t/file.txt"
is 10275000000 "the same from a file"
# Half as fast: 20 ms of work. 20 x 975 us = 19.5 ms: 20 more detours behind the first.
run -o "$t/one" "$t/one.cfg" 'jobs[0].processor_factor=2.0'
is 20525000000 "on a slower processor"
# Two threads on the core, 0.65 of its speed each while both work: 10 ms take 15384615.4 us, 15 x 975 = 14,625 < it < 16 x 975: 16 detours.
run -o "$t/one" "$t/one.cfg" node.threads=2 node.thread_throughput=1.3 'jobs[0].extents=[2]' 'jobs[0].tasks_per_node=2' 'jobs[0].bytes=0 B'
[ "$(($(finish one) / 1000))" -gt 15784600 ] && [ "$(($(finish one) / 1000))" -lt 15787000 ]
check "of two threads of a core"

# A task is woken inside a detour, and continues behind it. 20 empty round trips, 40 passes of h each, and a detour from 1 to 8 us: the first way that
# ends inside it, at h x ceil(1 us / h), is taken note of at 8 us, and everything behind that is as much later.
cat >"$t/woken.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { noise = { kind = "periodic"; period = "1 s"; length = "7 us"; begin = "same"; phase = "999999 us"; }; };
jobs = ( { program = "pingpong"; bytes = "0 B"; steps = 20; } );
END
sed 's/^node.*//' "$t/woken.cfg" >"$t/still.cfg"
run -o "$t/still" "$t/still.cfg" && run -o "$t/one" "$t/woken.cfg" &&
    h=$(($(finish still) / 40)) && [ $((h * 40)) -eq "$(finish still)" ] && [ "$(finish one)" -eq $(($(finish still) + 8000000 - (1000000 + h - 1) / h * h)) ]
check "a task that is woken in a detour continues behind it"

# A copy is work of its core, too. Detours of 1 us each 20 us, the first at 0: the send begins at 1 us, the copying of 1 MB at 10 GB/s 1 us later. 18 us of it
# lie before 20 us, 19 in each period behind that: 94 of 100 before 100 us, and 6 from 101 us on. Twice copied, the second begins there, has 13 before 120, four
# times 19 before 200, and 11 from 201 us on.
cat >"$t/copied.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 2; memory_latency = "1 us"; memory_bandwidth = "10 GB/s"; noise = { kind = "periodic"; period = "20 us"; length = "1 us"; begin = "same"; }; };
mpi = { eager_limit = "2 MB"; };
jobs = ( { program = "trace"; format = "goal"; trace = "copied.goal"; tasks_per_node = 2; } );
END
printf 'num_ranks 2\nrank 0 { s: send 1000000b to 1 tag 1 }\nrank 1 { r: recv 1000000b from 0 tag 1 }\n' >"$t/copied.goal"
run -o "$t/one" "$t/copied.cfg"
is 107000000 "copies inside a node continue between detours"
run -o "$t/one" "$t/copied.cfg" "node.single_copy_size=2 MB"
is 212000000 "those that are made twice as well"

# 1,024 tasks, 20 steps of 100 us and a reduction. All together: what one alone would lose. Each by itself: nearly every step some task is hit.
cat >"$t/many.cfg" <<'END'
topology = { kind = "star"; nodes = 256; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 4; send_overhead = "100 ns"; receive_overhead = "100 ns"; noise = { kind = "periodic"; period = "1 ms"; length = "20 us"; }; };
jobs = ( { program = "stencil"; extents = [1024]; steps = 20; compute_time = "100 us"; bytes = "0 B"; tasks_per_node = 4; allreduce_every = 1; allreduce_bytes = "8 B"; } );
END
run -o "$t/apart" "$t/many.cfg" && run -o "$t/same" "$t/many.cfg" node.noise.begin=same &&
    run -o "$t/none" "$t/many.cfg" "node.noise.length=0 ns"
apart=$(finish apart) same=$(finish same) none=$(finish none)
# 20 steps take more than 2 ms: 3 detours together. Apart: of 1,024 tasks somebody has a whole detour in each 100 us (all but 1e-46), so each step
# takes 20 us longer, and in the reductions there are more: at most one for each of its 10 rounds.
echo "$none $same $apart" >>"$t/err"
[ $((same - none)) -ge 40000000 ] && [ $((same - none)) -le 60000000 ] && [ $((apart - none)) -ge 400000000 ] && [ $((apart - none)) -le 4000000000 ]
check "1,024 tasks: together they lose what one loses, apart a detour in every step and more"

cat >"$t/c.cfg" <<'END'
topology = { kind = "torus"; extents = [3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 9; sockets = 2; send_overhead = "150 ns"; receive_overhead = "90 ns"; };
jobs = ( { program = "stencil"; first_node = 0; extents = [7, 7]; steps = 6; compute_time = "20 us"; bytes = "3 kB"; tasks_per_node = 6;
           compute_jitter = "9 us"; allreduce_every = 3; allreduce_bytes = "800 B"; },
         { program = "stencil"; first_node = 0; extents = [3, 3, 3]; steps = 4; compute_time = "31 us"; bytes = "20 kB"; placement = "strided"; tasks_per_node = 3; } );
END
printf '1 4000.5\n9000 11\n9100 3000\n40000 0\n' >"$t/detours.txt"
same_bits "periodic" node.noise.kind=periodic "node.noise.period=33 us" "node.noise.length=5 us"
same_bits "a file" node.noise.kind=file node.noise.file="$t/detours.txt" node.noise.begin=node
same_bits "drawn" node.noise.kind=random "node.noise.gap=15 us" "node.noise.length=6 us" node.noise.lengths=pareto node.noise.shape=1.3
same_bits "drawn, with memory that is short" node.noise.kind=random "node.noise.gap=15 us" "node.noise.length=6 us" node.noise.lengths=exponential \
    node.noise.begin=same "node.controller_bandwidth=12 GB/s" 'jobs[0].memory_bandwidth=4 GB/s' 'jobs[1].memory_bandwidth=3 GB/s' mpi.progress=calls
printf '1000 0\n' >"$t/quiet.txt"
same() { # what simple nodes tell, too
    cmp "$t/1/links.csv" "$t/plain/links.csv" && cmp <(cut -d, -f 1-15 "$t/1/tasks.csv") "$t/plain/tasks.csv" &&
        cmp <(jq -S '.result | del(.node, .jobs[].time_shares)' "$t/1/summary.json") <(jq -S .result "$t/plain/summary.json")
}
run -o "$t/plain" "$t/c.cfg" && run -o "$t/1" "$t/c.cfg" node.noise.kind=file node.noise.file="$t/quiet.txt" && same
check "a file without detours changes nothing"
run -o "$t/1" "$t/c.cfg" node.noise.kind=random "node.noise.gap=1000 s" && same
check "nor do detours that come too late"

# Drawn detours are looked at some thousand at a time. A computation of 1,000 s costs nothing when the run ends before it; one of 20 ms, with about
# 20,000 detours, ends when it does with a task beside it on the other core, whose work moves the first one's on at other times.
long=("node.noise.kind=random" "node.noise.gap=1 us" "node.noise.length=100 ns" node.noise.begin=core)
timeout 20 "$m" -q -o "$t/one" "$t/one.cfg" "${long[@]}" "jobs[0].compute_time=1000 s" "run.end=10 us" partition.bind=no 2>"$t/err"
check "detours behind the end of the run are not drawn"
cat >"$t/two.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 2; noise = { kind = "random"; gap = "1 us"; length = "100 ns"; }; };
jobs = ( { program = "stencil"; extents = [1]; steps = 1; compute_time = "20 ms"; nodes = 1; }, { program = "stencil"; extents = [2]; steps = 500;
    compute_time = "7 us"; nodes = 2; first_node = 0; } );
END
sed 's/, { program.*//; s/^    compute_time.*/);/' "$t/two.cfg" >"$t/alone.cfg"
run -o "$t/alone" "$t/alone.cfg" && run -o "$t/one" "$t/two.cfg" && [ "$(finish alone)" -gt 21500000000 ] && [ "$(finish alone)" -lt 22500000000 ]
is "$(finish alone)" "20,000 detours, whoever else is there"
all_alike "long computations" "$t/two.cfg"

refuses() { # WORDS KEYS...
    refused "$1" -o "$t/r" "$t/c.cfg" "${@:2}"
    check "refused: ${*:2}"
}
printf '5 1\n4 1\n' >"$t/back.txt"
printf '# nothing\n' >"$t/empty.txt"
printf '0 1000\n' >"$t/full.txt"
refuses "back.txt:2: a detour begins before the one above has ended" node.noise.kind=file node.noise.file="$t/back.txt"
refuses "empty.txt: has no detour" node.noise.kind=file node.noise.file="$t/empty.txt"
refuses "leave no time between them" node.noise.kind=file node.noise.file="$t/full.txt"
refuses "node.noise.file: is missing" node.noise.kind=file
refuses "less than node.noise.period" node.noise.kind=periodic "node.noise.period=1 us" "node.noise.length=1 us"
refuses "node.noise.period" "node.noise.period=1 us"
refuses "node.noise.kind" network.model=loggops node.noise.kind=periodic
