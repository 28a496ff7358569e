#!/bin/bash
# Collectives between two groups that do not block, traced and replayed: tests/traces/replay-between.sh
#
# tests/tools/tracer/inter.c, under Open MPI (MPICH 4.0's MPI_Ibcast between groups ends the program). Persistent ones: tests/tasks/test_between.c.
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=5
. tests/lib-replay.sh

mpicc -O1 -Wall -Werror -o inter "$top/tests/tools/tracer/inter.c" >err 2>&1 && mpirun -n 5 "$marstrace" --profile -o t ./inter nonblocking >err 2>&1
check "a program is traced"
everywhere "one after the other"
# Groups {0, 1} and {2, 3, 4}. Two communicators are made by exchanges of 8 bytes among all: 6 messages and 64 bytes of each task. Task 1
# sends, as the root, 3 x (5,000 + 80) and 100 + 200 + 300 bytes in 9 messages; to a root 6,000 + 70 + 200; of the calls without a root 0,
# 9,000, 3 x 300, 3 x 10, 3 x 40 twice, 3 x 100 and twice 6,000 in 19 messages. Task 0, a leader, to a root 6,000 + 70 + 100; 4 messages
# of 0 and 4 of 9,000 bytes; 3 x 300, 3 x 10, 3 x 20 twice, 3 x 50; twice 6,000 and the 3,000 of task 1.
[[ "$(column messages_sent)" = "36 37 "* ]] && [[ "$(column bytes_sent)" = "61434 44644 "* ]]
check "as many messages and bytes as by hand"
cp one/tasks.csv alone.csv
profile_of t >profile.csv 2>err && diff <(cut -d, -f1-5 one/calls.csv | sort) <(sort profile.csv) >err
check "calls.csv has the calls and bytes of the profile"
mpirun -n 5 "$marstrace" -o t ./inter overlap >err 2>&1
check "a program with all of them at once is traced"
everywhere "all at once"
everywhere "mpi.progress = calls" 'mpi.progress="calls"' 'mpi.eager_limit="100 B"'
everywhere "mpi.progress = thread" 'mpi.progress="thread"' 'mpi.progress_cost="200 ns"' 'mpi.eager_limit="100 B"'
[ "$(cut -d, -f2,9-12 one/tasks.csv)" = "$(cut -d, -f2,9-12 alone.csv)" ]
check "all at once they send the same messages"
