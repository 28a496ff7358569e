#!/bin/bash
# Collectives by a formula: tests/tasks/analytic.sh
#
# When all continue, by hand, above every model of the network; with all that stands around them on 1, 2, 3, 5 ranks, in every order of cells,
# saved and resumed in the middle of calls; what is wrong is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v jq >/dev/null || { echo "SKIP: jq is missing"; exit 0; }
. tests/lib-runs.sh

# By hand (us): L 5, 1 MB at 1 GB/s, that is 1,000. Eight tasks call it at once, at 0: 1,005; ceil(log2 8) = 3 times that; 7 times that.
cat >"$t/eight.cfg" <<END
topology: { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "50 ns"; };
network: { model = "simple"; latency = "5 us"; bandwidth = "1 GB/s"; };
node: { cores = 2; };
mpi: { collectives: { allreduce = ["analytic_log"]; barrier = ["ideal"]; }; };
jobs = ( { program = "collective"; collective = "allreduce"; tasks = 8; tasks_per_node = 2; bytes = "1 MB"; iterations = 1; } );
END
own="mpi.collectives.latency=5us mpi.collectives.bandwidth=1GB/s"
at_us() { # NAME EXPECTED KEYS...: when the job has ended
    local name=$1 wanted=$2 found
    shift 2
    run -o "$t/hand" "$t/eight.cfg" "$@" && found=$(jq '.result.jobs[0].finish_ps / 1e6' "$t/hand/summary.json") &&
        { [ "$found" = "$wanted" ] || { echo "$found" >>"$t/err"; false; }; }
    check "$name"
}
at_us "constant: 1,005 us" 1005 'mpi.collectives.allreduce=["analytic_constant"]'
at_us "log: 3,015 us" 3015
at_us "linear: 7,035 us" 7035 'mpi.collectives.allreduce=["analytic_linear"]'
at_us "ideal: no time" 0 'mpi.collectives.allreduce=["ideal"]'
at_us "log of seven: 3,015 us" 3015 jobs[0].tasks=7
at_us "alone: no time" 0 jobs[0].tasks=1
at_us "ten in a row: each as long" 30150 jobs[0].iterations=10
at_us "from 2 MB on only" 3015 'mpi.collectives.allreduce=["analytic_constant","analytic_log:1MB"]'
sed 's/network:.*/network: { model = "packet"; };/' "$t/eight.cfg" >"$t/packet.cfg"
sed -i 's/.*network:.*//; s/allreduce =/latency = "5 us"; bandwidth = "1 GB\/s"; allreduce =/' "$t/packet.cfg"
cp "$t/eight.cfg" "$t/simple.cfg"
cp "$t/packet.cfg" "$t/eight.cfg"
at_us "above packets: the same" 3015
at_us "above flows: the same" 3015 network.model=flow
at_us "with several adapters: the same" 3015 node.adapters=2
at_us "over LogGOPS: the same" 3015 network.model=loggops
sed -i "s|latency = \"5 us\"; ||" "$t/eight.cfg"
at_us "LogGOPS' latency, where none is given" 3015 network.model=loggops loggops.L=5us
cp "$t/simple.cfg" "$t/eight.cfg"
at_us "bus: the same" 3015 network.model=bus network.buses=1

# Behind the last: task 5 computes for 200 us first; a curve that is given, with a straight line between 1,000 B (10 us) and 3,000 B (20 us), and behind.
cat >"$t/times" <<'END'
# collective bytes tasks time
allreduce 1000 8 10 us
allreduce 3000 8 20 us
allreduce 1000 4 1 us
END
table=('mpi.collectives.allreduce=["analytic_table"]' "mpi.collectives.table=$t/times" jobs[0].tasks=8)
at_us "a table: a point" 10 "${table[@]}" jobs[0].bytes=1000B
at_us "a table: between two" 15 "${table[@]}" jobs[0].bytes=2000B
at_us "a table: below the first" 10 "${table[@]}" jobs[0].bytes=8B
at_us "a table: behind the last" 30 "${table[@]}" jobs[0].bytes=5000B

# Two tasks, of which one computes 100 us longer: both continue 5.008 us (8 bytes) behind the later one; all of what is waited before is for it.
mkdir "$t/two"
for rank in 0 1; do
    late=$((rank * 100))
    cat >"$t/two/pmpi-trace-rank-$rank.txt" <<END
# htor's PMPI Tracer 0.9 Output File
MPI_Init:-:0:0:1000
MPI_Allreduce:$((1020 + late)):4096:8192:1:1,4,4:3:77,$rank,2:$((1200 + late))
MPI_Finalize:$((1210 + late)):-
END
done
cat >"$t/two.cfg" <<END
topology: { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "50 ns"; };
mpi: { collectives: { latency = "5 us"; bandwidth = "1 GB/s"; allreduce = ["analytic_linear"]; }; };
jobs = ( { program = "trace"; trace = "$t/two"; } );
output: { waits = true; critical_path = "1 MB"; };
END
for model in packet "simple network.latency=9us" loggops; do
    run -o "$t/hand" "$t/two.cfg" network.model=$model &&
        jq -e '.result.jobs[0] | .waits.late_participants_ps == 100000000 and .waits.transfer_ps == 10008000 and .waits.wait_ps == 110008000 and
            .critical_path.complete and .critical_path.from_ps == 0' "$t/hand/summary.json" >>"$t/err"
    check "${model%% *}: who waits for whom, and the critical path"
done

# With everything around: jobs, services, traffic, noise, calls that do not block, small communicators.
cat >"$t/all.cfg" <<END
topology: { kind = "fat_tree"; down = [4, 4, 4]; up = [1, 4, 4]; bandwidth = "2.5 GB/s"; latency = "220 ns"; };
node: { cores = 4; noise: { kind = "random"; gap = "40 us"; length = "2 us"; }; };
mpi: { collectives: { latency = "3 us"; bandwidth = "1 GB/s"; allreduce = ["analytic_log"]; bcast = ["analytic_constant"]; barrier = ["analytic_linear"];
       allgather = ["ideal"]; }; };
jobs = ( { name = "trace"; program = "trace"; trace = "$PWD/configs/traces/lammps-lj-32"; processor_factor = 0.05; placement = "random"; },
         { name = "ring"; program = "stencil"; extents = [16]; steps = 30; compute_time = "3 us"; allreduce_every = 1; tasks_per_node = 2; first_node = 40;
           background = true; } );
traffic: { pattern = "uniform"; load = 0.05; size = "3 KiB"; outstanding = 0; };
services = ( { kind = "heartbeat"; period = "7 us"; every = 3; } );
output: { period = "100 us"; waits = true; critical_path = "1 MB"; series: { jobs = "periods"; traffic = "periods"; }; };
run: { end = "500 us"; };
END
all_alike "packets, with a trace, a generator, traffic, a service, noise and series" "$t/all.cfg"
for model in "simple" "bus network.buses=3" "flow"; do
    rm -rf "$t/one"
    all_alike "${model%% *}, with all of that" "$t/all.cfg" network.model=$model
done
cat >"$t/loggops.cfg" <<END
network: { model = "loggops"; };
mpi: { collectives: { latency = "3 us"; bandwidth = "1 GB/s"; allreduce = ["analytic_log"]; bcast = ["analytic_constant"]; barrier = ["analytic_linear"]; }; };
jobs = ( { name = "trace"; program = "trace"; trace = "$PWD/configs/traces/lammps-lj-32"; processor_factor = 0.05; },
         { name = "ring"; program = "stencil"; extents = [16]; steps = 30; compute_time = "3 us"; allreduce_every = 1; background = true; } );
output: { period = "100 us"; waits = true; critical_path = "1 MB"; series: { jobs = "periods"; }; };
END
rm -rf "$t/one"
all_alike "LogGOPS, with jobs" "$t/loggops.cfg"

sed 's/latency = "5 us"; bandwidth = "1 GB\/s"; allreduce/allreduce/' "$t/two.cfg" >"$t/none.cfg"
refused "mpi.collectives.latency: is missing: of a step" "$t/none.cfg"
check "refused: no latency of a step"
refused "mpi.collectives.bandwidth: is missing: of a step" "$t/none.cfg" mpi.collectives.latency="1 us"
check "refused: no bandwidth of a step"
refused "mpi.collectives.latency: means nothing" "$t/two.cfg" 'mpi.collectives.allreduce=["ring"]'
check "refused: a latency that no formula asks for"
refused "network.latency: is too short" "$t/none.cfg" network.model=simple network.latency="1 ps"
check "refused: no time to decide in"
refused "of which those by a formula stand alone" "$t/two.cfg" 'mpi.collectives.allreduce=["linear/analytic_log"]'
check "refused: a formula between nodes"
refused "mpi.collectives.table: is missing" "$t/none.cfg" 'mpi.collectives.allreduce=["analytic_table"]'
check "refused: no file of times"
bad_table() { # NAME WORDS LINE...
    printf '%s\n' "${@:3}" >"$t/bad"
    refused "$2" "$t/none.cfg" 'mpi.collectives.allreduce=["analytic_table"]' mpi.collectives.table="$t/bad"
    check "refused: $1"
}
bad_table "a communicator without a curve" 'has no curve of allreduce on 2 tasks, as many as a communicator of job' "allreduce 8 4 1 us"
bad_table "a curve that falls" 'bad:2: the curve of allreduce on 2 tasks does not ascend' "allreduce 8 2 2 us" "allreduce 16 2 1 us"
bad_table "a size that is there twice" 'bad:3: the curve of allreduce on 2 tasks does not ascend: beside line 1' "allreduce 8 2 2 us" "" "allreduce 8 2 3 us"
bad_table "an unknown collective" 'bad:1: "all 8 2 2 us" begins with no collective' "all 8 2 2 us"
bad_table "a time without unit" 'bad:1: no time at the end of the line' "allreduce 8 2 2"
bad_table "no time at all" 'bad:1: no time at the end of the line' "allreduce 8 2 1 ps"
bad_table "no number" 'bad:1: no whole numbers of bytes and tasks' "allreduce x 2 1 us"
bad_table "one task" 'bad:1: 1 tasks: a collective of one task takes no time' "allreduce 8 1 1 us"
