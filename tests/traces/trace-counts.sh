#!/bin/bash
# Messages and bytes that each task of a traced run sends, and what it calls, counted here from the text of the trace and by the replay.
# Collective calls are left out of both, but for those that make communicators: these cost n - 1 messages of 8 bytes with the ring, n
# being the size of the parent, which is in the line. The traces of the folder ../shared are looked at when they are there.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/libcsv.sh
. tests/lib-script.sh

config() { # TRACE
    echo 'topology: { kind = "star"; nodes = 64; bandwidth = "10 GB/s"; latency = "100 ns"; };'
    echo 'mpi: { collectives: { comm_create = "ring"; }; };'
    echo "jobs = ( { program = \"trace\"; trace = \"$1\"; } );"
}

collective='^MPI_(Barrier|Bcast|Reduce|Allreduce|Scan|Exscan|Gather|Scatter|Allgather|Alltoall|Gatherv|Scatterv|Allgatherv|Alltoallv|Reduce_scatter)[:_]'

count() { # FILE: task's messages and bytes
    awk -F: '
        /^MPI_(Send|[SBR]send|I[sbr]?send|Sendrecv|Sendrecv_replace):/ && $6 != -2 {
            split($5, type, ",")
            messages++
            bytes += $4 * type[2]
        }
        /^MPI_(Comm_split|Comm_dup|Comm_create|Cart_create|Cart_sub):/ {
            split($3, group, ",")
            messages += group[3] - 1
            bytes += 8 * (group[3] - 1)
        }
        END { printf "%d,%d\n", messages, bytes }' "$1"
}

compare() { # NAME FOLDER
    local file task=0 why=""
    rm -rf "$work/trace" "$work/expected"
    mkdir "$work/trace"
    while :; do
        file=$(ls "$2"/pmpi-trace-rank-$task.txt{,.zst} 2>/dev/null | head -1)
        [ -n "$file" ] || break
        case $file in *.zst) zstdcat "$file" ;; *) cat "$file" ;; esac |
            grep -vE "$collective" >"$work/trace/pmpi-trace-rank-$task.txt"
        echo "$task,$(count "$work/trace/pmpi-trace-rank-$task.txt")" >>"$work/expected"
        task=$((task + 1))
    done
    config "$work/trace" >"$work/run.cfg"
    if ! "$marssim" -q -o "$work/out" "$work/run.cfg" 2>"$work/err"; then
        why=$(head -1 "$work/err")
    else
        csv_columns "$work/out/tasks.csv" task messages_sent bytes_sent >"$work/counted"
        cmp -s "$work/expected" "$work/counted" || why="other counts: $(diff "$work/expected" "$work/counted" | sed -n 2,3p | tr '\n' ' ')"
        grep -q '"unreceived": 0' "$work/out/summary.json" || why="messages that nobody receives"
    fi
    verdict "$why" "$1: messages and bytes of $task tasks"
}

ranks() { # NAME FOLDER: the whole trace
    local n why=""
    config "$2" >"$work/run.cfg"
    for n in 1 2 3; do
        mpirun -n $n "$marssim" -q -o "$work/out$n" "$work/run.cfg" partition.oversubscribe=true >"$work/err" 2>&1 ||
            why="$n ranks: $(head -1 "$work/err")"
        cmp -s "$work/out1/tasks.csv" "$work/out$n/tasks.csv" || why="$n ranks: tasks.csv differs"
    done
    verdict "$why" "$1: the same tasks.csv on 1, 2 and 3 ranks"
}

# Lines are NAME:start:...:end, in microseconds; - is no time.
calls() { # NAME FOLDER: of the whole trace, whose results ranks() has left
    local task=0 why="" file
    while file=$(ls "$2"/pmpi-trace-rank-$task.txt{,.zst} 2>/dev/null | head -1) && [ -n "$file" ]; do
        case $file in *.zst) zstdcat "$file" ;; *) cat "$file" ;; esac |
            awk -F: -v task=$task '/^MPI_/ { calls[$1]++; if ($2 != "-" && $NF > $2) time[$1] += 1000 * ($NF - $2) }
                END { for (name in calls) printf "%d,%s,%d,%d\n", task, name, calls[name], time[name] }' | LC_ALL=C sort -t, -k2,2
        task=$((task + 1))
    done >"$work/expected"
    csv_columns "$work/out1/calls.csv" task function calls time_ns >"$work/counted"
    [ -s "$work/expected" ] && cmp -s "$work/expected" "$work/counted" ||
        why="$(diff "$work/expected" "$work/counted" | head -4 | tr '\n' ' ')"
    for n in 2 3; do
        cmp -s "$work/out1/calls.csv" "$work/out$n/calls.csv" && cmp -s "$work/out1/functions.csv" "$work/out$n/functions.csv" ||
            why="$n ranks: others"
    done
    verdict "$why" "$1: calls and their traced time"
}

for name in npb-is.S-8 npb-ft.S-4; do
    compare $name "$top/tests/traces/$name"
    ranks $name "$top/tests/traces/$name"
    calls $name "$top/tests/traces/$name"
done
compare lammps-lj-32 "$top/configs/traces/lammps-lj-32"
if [ -d ../shared/traces ]; then
    for archive in ../shared/traces/*.tar.xz; do
        name=$(basename "$archive" .tar.xz)
        rm -rf "$work/all"
        mkdir "$work/all"
        tar xf "$archive" -C "$work/all"
        compare "$name" "$work/all/$name"
        [ "$name" = hpcc-8 ] || ranks "$name" "$work/all/$name" # that one is large
    done
else
    echo "SKIP: ../shared/traces is not there: the other traces are not counted"
fi
