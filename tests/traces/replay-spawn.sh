#!/bin/bash
# Programs whose tasks spawn others, or connect, traced and replayed: tests/traces/replay-spawn.sh
#
# tests/tools/tracer/spawn.c. Spawned tasks are tasks of the job, behind the first ones; they begin when they are spawned.
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=9
. tests/lib-replay.sh

traced() { # ARGUMENTS...: of the program
    rm -rf t && timeout 120 mpirun -n 4 "$marstrace" --profile -o t ./spawn "$@" >err 2>&1
}
mpicc -O1 -Wall -Werror -o spawn "$top/tests/tools/tracer/spawn.c" >err 2>&1 && traced && [ -e t/task-000005.mars ] && [ ! -e t/task-000006.mars ]
check "a program that spawns two tasks is traced, and they with it"
everywhere "spawned tasks"
# Messages to each of the other group; what makes the two communicators is an exchange of 8 bytes among all 6 tasks, an Allreduce follows and
# two barriers: 2 x 3 + (2 or 3) + 3 and 2 or 1. The broadcast goes to both tasks of the other group.
[ "$(column messages_sent)" = "16 16 14 16 16 16 " ] && [ "$(column messages_received)" = "14 16 14 16 17 17 " ]
check "as many messages as the program sent"
profile_of t >profile.csv 2>err && diff <(cut -d, -f1-5 one/calls.csv | sort) <(sort profile.csv) >err &&
    diff <(cut -d, -f1-4 profile.csv | sort) <(cat t/profile.csv t/profile-000004.csv | cut -d, -f1-4 | sort -u) >err
check "the calls are those of the profiles of both worlds"

# The spawned tasks wait for those who spawn them, but that is none of their time: they compute nothing before.
"$marssim" -q -o early replay.cfg 'jobs[0].processor_factor=0.0' >err 2>&1 && "$marssim" -q -o late replay.cfg 'jobs[0].processor_factor=1000.0' >err 2>&1 &&
    awk -F, 'FNR > 1 && $2 == "MPI_Init" && ($6 != 0 || $7 != 0) { bad++ } END { exit bad > 0 }' early/calls.csv late/calls.csv
check "MPI_Init of a spawned task takes no time, however late it is"

traced twice && [ -e t/task-000008.mars ] && [ ! -e t/task-000009.mars ]
check "spawned tasks that spawn, and MPI_Comm_spawn_multiple"
everywhere "four worlds"
"$marstrace" --merge t -o t.mars >err 2>&1 && "$marssim" -q -o merged replay.cfg 'jobs[0].trace="t.mars"' >err 2>&1 && same merged >err 2>&1
check "from one file: the same"
"$(dirname "$marssim")/marsconv" --check t >out 2>err && grep -q 'nothing found' out
check "marsconv --check finds nothing"

refuses() { # WHAT WORDS FILE...: t without these files
    rm -rf less && cp -r t less && (cd less && rm "${@:3}")
    refused "$2" -o refused replay.cfg 'jobs[0].trace="less"'
    check "refused: $1"
}
refuses "all spawned tasks are missing" 'task 0, call [0-9]* (MPI_Comm_spawn): a call with tasks that are not in the trace' task-00000{4,5,6,7,8}.mars
timeout 60 "$marssim" -q -o compute replay.cfg 'jobs[0].trace="less"' 'jobs[0].unknown="compute"' >err 2>&1 &&
    jq -e '.result.end_reason == "jobs done"' compute/summary.json >/dev/null &&
    awk -F, '$2 == "MPI_Comm_spawn" { n++; bad += $6 != $5 || $7 != 0 } END { exit !(n == 4 && !bad) }' compute/calls.csv
check "or what reaches them is computation of its traced time"
refuses "the last one is missing" 'task 5, call [0-9]* (MPI_Comm_spawn): a call with tasks that are not in the trace\|task 7, call [0-9]* (MPI_Comm_spawn)' task-000008.mars
refuses "one of a world is missing" 'task 5 is missing' task-000005.mars
refuses "the second half of a world is missing" 'MPI_COMM_WORLD of task 6 has not the 7 tasks' task-00000{7,8}.mars
mkdir mixed && cp t/task-00000{0,1,2,3,4,5}.mars mixed && cp t/task-000003.mars mixed/task-000006.mars
timeout 60 "$marssim" -q -o refused replay.cfg 'jobs[0].trace="mixed"' >out 2>err
[ $? -eq 2 ] && grep -q 'mixed.*task 3\|mixed.*task 6' err
check "refused: the file of a task under another name"

traced connect
check "halves of a world that connect by a port are traced"
everywhere "connected halves"

# ---- worlds that connect ----

mpicc -O1 -Wall -Werror -o worlds "$top/tests/tools/tracer/worlds.c" >err 2>&1 && rm -rf t && timeout 120 mpirun -n 2 "$marstrace" --profile -o t ./worlds >err 2>&1 &&
    [ -e t/task-000007.mars ] && [ ! -e t/task-000008.mars ]
check "spawned worlds that connect to each other are traced"
everywhere "spawned worlds that connect"
"$(dirname "$marssim")/marsconv" --check t >out 2>err && grep -q 'nothing found' out
check "marsconv --check finds nothing in them"
# Who accepts hears from both worlds, and from each of their tasks; 8 bytes of what makes a communicator, an Allreduce.
[ "$(column messages_received | wc -w)" -eq 8 ] && "$marstrace" --list t | awk '/MPI_Comm_(accept|connect)/ { n++ } END { exit n != 2 * 2 + 1 + 3 }'
check "each task of them has its calls"

if command -v ompi-server >/dev/null; then
    rm -rf t port.txt
    command timeout 60 ompi-server --no-daemonize -r uri >server.log 2>&1 &
    server=$!
    for ((i = 0; i < 100; i++)); do [ -s uri ] && break; sleep 0.1; done
    command timeout 60 mpirun --ompi-server file:uri -n 2 "$marstrace" -o t ./worlds accept port.txt >accepts.log 2>&1 &
    accepts=$!
    for ((i = 0; i < 200; i++)); do [ -s port.txt ] && break; sleep 0.1; done
    timeout 60 mpirun --ompi-server file:uri -n 3 "$marstrace" --first 2 -o t ./worlds connect port.txt >err 2>&1 && wait $accepts && [ -e t/task-000004.mars ]
    check "programs that are started apart and connect are traced into one folder"
    kill $server 2>/dev/null
    everywhere "programs that were started apart"
    refuses "of two worlds that connect one is missing" 'task 0, call [0-9]* (MPI_Comm_accept): a call with tasks that are not in the trace' task-00000{2,3,4}.mars
fi
"$marstrace" --first none ./worlds >out 2>err
[ $? -eq 2 ] && grep -q -- '--first none: expected the number of a task' err
check "refused: a number that is none"

# ---- Fortran ----

for module in mpi_f08 mpi; do
    rm -rf t
    # shellcheck disable=SC2046 # one word or none
    mpif90 -cpp $([ $module = mpi ] && echo -DPLAIN) -ffree-line-length-none -o fspawn "$top/tests/tools/tracer/spawn.f90" >err 2>&1 &&
        timeout 120 mpirun -n 4 "$marstrace" --profile -o t ./fspawn >err 2>&1 && [ -e t/task-000007.mars ] && [ ! -e t/task-000008.mars ]
    check "a Fortran program ($module) that spawns four tasks and connects is traced, and they with it"
    "$(dirname "$marssim")/marsconv" --check t >out 2>err && grep -q 'nothing found' out && "$marssim" -q -o one replay.cfg >err 2>&1 &&
        jq -e '.result.end_reason == "jobs done" and .result.jobs[0].unreceived == 0' one/summary.json >err 2>&1
    check "and replayed ($module)"
done
