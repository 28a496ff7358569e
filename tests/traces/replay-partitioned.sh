#!/bin/bash
# Partitioned messages, traced under MPICH (Open MPI 4.1 has none) and replayed: tests/traces/replay-partitioned.sh
#
# tests/tools/tracer/partitioned.c. Whoever has no MPICH reads the same of hand-written traces in tests/traces/test_replay.c and tests/tasks/test_mpi_partitioned.c.
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=3
. tests/lib-replay.sh
command -v mpicc.mpich >/dev/null && [ -e "${marstrace%/*}/libmarstrace-mpich.so" ] || {
    echo "SKIP: marssim was built without MPICH (mpich, libmpich-dev)"
    exit 0
}

mpicc.mpich -O1 -Wall -Werror -o partitioned "$top/tests/tools/tracer/partitioned.c" >err 2>&1 && ./partitioned >err 2>&1 &&
    mpirun.mpich -n 3 "$marstrace" -o t ./partitioned 4 >err 2>&1
check "a program with partitioned messages is traced"
everywhere "partitioned"
# In each of 4 passes 12 + 3 + 2 messages of 48,000 + 0 + 320,000 bytes.
[ "$(column messages_sent)" = "68 68 68 " ] && [ "$(column messages_received)" = "68 68 68 " ] &&
    [ "$(column bytes_sent)" = "1472000 1472000 1472000 " ]
check "each partition of the sender is a message"
everywhere "as whole messages" 'mpi.partitioned="whole"'
[ "$(column messages_sent)" = "12 12 12 " ] && [ "$(column bytes_received)" = "1472000 1472000 1472000 " ]
check "one message of each send"
everywhere "mpi.progress = calls" 'mpi.progress="calls"' 'node.send_overhead="300 ns"' 'node.receive_overhead="200 ns"' 'mpi.match_time="10 ns"'
everywhere "mpi.progress = thread" 'mpi.progress="thread"' 'mpi.progress_cost="100 ns"' 'mpi.rendezvous="write"'
profile_of t >profile.csv 2>err && diff <(cut -d, -f1-5 one/calls.csv | sort) <(sort profile.csv) >err
check "calls.csv has the calls and bytes of the profile"
