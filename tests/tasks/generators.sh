#!/bin/bash
# The generators fft, wavefront and sparse: times by hand, above network.model = "simple"; the same bits on any number of ranks, above packets, with
# what else there is; LogGOPS runs them, too.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

# A message of s bytes takes 1 us + s/1 GB/s, however many there are; nothing else takes time.
star() { # FILE JOB
    cat >"$1" <<END_CFG
topology: { kind = "star"; nodes = 16; bandwidth = "1 GB/s"; latency = "500 ns"; };
network: { model = "simple"; latency = "1 us"; bandwidth = "1 GB/s"; };
jobs = ( { $2 } );
END_CFG
}
# A 3-D transform there on 2 x 2 tasks: 4 x 4 x 4 points of 16 bytes, 256 bytes a task, blocks of 128: an Alltoall of two tasks is one message each
# way, 1.128 us. Three computations of 1 us and two of these.
star "$t/a.cfg" 'program = "fft"; points = [4, 4, 4]; grid = [2, 2]; inverse = false; steps = 1; compute_time = "3 us";'
finish_times "a 3-D transform" "5256 5256 5256 5256" 1000 "$t/a.cfg"
# And back: twice that, in two steps four times; 6 us are 1 us for each computation.
finish_times "and back, two steps" "21024 21024 21024 21024" 1000 "$t/a.cfg" jobs[0].inverse=true jobs[0].steps=2 'jobs[0].compute_time=6 us'
# 2-D on 2 tasks: 8 x 8 points, 512 bytes a task, blocks of 256.
star "$t/b.cfg" 'program = "fft"; points = [8, 8]; grid = [2]; inverse = false; steps = 3; compute_time = "2 us";'
finish_times "a 2-D transform" "9768 9768" 1000 "$t/b.cfg"

# Sweeps of one block over 3 x 1 tasks, 1 us of computation and 1 us + 1 us (1000 bytes) for a message to arrive; a sender is free when it has
# posted an eager one. Two sweeps from the west: task 0 computes 0-1, 1-2; task 1 3-4, 4-5; task 2 6-7, 7-8. From the east: task 2 8-9, 9-10;
# task 1 11-12, 12-13; task 0 14-15, 15-16. The other four the same again: task 0 begins at 16; task 0 is done after 32, task 2 when it has sent
# its last at 26, task 1 at 29.
star "$t/c.cfg" 'program = "wavefront"; grid = [3, 1]; blocks = 1; steps = 1; bytes = "1000 B"; compute_time = "8 us";'
finish_times "sweeps along a row" "32 29 26" 1000000 "$t/c.cfg" 'mpi.eager_limit=1 MiB' mpi.eager_completion=buffered
# In a column the pairs from the north come first, then two more: four sweeps down, four up: task 0 computes 0-4; task 1 3-7, task 2 6-10, then
# up: task 2 10-14; task 1 from 13: 13-17; task 0 16-20.
finish_times "sweeps along a column" "20 17 14" 1000000 "$t/c.cfg" 'jobs[0].grid=1,3' 'mpi.eager_limit=1 MiB' mpi.eager_completion=buffered

# Each step of messages of 1000 bytes takes 2 us, and 1 us of computation; whoever the partners are, all are done with step k at 3 k.
star "$t/d.cfg" 'program = "sparse"; tasks = 16; degree = 5; steps = 4; bytes = "1000 B"; compute_time = "1 us"; allreduce_every = 0;'
finish_times "random partners" "$(printf '12 %.0s' {1..16} | sed 's/ $//')" 1000000 "$t/d.cfg"

cat >"$t/c.cfg" <<'END_CFG'
topology: { kind = "torus"; extents = [4, 4]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node: { cores = 4; send_overhead = "200 ns"; receive_overhead = "150 ns"; };
run: { seed = 5; };
output: { links_by_job = true; };
jobs = ( { name = "f3"; program = "fft"; points = [20, 18, 14]; grid = [4, 3]; steps = 2; compute_time = "3 us"; compute_jitter = "300 ns"; placement = "random"; share = true; },
         { name = "f2"; program = "fft"; points = [50, 40]; grid = [7]; steps = 2; allreduce_every = 1; share = true; first_node = 2; },
         { name = "w"; program = "wavefront"; grid = [4, 3]; blocks = 4; steps = 2; bytes = ["600 B", "11 kB"]; compute_time = "32 us"; placement = "random"; share = true; },
         { name = "s"; program = "sparse"; tasks = 13; degree = 5; steps = 5; bytes = ["0 B", "12 kB"]; allreduce_every = 2; placement = "random"; share = true; } );
END_CFG
same_bits "all of them beside each other"
same_bits "each step's partners, or once" jobs[3].partners=job jobs[3].restart=true jobs[3].background=true
sed '/^output/d' "$t/c.cfg" >"$t/whole.cfg"
all_alike "above whole messages" "$t/whole.cfg" network.model=flow
sed '/^output/d; /^topology/d; /^node/d; s/placement = "random"; *//; s/share = true; *//; s/first_node = 2; *//' "$t/c.cfg" >"$t/loggops.cfg"
all_alike "under LogGOPS" "$t/loggops.cfg" network.model=loggops
same_bits "repeated" jobs[2].repetitions=3 jobs[0].repetitions=2
sed -n 's/^    \(jobs = (.*\)/\1/p' docs/generators.md >"$t/examples"
while read -r jobs; do
    printf '%s\n' 'topology: { kind = "star"; nodes = 600; bandwidth = "1 GB/s"; latency = "1 us"; };' 'network: { model = "simple"; };' "$jobs" >"$t/doc.cfg"
    "$m" --check "$t/doc.cfg" >"$t/err" 2>&1 || break
done <"$t/examples"
[ "$(wc -l <"$t/examples")" = 3 ] && "$m" --check "$t/doc.cfg" >"$t/err" 2>&1
check "the examples of docs/generators.md"
run -o "$t/a" "$t/c.cfg" run.seed=5 && run -o "$t/b" "$t/c.cfg" run.seed=6 && ! cmp -s "$t/a/links_by_job.csv" "$t/b/links_by_job.csv"
check "the seed draws other partners"
