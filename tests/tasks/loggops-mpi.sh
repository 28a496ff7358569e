#!/bin/bash
# Programs of MPI with network.model = "loggops": times derived by hand; the same times, to the picosecond, as the schedule in GOAL that
# marsconv makes of a trace; the same results on any number of ranks and in any order of processes; and what is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marsconv=$(dirname "$marssim")/marsconv
t=$work
cat >"$t/p.cfg" <<'CFG'
network: { model = "loggops"; };
jobs: ( { program = "pingpong"; } );
CFG
run() { "$marssim" -q -o "$t/o" "$@" 2>"$t/err"; }
finish() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "finish_ps") at = i; next } { printf "%s ", $at }' "$t/$1/tasks.csv"; }
small=("loggops.L=1000 ps" "loggops.o=10 ps" "loggops.g=20 ps" "loggops.G=1 ps" "loggops.O=2 ps" "loggops.S=10 B")
is() { # TIMES NAME
    local got; got=$(finish o)
    verdict "$([ "$got" = "$1 " ] || echo "finish times are $got")" "$2"
}

# Ten times to and fro. One way: there at o + L = 1010, taken in o + 9 x 2 longer; the last is sent o + 9 x 2 after the 19th has come.
run "$t/p.cfg" "${small[@]}" 'jobs[0].bytes="10 B"'
is "20760 19750" "eager: twenty times 1038; the sender is free after 28"
run "$t/p.cfg" "${small[@]}" 'jobs[0].bytes="0 B"'
is "20400 19390" "0 bytes cost as much as 1"
# RTS until 10, there at 1010, in until 1020; CTS until 1030, there at 2030, in until 2040; data until 2050 + 198, there at 3050, in until 3258.
run "$t/p.cfg" "${small[@]}" 'jobs[0].bytes="100 B"' mpi.rendezvous=write
is "65160 64150" "rendezvous by write: twenty times 3258; the sender is free after 2248"
# READ there at 2030; data at 3030, in until 3238; FIN at 4238.
run "$t/p.cfg" "${small[@]}" 'jobs[0].bytes="100 B"' mpi.rendezvous=read
is "64760 65760" "rendezvous by read: twenty times 3238; the sender is free after 4238"
run "$t/p.cfg" "${small[@]}" 'jobs[0].bytes="10 B"' "jobs[0].start=5 ns"
is "25760 24750" "a later start"

# A trace, and the schedule that marsconv makes of it.
cat >"$t/t.cfg" <<'CFG'
network: { model = "loggops"; };
jobs: ( { program = "trace"; } );
CFG
equal() { # NAME TRACE GOAL ARGUMENTS
    local name=$1 trace=$2 goal=$3 why
    shift 3
    why=$(
        "$marssim" -q -o "$t/m" "$t/t.cfg" jobs[0].trace="$trace" "$@" 2>"$t/err" || echo "the trace: exit status $?"
        "$marssim" -q -o "$t/g" "$t/t.cfg" jobs[0].trace="$goal" "$@" 2>"$t/err" || echo "the schedule: exit status $?"
        [ "$(finish m)" = "$(finish g)" ] || paste <(finish m | tr ' ' '\n') <(finish g | tr ' ' '\n') | awk '$1 != $2 { n++ } END { print n " tasks differ" }'
    )
    verdict "$why" "$name"
}
compare() { # TRACE
    local trace goal=$t/$1.goal name=$1
    trace=$(readlink -f "$2")
    "$marsconv" --to goal "$trace" "$goal" >"$t/err" 2>&1
    check "$name: marsconv makes a schedule"
    equal "$name: eager" "$trace" "$goal" "loggops.S=1 GB"
    equal "$name: eager, computation a thousandth" "$trace" "$goal" "loggops.S=1 GB" jobs[0].processor_factor=0.001
    equal "$name: eager, g above all, fractions of O" "$trace" "$goal" "loggops.S=1 GB" "loggops.g=20 us" "loggops.O=7.3 ns"
    equal "$name: rendezvous by write" "$trace" "$goal" "loggops.S=4 kB" mpi.rendezvous=write jobs[0].processor_factor=0.1
    equal "$name: rendezvous by read" "$trace" "$goal" "loggops.S=4 kB" mpi.rendezvous=read jobs[0].processor_factor=0.1
}
compare lammps-lj-32 configs/traces/lammps-lj-32
compare npb-ft.S-4 tests/traces/npb-ft.S-4
compare npb-is.S-8 tests/traces/npb-is.S-8

# Everything that is collected, of programs with messages of all sizes and collectives of any kind of progress.
cat >"$t/all.cfg" <<'CFG'
network: { model = "loggops"; };
loggops: { S = "10 kB"; };
jobs: (
    { program = "stencil"; extents = [4, 3, 2]; steps = 4; bytes = "20 kB"; compute_time = "10 us"; allreduce_every = 2; compute_jitter = "3 us"; },
    { program = "weather"; grid = [4, 2]; steps = 3; start = "7 us"; name = "w"; },
    { program = "pingpong"; tasks = 4; background = true; restart = true; name = "b"; }
);
output: { waits = true; period = "500 us"; calls = true; matching = true; matrix = true; matrix_levels = ["task"]; timeline = ["perfetto"];
    series: { jobs = "periods"; tasks = "periods"; traffic = "periods"; matrix = "periods"; }; };
partition: { bind = "no"; oversubscribe = true; };
CFG
params=("loggops.L=2500 ns|mpi.rendezvous=read" "loggops.L=400 ns|loggops.o=0 ps|loggops.g=0 ps|loggops.G=0 ps|mpi.rendezvous=write"
    "loggops.L=0 ps|loggops.o=1 us|mpi.progress=calls" "loggops.L=10 us|loggops.S=0 B|mpi.progress=thread|mpi.progress_cost=100 ns|mpi.match_time=10 ns")
for p in "${params[@]}"; do
    IFS='|' read -ra keys <<<"$p"
    why=
    rm -rf "$t/one"
    "$marssim" -q -o "$t/one" "$t/all.cfg" "${keys[@]}" >"$t/err" 2>&1 || why="one rank: exit status $?"
    [ "$(jq -r .result.end_reason "$t/one/summary.json")" = "jobs done" ] || why+=" not done"
    for n in 2 3 5; do
        order=$(cut -d' ' -f$((n % 3 + 1)) <<<"forward backward shuffled")
        rm -rf "$t/many"
        timeout 60 mpirun -n $n "$marssim" -q -o "$t/many" "$t/all.cfg" "${keys[@]}" engine.cell_order=$order >"$t/err" 2>&1 || why+=" $n ranks: exit status $?"
        diff -q <(jq -S .result "$t/one/summary.json") <(jq -S .result "$t/many/summary.json") >/dev/null || why+=" $n ranks: summary.json"
        why+=$(diff -q "$t/one" "$t/many" | grep -v 'system.cfg\|summary\.' | sed "s/^/ $n ranks: /")
    done
    verdict "$why" "all that is collected (${p//|/, }): the same on 1, 2, 3, 5 ranks"
done
run "$t/t.cfg" jobs[0].trace="$(readlink -f tests/traces/npb-ft.S-4)" "output.period=300 us"
awk -F, 'FNR == 1 { part++; for (i = 1; i <= NF; i++) at[$i] = i; next } part == 1 { bytes += $at["bytes_received"]; next }
    { moved += $at["bytes_delivered"] } END { exit !(bytes > 0 && bytes == moved) }' "$t/o/tasks.csv" "$t/o/periods.csv"
check "the periods have the bytes that tasks have received"

printf 'topology: { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "500 ns"; };\njobs: ( { program = "pingpong"; bytes = "10 B"; } );\n' >"$t/star.cfg"
run "$t/star.cfg" network.model=loggops "${small[@]}"
is "20760 19750" "a configuration of the packet network, turned by the command line"

refuses() { # STATUS WORDS NAME ARGUMENTS
    ends "$1" "$2" "$marssim" -q -o "$t/o" "${@:4}"
    check "$3"
}
refuses 2 "mpi.rendezvous.*GOAL" "instant rendezvous" "$t/p.cfg" mpi.rendezvous=instant
refuses 2 "mpi.eager_limit" "the eager limit of the packet model" "$t/p.cfg" "mpi.eager_limit=1 kB"
refuses 2 "jobs\[0\].first_node" "a place on nodes" "$t/p.cfg" jobs[0].first_node=1
refuses 2 "node.send_overhead" "the packet model's overheads" "$t/p.cfg" "node.send_overhead=1 us"
refuses 2 "output.series.links" "a series of links" "$t/p.cfg" output.series.links=periods "output.period=1 us"
refuses 2 'matrix_levels.*\["task"\]' "a matrix of nodes" "$t/p.cfg" output.matrix=true 'output.matrix_levels=["node"]'
[ "$number" -gt 0 ]
