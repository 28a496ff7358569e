#!/bin/bash
# Matrices of nodes, boards, racks and tasks, in all and in periods: the coarse ones are sums of the finest, tasks' are those of tasks.csv;
# the same on any number of ranks and after a checkpoint; what cannot be is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
# Boards of 4 switches, racks of 2 boards, 3 racks; 2 nodes to a switch: node / 8 is its board, node / 16 its rack. Two tasks to a node.
cat >"$t/in.cfg" <<'C'
topology = { kind = "hierarchical"; groups = [4, 2, 3]; nodes_per_switch = 2; links = [1, 1, 1]; bandwidth = "10 GB/s"; latency = "50 ns"; };
node = { cores = 4; };
jobs = ( { name = "halo"; program = "stencil"; tasks = 48; extents = [4, 4, 3]; bytes = ["3 KiB"]; steps = 6; tasks_per_node = 2;
           allreduce_every = 2; },
         { name = "ping, pong"; program = "pingpong"; tasks = 2; placement = "strided"; stride = 29; first_node = 5; bytes = ["20 KiB"];
           steps = 10; start = "10 us"; } );
C
keys=("$t/in.cfg" output.matrix=true 'output.matrix_levels=["rack","node","task","board"]' output.series.matrix=periods "output.period=3001 ns")
tables="matrix board_matrix rack_matrix task_matrix"
same() { for table in $tables; do cmp "$1/$table.csv" "$2/$table.csv" && cmp "$1/${table}_series.csv" "$2/${table}_series.csv" || return 1; done; }

run -o "$t/a" "${keys[@]}" || { cat "$t/err"; exit 1; }
coarse() { # BY: sums of pairs of nodes
    awk -F, -v by="$1" 'NR > 1 { p = int($1 / by) "," int($2 / by); m[p] += $3; b[p] += $4 } END { for (p in m) print p "," m[p] "," b[p] }' "$t/a/matrix.csv" | sort
}
[ "$(wc -l <"$t/a/matrix.csv")" -gt 60 ] && cmp <(coarse 8) <(tail -n +2 "$t/a/board_matrix.csv" | sort) &&
    cmp <(coarse 16) <(tail -n +2 "$t/a/rack_matrix.csv" | sort) && [ "$(wc -l <"$t/a/rack_matrix.csv")" -ge 6 ] &&
    [ "$(wc -l <"$t/a/board_matrix.csv")" -gt "$(wc -l <"$t/a/rack_matrix.csv")" ]
check "boards and racks are the sums of their nodes"
summed() { # FILE: a series without its times
    awk 'NR == 1 { FS = OFS = ","; next } { n = split($0, f, ","); p = f[2]; for (i = 3; i < n - 1; i++) p = p "," f[i]
        m[p] += f[n - 1]; b[p] += f[n] } END { for (p in m) print p "," m[p] "," b[p] }' "$1" | sort
}
for table in $tables; do
    cmp <(summed "$t/a/${table}_series.csv") <(tail -n +2 "$t/a/$table.csv" | sort) && [ "$(cut -d, -f1 "$t/a/${table}_series.csv" | sort -u | wc -l)" -gt 5 ]
    check "the periods of $table add up to it"
done
tasks() { # COLUMN...: of tasks.csv or task_matrix.csv, by job and task
    sed 's/"ping, pong"/p/' "$2" | awk -F, -v end="$1" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        { p = $c["job"] "," (("task" in c) ? $c["task"] : $c[end "_task"]); what = end == "from" ? "sent" : "received"
          m[p] += ("task" in c) ? $c["messages_" what] : $c["messages"]; b[p] += ("task" in c) ? $c["bytes_" what] : $c["bytes"] }
        END { for (p in m) print p "," m[p] "," b[p] }' | sort
}
for end in from to; do cmp <(tasks $end "$t/a/tasks.csv") <(tasks $end "$t/a/task_matrix.csv") || break; done &&
    grep -q '^"ping, pong",1,0,' "$t/a/task_matrix.csv" && [ "$(tasks from "$t/a/tasks.csv" | wc -l)" -eq 50 ]
check "tasks send and receive what tasks.csv says"
all_alike "matrices" "${keys[@]}"
run -o "$t/b" "$t/in.cfg" output.matrix=true && cmp "$t/a/matrix.csv" "$t/b/matrix.csv" && [ "$(ls "$t/b" | grep -c matrix)" -eq 1 ] &&
    cmp <(jq -S .result "$t/a/summary.json") <(jq -S .result "$t/b/summary.json")
check "nodes alone by default, and nothing else depends on the others"
run -o "$t/b" "${keys[@]}" output.matrix=false && cmp "$t/a/task_matrix_series.csv" "$t/b/task_matrix_series.csv" &&
    cmp "$t/a/rack_matrix_series.csv" "$t/b/rack_matrix_series.csv" && [ "$(ls "$t/b" | grep -c matrix)" -eq 4 ]
check "periods without the whole"
run -o "$t/b" "$t/in.cfg" output.matrix=true output.matrix_levels=rack node.adapters=2 && awk -F, 'NR > 1 && ($1 > 2 || $2 > 2) { exit 1 }' "$t/b/rack_matrix.csv" &&
    cmp <(cut -d, -f1-2,4 "$t/a/rack_matrix.csv") <(cut -d, -f1-2,4 "$t/b/rack_matrix.csv")
check "racks are the same of nodes with two adapters"

refused 'output.matrix_levels.*"task".*no jobs' -o "$t/x" configs/torus-uniform.cfg output.matrix=true output.matrix_levels=task
check "tasks want jobs"
refused 'output.matrix_levels.*crate' -o "$t/x" "$t/in.cfg" output.matrix=true output.matrix_levels=crate
check "a level that there is not is refused"
refused 'output.matrix_levels.*empty' -o "$t/x" "$t/in.cfg" output.matrix=true 'output.matrix_levels=[]'
check "so is a matrix of no level"
refused 'output.matrix_levels' -o "$t/x" "$t/in.cfg" output.matrix_levels=rack
check "levels want a matrix"
refused 'output.series.matrix.*output.period is 0' -o "$t/x" "$t/in.cfg" output.series.matrix=periods
check "periods want a period"
refused 'output.period.*too short: matrix_series.csv .* give [0-9.]* ns or more' -o "$t/x" configs/torus-uniform.cfg output.series.matrix=periods \
    "output.period=10 ns" output.series.bytes=1MB
check "a period that is too short is refused with one that fits"
"$m" --check "${keys[@]}" >"$t/check" && [ "$(grep -c 'matrix_series.csv gets .* a period at most' "$t/check")" -eq 4 ]
check "--check says what they cost"
[ "$number" -gt 0 ]
