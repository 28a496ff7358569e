#!/bin/bash
# Collectives inside nodes through shared memory, and in levels: exact cases derived by hand, bytes by hand, everything equal on 1, 2, 3 and 5 ranks and
# after checkpoints in the middle of calls; what cannot be is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

program() { # TASKS CALL...: each task does these calls; "ibcast" and the like are waited for at once
    local tasks=$1 task call
    shift
    for ((task = 0; task < tasks; task++)); do
        echo "$task init"
        for call in "$@"; do
            echo "$task $call"
            [[ $call == i* ]] && echo "$task waitall"
        done
        echo "$task finalize"
    done >"$t/program.txt"
}
finished() { # NAME PS...: the tasks of the last run ended then
    local name=$1 got
    shift
    got=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "finish_ps") at = i; next } { printf "%s ", $at }' "$t/one/tasks.csv" | xargs)
    [ "$got" = "$*" ] || { echo "$got instead of $*" >>"$t/err"; false; }
    check "$name"
}
carried() { # NAME MESSAGES BYTES
    local got
    got=$(jq -r '.result.jobs[0] | "\(.messages) \(.bytes)"' "$t/one/summary.json")
    [ "$got" = "$2 $3" ] || { echo "$got instead of $2 $3" >>"$t/err"; false; }
    check "$1"
}
one() {
    rm -rf "$t/one"
    run -o "$t/one" "$t/c.cfg" "$@"
}

# ---- one node: l = 100 ns, a copy of 10,000 bytes t = 1 us ----

cat >"$t/c.cfg" <<END
topology: { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "100 ns"; };
node: { cores = 4; memory_latency = "100 ns"; memory_bandwidth = "10 GB/s"; };
mpi: { eager_limit = "1 MiB"; collectives: { barrier = "shared_memory"; bcast = "shared_memory"; reduce = "shared_memory"; allreduce = "shared_memory";
    gather = "shared_memory"; gatherv = "shared_memory"; scatter = "shared_memory"; scatterv = "shared_memory"; allgather = "shared_memory";
    allgatherv = "shared_memory"; alltoall = "shared_memory"; alltoallv = "shared_memory"; reduce_scatter = "shared_memory"; }; };
jobs: ( { program = "trace"; format = "simgrid"; trace = "$t/program.txt"; tasks_per_node = 4; } );
END
# Flags reach rank 0 after l, and those that it raises then the others after 2 l.
program 4 barrier
one; finished "barrier: 2 l" 100000 200000 200000 200000
carried "barrier: 3 flags in each direction" 6 0
# A flag l, the copy's own latency l, t; the flag that it is read l.
program 4 "bcast 10000 2"
one; finished "bcast: 2 l + t, the root l more" 1200000 1200000 1300000 1200000
carried "bcast: 3 flags in each direction and 3 vectors" 9 30000
program 4 "scatter 10000 10000 0"
one; finished "scatter: as bcast" 1300000 1200000 1200000 1200000
# The root reads one after the other, l + t each, from 100 ns on: 1.2, 2.3, 3.4 us; who has been read knows it l later. Behind root 1 come 2, 3, 0.
program 4 "reduce 10000 0 1"
one; finished "reduce: l + 3 (l + t), in turn" 3500000 3400000 1300000 2400000
carried "reduce: 3 flags in each direction and 3 vectors" 9 30000
program 4 "gather 10000 10000 1"
one; finished "gather: as reduce" 3500000 3400000 1300000 2400000
# The same begin; the root, 1, reads the parts of 2, 3 and 0 from 1,350 on, to 2,400, and says so.
program 4 "reduce 10000 0 1"
one mpi.collectives.reduce=shared_memory_parts; finished "reduce by parts: 3 l + 6 (l + t / 4)" 2500000 2400000 2500000 2500000
carried "reduce by parts: a barrier, 12 parts and 3 of the result, 6 flags" 27 37500
# At 3.4 us rank 0 has all; flags at 3.5, read from 3.6 to 4.6, and flags back at 4.7.
program 4 "allreduce 10000 0"
one; finished "allreduce: l + 3 (l + t) + 2 l + t" 4700000 4600000 4600000 4600000
carried "allreduce: 9 flags and 6 vectors" 15 60000
# By parts of 250 ns. The flags of all are at rank 0 at 100 ns, which reads three parts from then on, to 1,150; the others see its flag at 200, and have theirs at
# 1,250. Their flags are at rank 0 at 1,350, which reads the three other parts of the result, to 2,400; the others from 1,450 to 2,500; flags at 2,600, and back.
one mpi.collectives.allreduce=shared_memory_parts; finished "allreduce by parts: 6 l + 6 (l + t / 4)" 2600000 2700000 2700000 2700000
carried "allreduce by parts: three barriers, 12 parts twice" 42 60000
# All for all: the flags are at rank 0 at 100 ns, which reads three blocks from then on, to 3,400; the others see its flag at 200, and have theirs at 3,500, with
# flags at rank 0 at 3,600, and back.
across="3600000 3700000 3700000 3700000"
program 4 "allgather 10000 10000"
one; finished "allgather: 4 l + 3 (l + t)" $across
carried "allgather: two barriers and 12 blocks" 24 120000
program 4 "alltoall 10000 10000"
one; finished "alltoall: as allgather" $across
program 4 "reducescatter 10000 10000 10000 10000 0"
one; finished "reduce_scatter: each reads its part of all" $across
# With counts 10,000, 0, 20,000, 0 of ranks 0 to 3. Rank 0 begins at 100 ns and reads 20,000, to 2,200; 1 at 200: 2's and 0's, to 3,400; 2: 0's, to 1,300; 3: 0's
# and 2's, to 3,400. So rank 0 has all flags at 3,500, and the others its at 3,600.
counts="10000 0 20000 0"
for i in 0 1 2 3; do set -- $counts; shift $i; echo "$i init"; echo "$i allgatherv $1 $counts"; echo "$i finalize"; done >"$t/program.txt"
one; finished "allgatherv: what is empty is not read" 3500000 3600000 3600000 3600000
carried "allgatherv: every byte by hand" $((12 + 6)) 90000
# Ranks 1 and 3 have nothing; the root, 1, reads of 2 from 100 ns to 2,200; 3's flag is there; of 0 to 3,300. Who has been read knows it at 2,300, 2,300, 3,400.
for i in 0 1 2 3; do set -- $counts; shift $i; echo "$i init"; echo "$i gatherv $1 $counts 1"; echo "$i finalize"; done >"$t/program.txt"
one; finished "gatherv: in turn" 3400000 3300000 2300000 2300000
carried "gatherv: 3 flags in each direction and 2 blocks" 8 30000
# All see the root's flag at 100 ns: rank 0 reads to 1,200, 2 to 2,200, 3 nothing, and the root has their flags l later.
for i in 0 1 2 3; do set -- $counts; shift $i; echo "$i init"; echo "$i scatterv $counts $1 1"; echo "$i finalize"; done >"$t/program.txt"
one; finished "scatterv: all at once" 1200000 2300000 2200000 100000
# Rank i has (i + j) % 3 thousand bytes for rank j: from 1, 2 and 3 rank 0 reads 1,000, 2,000 and none, from 100 ns to 600; 1 from 200: of 2, 3, 0 none, 1,000, 1,000;
# 2: of 3, 0, 1: 2,000, 2,000, none; 3: of 0, 1, 2: none, 1,000, 2,000. An l and 100 ns for each 1,000.
for i in 0 1 2 3; do
    echo "$i init"; echo "$i alltoallv 9 $(for j in 0 1 2 3; do echo -n "$(((i + j) % 3 * 1000)) "; done)9 $(for j in 0 1 2 3; do echo -n "$(((i + j) % 3 * 1000)) "; done)"
    echo "$i finalize"
done >"$t/program.txt"
one; finished "alltoallv: in turn" 900000 1000000 1000000 1000000
carried "alltoallv: every byte by hand" $((12 + 8)) 12000
program 4 "allreduce 10000 0"
one; finished "and as before" 4700000 4600000 4600000 4600000
for copies in unexpected buffered; do
    one node.send_overhead="5 us" node.receive_overhead="7 us" mpi.copies=$copies mpi.eager_limit=0; finished "no overheads, no protocol, copies: $copies" 4700000 4600000 4600000 4600000
done
# With all, each copies its own 10,000 bytes first, 1 us; of this the end shows 900 ns.
one node.send_overhead="5 us" node.receive_overhead="7 us" mpi.copies=all mpi.eager_limit=0; finished "its own vector by hand" 5600000 5500000 5500000 5500000
program 4 "iallreduce 10000 0"
one; finished "one that does not block takes as long" 4700000 4600000 4600000 4600000
program 4 "allreduce 2 0" "reduce 3 0 2" "allreduce 1 0"
one mpi.collectives.allreduce=shared_memory_parts mpi.collectives.reduce=shared_memory_parts; carried "parts of a byte, or none" $((18 + 12 + 12 + 11 + 18 + 6)) $((12 + 11 + 6))
program 4 "allreduce 0 0" "bcast 0 3"
one; finished "nothing to send takes no time" 0 0 0 0
program 1 barrier "bcast 10000 0" "allreduce 10000 0"
one; finished "one task needs nobody" 0

# ---- two sockets, controllers of 15 GB/s, 50 ns more to the other socket ----

# bcast, root 0. Rank 1, on its socket, sees the flag at 100 ns and copies from 200 ns on: twice through controller 0, so at 7.5 GB/s, 750 bytes by 300 ns.
# Then 2 and 3 (flag 150, latency 150) copy, too: 4 shares of controller 0, 3.75 GB/s each. Rank 1 has its 9,250 bytes at 300 + 2,466.667 ns; the others
# have had as much, and their last 750 at 7.5 GB/s 100 ns later. The flag of rank 3 is at the root 150 ns after that.
program 4 "bcast 10000 0"
two=(node.sockets=2 node.controller_bandwidth="15 GB/s" node.socket_latency="50 ns")
one "${two[@]}"; finished "bcast through controllers" 3016667 2766667 2866667 2866667
one "${two[@]}" node.single_copy_size="1 MiB" node.single_copy_latency="3 us"; finished "what is read is copied once, without a system call" 3016667 2766667 2866667 2866667
# By socket. Rank 2 sees the flag at 150 and copies alone from 300 to 1,300 ns; its flag is at the root at 1,450. Rank 3: flag at 1,400, copies from 1,500 on
# at 7.5 GB/s, to 2,833.334; flag at 2 at 2,933.334. Rank 1: flag at 1,550, copies from 1,650 to 2,983.334; flag at 0 at 3,083.334.
one "${two[@]}" mpi.collectives.bcast=shared_memory/shared_memory/linear; finished "bcast by socket" 3083334 2983334 2933334 2833334
carried "bcast by socket: as many vectors" 9 30000
# All on one node: nothing is between nodes, and of one socket nothing between sockets.
one mpi.collectives.bcast=shared_memory/linear; finished "bcast inside and between: one node" 1300000 1200000 1200000 1200000
one mpi.collectives.bcast=binomial && rm -rf "$t/first" && mv "$t/one" "$t/first"; one mpi.collectives.bcast=binomial/shared_memory/linear
equal "$t/first" "$t/one"
check "one socket: as its algorithm alone"

# ---- between nodes ----

# A message of 10,000 bytes from node to node takes a time that is measured by a bcast of two tasks on two nodes: (the root's end is `left`, the other's `there`). Two tasks on each of two
# nodes, bcast: rank 2, the leader of the other node, has the vector at `there` and sends it on at once, rank 3 has it l + t later, rank 2 continues when it is read;
# the root when its message has left does the same with rank 1.
program 2 "bcast 10000 0"
one jobs[0].tasks_per_node=1 mpi.collectives.bcast=linear
read -r left there < <(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "finish_ps") at = i; next } { printf "%s ", $at } END { print "" }' "$t/one/tasks.csv")
program 4 "bcast 10000 0"
one jobs[0].tasks_per_node=2 mpi.collectives.bcast=linear/linear; finished "bcast between nodes, then inside" $((left + 1100000)) $((left + 1100000)) $((there + 1100000)) $((there + 1100000))
carried "three vectors" 3 30000
program 4 "ibcast 10000 0"
one jobs[0].tasks_per_node=2 mpi.collectives.bcast=linear/linear; finished "one that does not block takes as long" \
    $((left + 1100000)) $((left + 1100000)) $((there + 1100000)) $((there + 1100000))
# The root is the leader of its node: rank 3 sends to rank 0.
program 4 "bcast 10000 3"
one jobs[0].tasks_per_node=2 mpi.collectives.bcast=linear/linear; finished "the root leads its node" $((there + 1100000)) $((there + 1100000)) $((left + 1100000)) $((left + 1100000))
# Unlike numbers of tasks, and ranks in another order than nodes: ranks 0 3 5 on node 2, 1 on node 0, 2 4 6 7 on node 1. Inside 5 vectors go to leaders and 5
# back, and a ring of three moves 2 x 2: 14 x 10,000; in each direction two flags and a vector for each that is no leader, and the ring has 2 x 3 x 2 messages.
program 8 "allreduce 10000 0"
printf '%s\n' 2 0 1 2 1 2 1 1 >"$t/places.txt"
ragged=('jobs[0].placement=file' "jobs[0].placement_file=$t/places.txt")
sed 's/tasks_per_node = 4; //' "$t/c.cfg" >"$t/r.cfg"
mv "$t/r.cfg" "$t/c.cfg"
one "${ragged[@]}" mpi.collectives.allreduce=shared_memory/ring
carried "ragged nodes: every byte by hand" $((5 * 6 + 12)) 140000
# Blocks. allgather: a leader's group sends its 5 blocks in all inside; round the ring of three go 2 x 8; all 8 go to each of the 5 others. alltoall: inside 5 x 8
# blocks to the leaders and 5 x 8 back, and between nodes 64 - (9 + 1 + 16). gather, scatter, root 5: the leader of node 2; a block for each that is no leader, and 1 + 4.
program 8 "allgather 10000 10000"
one "${ragged[@]}" mpi.collectives.allgather=shared_memory/ring
carried "allgather on ragged nodes: every byte by hand" $((5 * 6 + 3 * 2)) $(((5 + 2 * 8 + 5 * 8) * 10000))
one "${ragged[@]}" mpi.collectives.allgather=shared_memory+linear/bruck
carried "the same by Bruck's algorithm" $((5 * 3 + 5 + 3 * 2)) $(((5 + 2 * 8 + 5 * 8) * 10000))
program 8 "alltoall 10000 10000"
one "${ragged[@]}" mpi.collectives.alltoall=linear/pairwise
carried "alltoall on ragged nodes: every byte by hand" $((5 * 2 + 3 * 2)) $(((5 * 8 * 2 + 64 - 26) * 10000))
program 8 "gather 10000 10000 5"
one "${ragged[@]}" mpi.collectives.gather=linear/binomial
carried "gather on ragged nodes: every byte by hand" 7 $(((5 + 5) * 10000))
program 8 "scatter 10000 10000 5"
one "${ragged[@]}" mpi.collectives.scatter=linear/linear
carried "scatter on ragged nodes: every byte by hand" 7 $(((5 + 5) * 10000))
# A communicator on several nodes: the built-in rules, which are before a list of shared_memory.
one "${ragged[@]}" && rm -rf "$t/first" && mv "$t/one" "$t/first" && one "${ragged[@]}" mpi.collectives.allreduce=auto && equal "$t/first" "$t/one"
check "shared_memory alone: on several nodes as built in"

# ---- any ranks, any moment ----

for i in 1 2 3; do
    calls+=("compute $((i * 7000))" "allreduce 3000 0" barrier "ibcast 20000 $i" "ireduce 777 0 5" "bcast 100000 7" "reduce 9001 0 $((i + 1))" ibarrier
        "iallreduce 50000 0" "allgather 3000 3000" "alltoall 700 700" "iallgather 100 100" "gather 5000 5000 6" "scatter 4000 4000 3" "ialltoall 9000 9000")
done
program 8 "${calls[@]}"
told=(output.waits=true "output.critical_path=1 MiB")
hierarchical=("${told[@]}" mpi.collectives.barrier=shared_memory/dissemination mpi.collectives.bcast=shared_memory/binomial/scatter_allgather_ring
    mpi.collectives.gather=binomial/linear/binomial mpi.collectives.scatter=shared_memory/binomial/linear mpi.collectives.alltoall=shared_memory/linear
    'mpi.collectives.allgather=["binomial+shared_memory/recursive_doubling", "shared_memory/linear/ring:2 KiB"]' mpi.collectives.reduce=linear/rabenseifner 'mpi.collectives.allreduce=["shared_memory/recursive_doubling", "shared_memory_parts+shared_memory/ring:10 KiB"]')
same_bits "levels" "${ragged[@]}" "${hierarchical[@]}"
same_bits "levels, memory shared, sockets" "${ragged[@]}" "${hierarchical[@]}" "${two[@]}" node.single_copy_size="4 KiB"
same_bits "levels, progress in calls, rendezvous" "${ragged[@]}" "${hierarchical[@]}" mpi.progress=calls mpi.eager_limit=0 node.send_overhead="300 ns"
same_bits_run
program 4 "${calls[@]//[4567]/3}"
same_bits "shared memory" "${told[@]}" "${two[@]}" jobs[0].tasks_per_node=4

# ---- what cannot be ----

refuses() { # NAME WORDS KEYS...
    refused "$2" -o "$t/o" "$t/c.cfg" "${@:3}"
    check "$1"
}
refuses "shared memory between nodes" 'mpi.collectives.bcast: "shared_memory" is no algorithm for bcast between nodes; .*shared memory is for one node' \
    mpi.collectives.bcast=shared_memory/shared_memory
refuses "a level by what is none for it" '"ring" is no algorithm for reduce inside a node; there are linear, linear_blocking, binomial' mpi.collectives.allreduce=ring/ring
refuses "a level by nothing" '"" is no algorithm for reduce inside a socket' mpi.collectives.allreduce=/binomial/ring
refuses "four levels" 'is no rule; right would be.*SOCKET/NODE/BETWEEN' mpi.collectives.barrier=linear/linear/linear/linear
refuses "levels of a collective that has none" 'mpi.collectives.alltoallv: "linear/linear" is no rule' mpi.collectives.alltoallv=linear/linear
refuses "an algorithm for groups that are alike" '"bruck" is no algorithm for alltoall between nodes; .*this one is for groups that are alike' \
    mpi.collectives.alltoall=linear/bruck
refuses "two ways where there is one" '"linear+linear" is no algorithm for bcast' mpi.collectives.bcast=linear+linear/linear
refuses "shared memory in LogGOPS" 'mpi.collectives.reduce_scatter: shared memory is for nodes with network.model' network.model=loggops
