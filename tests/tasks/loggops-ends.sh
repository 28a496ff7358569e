#!/bin/bash
# mpi.overheads = "loggops" with parameters of their own for messages by rendezvous (loggops.rendezvous.*): which messages they are for, what
# each of them costs, the same on any number of ranks and after --resume, and what is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/p.cfg" <<'CFG'
topology: { kind = "star"; nodes = 12; bandwidth = "10 GB/s"; latency = "500 ns"; };
mpi: { overheads = "loggops"; };
loggops: { o = "1 us"; g = "0 ns"; G = "0 ns"; O = "0 ns"; S = "1 kB"; };
partition: { bind = "no"; oversubscribe = true; adapt = false; };
jobs: ( { program = "pingpong"; bytes = "2 kB"; } );
CFG
sed 's/{ program = "pingpong".*/{ program = "stencil"; extents = [3, 2, 2]; steps = 4; bytes = "1500 B"; compute_time = "10 us"; allreduce_every = 2; } );/' "$t/p.cfg" >"$t/s.cfg"
finish() { # of task 0, which receives the last message of a ping-pong
    "$marssim" -q -o "$t/o" "$@" >"$t/err" 2>&1 && awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "finish_ps") at = i } $2 == "0" { print $at }' "$t/o/tasks.csv"
}
is() { verdict "$([ "$1" = "$2" ] || echo "$1, not $2")" "$3"; }
base=$(finish "$t/p.cfg")
verdict "$([ "${base:-0}" -gt 0 ] || echo "no run")" "a ping-pong by rendezvous"
# Ten times to and fro: 20 messages one after the other, each pays at both ends.
is "$(finish "$t/p.cfg" "loggops.rendezvous.o=1300 ns")" $((base + 20 * 2 * 300000)) "o: 300 ns more at both ends of twenty messages"
is "$(finish "$t/p.cfg" "loggops.rendezvous.O=0.5 ns")" $((base + 20 * 1999 * 500)) "O: 1,999 bytes at their receivers"
is "$(finish "$t/p.cfg" "loggops.rendezvous.G=0.5 ns" "loggops.rendezvous.O=0.5 ns")" $((base + 20 * 1999 * 500)) "O and G: the larger one"
is "$(finish "$t/p.cfg" "loggops.rendezvous.o=1 us" "loggops.rendezvous.g=0 ns" "loggops.rendezvous.G=0 ns" "loggops.rendezvous.O=0 ns")" "$base" "all as those of short messages: nothing changes"
is "$(finish "$t/p.cfg" loggops.S="1 kB" "loggops.o=7 us" "loggops.rendezvous.o=1 us")" "$base" "those of short messages are not for long ones"
eager=$(finish "$t/p.cfg" loggops.S="2 kB")
is "$(finish "$t/p.cfg" loggops.S="2 kB" "loggops.rendezvous.o=9 us" "loggops.rendezvous.O=3 ns" "loggops.rendezvous.g=5 us")" "$eager" "those of long messages are not for short ones"
none=$(finish "$t/p.cfg" "loggops.o=0 ns" "loggops.rendezvous.o=1 us")
is "$none" "$base" "o of long messages alone"

all_alike "a halo exchange with all of them" "$t/s.cfg" "loggops.rendezvous.o=2300 ns" "loggops.rendezvous.g=1500 ns" "loggops.rendezvous.G=0.3 ns" \
    "loggops.rendezvous.O=0.7 ns" "loggops.g=200 ns"
"$marssim" -q -o "$t/o" "$t/s.cfg" "loggops.g=200 ns" >"$t/err" 2>&1
! cmp -s "$t/o/tasks.csv" "$t/one/tasks.csv"
check "a halo exchange with collectives takes another time"

refuses() { # WORDS NAME ARGUMENTS
    refused "$1" -o "$t/r" "${@:3}"
    check "refused: $2"
}
refuses "loggops.rendezvous.G.*no time per byte" "a rate of nothing" "$t/p.cfg" loggops.rendezvous.G=fast
refuses "loggops.rendezvous.o.*means nothing" "without LogGOPS' overheads" "$t/p.cfg" mpi.overheads=node loggops.rendezvous.o="1 us"
refuses "loggops.rendezvous.O" "a negative rate" "$t/p.cfg" "loggops.rendezvous.O=-1 ns"
[ "$number" -gt 0 ]
