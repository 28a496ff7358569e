#!/bin/bash
# Jobs as a user meets them: tests/tasks/jobs.sh
#
# Background jobs, deadlocks beside jobs and traffic that continue for ever, and very many jobs; on 1, 2, 3 and 5 ranks, cells in all orders.
# Each system is run in all ways, and all must end alike: exit status, message, and `result` in summary.json.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
cd "$work" || exit 2
seconds=300

go() { # RANKS WORD...: status in $status, standard error in err, results in results
    local ranks=$1
    shift
    rm -rf results out err
    touch out err
    if [ "$ranks" -eq 1 ]; then
        timeout -k 5 $seconds "$marssim" -q -o results "$@" >out 2>err </dev/null
    else
        bounded_mpirun $seconds -n "$ranks" sh -c 'exec "$0" "$@" >>out 2>>err' "$marssim" -q -o results "$@" \
            partition.oversubscribe=true
    fi
    status=$?
    sed -i '/^\[[^]]*\] /d; /^marssim: warning: [0-9]* ranks /d' err
}

result() { # prints what must be equal: the status, the message, `result`
    echo "status $status"
    cat err
    sed -n '/^  "result"/,/^  }/p' results/summary.json 2>/dev/null
}

# Every way of running must give the status, and a message and a result that contain the words.
same() { # NAME STATUS CONFIG WORD...
    local name=$1 wanted=$2 config=$3 ranks order word why=""
    shift 3
    while read -r ranks order; do
        go "$ranks" "$config" "engine.cell_order=$order"
        result >this
        [ "$ranks $order" = "1 forward" ] && cp this first
        [ "$status" -eq "$wanted" ] || why="$ranks ranks, $order: exit status $status"
        cmp -s this first || why="$ranks ranks, $order: another result"
    done <<<$'1 forward\n1 backward\n1 shuffled\n2 forward\n3 backward\n5 shuffled'
    for word in "$@"; do grep -qF -- "$word" first || why="no $word"; done
    verdict "$why" "$name"
}

header="# htor's PMPI Tracer 1.0 Output File"
mkdir dead # both send first, more than the eager limit
for t in 0 1; do
    { echo "$header"; echo "MPI_Init:-:1:2:100"
      echo "MPI_Send:200:1:65536:1,1,1:$((1 - t)):5:7000000,$t,2:300"
      echo "MPI_Recv:400:1:65536:1,1,1:$((1 - t)):5:7000000,$t,2:9:500"; echo "MPI_Finalize:9000:-"; } >dead/pmpi-trace-rank-$t.txt
done
torus='topology: { kind = "torus"; extents = [4, 4]; bandwidth = "1 GB/s"; latency = "10 ns"; };'
dead='{ name = "dead"; program = "trace"; trace = "dead"; placement = "strided"; stride = 5; }'
halo='name = "halo"; program = "stencil"; extents = [3, 2]; bytes = "64 B"; first_node = 8; nodes = 7; placement = "random"'
short='{ name = "short"; program = "pingpong"; bytes = "64 B"; steps = 10; first_node = 2; nodes = 2; }'
config() { # FILE TEXT...
    { echo "$torus"; printf '%s\n' "${@:2}"; } >"$1"
}

# ---- a deadlock is found, whatever others do ----

table='dead               1       5  MPI_Send                  3  100 us     send to task 0, tag 5, 65536 bytes'
config a.cfg "jobs = ( $dead, { $halo; background = true; restart = true; } );"
same 'a deadlock beside a background job that starts again' 1 a.cfg '1 job has deadlocked' "$table" '"end_reason": "deadlock"'
config b.cfg "jobs = ( $dead ); traffic: { pattern = \"uniform\"; load = 0.1; };"
same 'a deadlock beside endless traffic' 1 b.cfg '1 job has deadlocked' "$table"
config c.cfg "jobs = ( { $halo; steps = 100000000; }, $dead, { name = \"b\"; program = \"pingpong\"; first_node = 6; background = true; } );"
same 'a deadlock beside a long foreground job' 1 c.cfg '1 job has deadlocked' "$table"
config d.cfg "jobs = ( { $halo; steps = 10; }, $dead );"
same 'a deadlock that is left when all else has drained' 1 d.cfg '2 tasks wait' "$table"

# ---- switched off, and added ----

# What is left is the run of a file without it, in every table.
more='node: { cores = 2; }; output: { period = "1 us"; waits = true; series: { jobs = "periods"; communicators = "periods"; }; };'
pong='program = "pingpong"; steps = 5; first_node = 4;' noisy="{ $halo; compute_jitter = \"1 us\"; }"
config off.cfg "jobs = ( { enabled = false; ${dead#*\{}, { $pong }, $noisy );" "$more"
same 'a job that is switched off' 0 off.cfg '"job1"' '"halo"' '"jobs done"'
go 1 off.cfg && mv results off
config without.cfg "jobs = ( { name = \"job1\"; $pong }, $noisy );" "$more"
same 'is as one that is not there' 0 without.cfg
tables() { (cd "$1" && ls -- *.csv && cat -- *.csv && jq -S .result summary.json); }
go 1 without.cfg && cmp <(tables off) <(tables results) >err
check 'in every table'
config on.cfg "jobs = ( $dead, { $pong }, $noisy );" "$more"
go 1 on.cfg 'jobs[dead].enabled=false' && cmp <(tables off) <(tables results) >err
check 'from the command line, too'
config one.cfg "jobs = ( { name = \"job1\"; $pong } );" "$more"
go 1 one.cfg 'jobs[halo].program=stencil' 'jobs[halo].extents=3,2' 'jobs[halo].bytes=64 B' 'jobs[halo].first_node=8' 'jobs[halo].nodes=7' 'jobs[halo].placement=random' \
    'jobs[*].steps=5' 'jobs[halo].steps=10' 'jobs[halo].compute_jitter=1us' && cmp <(tables off) <(tables results) >err
check 'and one that is added by its name'
go 1 on.cfg 'jobs[*].enabled=false' 'traffic.pattern=uniform' 'traffic.load=0.1' 'run.end=5us' && jq -e '.result | .jobs == [] and .packets_delivered > 0' results/summary.json >out
check 'traffic alone'
refuse() { # NAME WORDS KEY=VALUE...
    ends 2 "$2" "$marssim" -q -o results on.cfg "${@:3}"
    check "$1"
}
refuse 'names of jobs there are' 'jobs\[ded\]: there is none of this name; there are: dead, job1, halo; a further one begins with jobs\[ded\].program=VALUE' 'jobs[ded].enabled=false'
refuse 'a run without any' 'nobody sends anything' 'jobs[*].enabled=false'

# ---- nobody waits for the background ----

config e.cfg "jobs = ( $short, { $halo; background = true; steps = 100000000; } );"
same 'a long background job is cut off' 0 e.cfg '"jobs done"'
config f.cfg "jobs = ( { $halo; steps = 100; }, { name = \"dead\"; background = true; program = \"trace\"; trace = \"dead\"; } ); run: { end = \"1 ms\"; };" \
    'mpi: { eager_limit = "1 KiB"; };'
sed -i 's/steps = 100;/steps = 100; compute_time = "5 us";/' f.cfg
same 'a background job that has deadlocked is a warning' 0 f.cfg 'warning: background job dead has deadlocked: 2 of its tasks' '"jobs done"'
config g.cfg "jobs = ( { $halo; background = true; steps = 100000000; } );"
same 'background jobs only are refused' 2 g.cfg 'all jobs are in the background' 'give run.end'
echo 'run: { end = "20 us"; };' >>g.cfg
same 'but run.end makes them a run' 0 g.cfg '"end time"'
config h.cfg "jobs = ( { $halo; background = true; restart = true; } ); run: { measure = \"10 us\"; }; traffic: { pattern = \"uniform\"; load = 0.1; };"
same 'traffic that is measured does not end a background job' 2 h.cfg 'run.drain = false'
sed -i 's/measure = "10 us";/measure = "10 us"; drain = false;/' h.cfg
same 'unless it ends with the measured span' 0 h.cfg '"end time"'

# ---- messages that faults took ----

# Task 1 sits on a node that is cut off; its small message is lost, task 0 waits for it, traffic continues.
mkdir cut
{ echo "$header"; echo "MPI_Init:-:1:2:100"; echo "MPI_Recv:200:1:8:1,1,1:1:5:7000000,0,2:9:300"; echo "MPI_Finalize:9000:-"; } >cut/pmpi-trace-rank-0.txt
{ echo "$header"; echo "MPI_Init:-:1:2:100"; echo "MPI_Send:200:1:8:1,1,1:0:5:7000000,1,2:300"; echo "MPI_Finalize:9000:-"; } >cut/pmpi-trace-rank-1.txt
config i.cfg 'jobs = ( { name = "cut"; program = "trace"; trace = "cut"; } ); traffic: { pattern = "uniform"; load = 0.1; first_node = 4; };' \
    'faults: { list = ( { node = 1; } ); unreachable = "drop"; };'
same 'a message that a fault took is not waited for' 1 i.cfg '1 job has deadlocked' 'receive from task 1, tag 5, 8 bytes'

# ---- very many jobs ----

{ echo 'topology: { kind = "torus"; extents = [20, 20, 70]; bandwidth = "1 GB/s"; latency = "100 ns"; }; node: { cores = 5; };'
  echo 'output: { links = false; };'
  echo 'jobs = ('
  awk 'BEGIN { for (i = 0; i < 66000; i++)
      printf "{ program = \"pingpong\"; bytes = \"8 B\"; steps = 1; first_node = %d; }%s\n", 2 * (i % 13500), i < 65999 ? "," : "" }'
  echo ');'; } >many.cfg
go 1 many.cfg
cp results/tasks.csv tasks.csv
verdict "$([ $status -eq 0 ] && [ "$(grep -c ',' tasks.csv)" -eq 132001 ] || echo "exit status $status")" "66,000 jobs"
[ -n "${LONG:-}" ] || exit 0
go 2 many.cfg
verdict "$(cmp results/tasks.csv tasks.csv 2>&1)" "66,000 jobs on 2 ranks"
