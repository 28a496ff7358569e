#!/bin/bash
# marsbench: tests/tools/marsbench.sh
#
# Points made by hand from known parameters give these back; what the points do not say is said; bad files are refused with the line.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
shown=err
bench=$(dirname "$marssim")/marsbench
cd "$work" || exit 2

fits() { # ARGUMENTS...: out and err of a fit
    "$bench" --fit "$@" >out 2>err </dev/null
}
refuses() { # WORDS ARGUMENTS...
    ends 2 "$1" "$bench" --fit "${@:2}"
}

# All-reduces and all-gathers of 8 and 16 nodes: a step of n bytes takes 2 o(n) + L + n / B. L = 0.5 us, B = 10 GB/s, combining 8 GB/s, copying
# 20 GB/s; o is 1 us at 0, 2 us at 4096 and 3 us at 64 KiB and behind. Doubling: log2 p steps of n and as many combinations; ring: p - 1 steps of
# n / p. The vector of an all-reduce is copied before; of an all-gather the own block.
awk 'function o(n) { return n < 4096 ? 1 + n / 4096 : n < 65536 ? 2 + (n - 4096) / 61440 : 3 }
    function step(n) { return 2 * o(n) + 0.5 + n / 10000 }
    BEGIN { print "collective,algorithm,nodes,bytes,min_us"
        for (lg = 3; lg <= 4; lg++) for (n = 16; n < 2 ^ 25; n *= 8) { p = 2 ^ lg
            printf "allreduce,recursive_doubling_ompi,%d,%d,%.6f\n", p, n, lg * (step(n) + n / 8000) + n / 20000
            printf "allgather,ring,%d,%d,%.6f\n", p, n, (p - 1) * step(n / p) + n / p / 20000 } }' >known.csv
given="--eager 1GiB --latency 0.5us --knots 4KiB,64KiB"
fits $given known.csv -m known.inc
check "points without errors are fitted"
awk '/mean error/ { found = 1; exit $3 > 0.01 } END { exit !found }' out
check "and met"
value() { # NAME: of a parameter, in us or GB/s
    awk -v name="$1" 'index($0, "  " name " ") == 1 { $0 = substr($0, length(name) + 4); print $1 * ($2 == "ns" ? 0.001 : 1) }' out
}
near() { # NAME VALUE
    awk -v is="$(value "$1")" -v right="$2" 'BEGIN { exit !(is > right * 0.998 && is < right * 1.002) }' || echo "$1: $(value "$1"), not $2"
}
{ near "send or receive at 0 B" 1; near "send or receive at 4 KiB" 2; near "send or receive at 64 KiB" 3; near rate 10
    near "reduce rate" 8; near "copy rate" 20; } >err
[ ! -s err ]
check "with the parameters that they were made from"
grep -q '"1000.0 ns", "2000.0 ns:4096 B", "3000.0 ns:65536 B", "3000.0 ns:65537 B"' known.inc && grep -q 'copies = "collectives"' known.inc
check "which are in the machine file"

# It is read by marssim as it is.
cat >run.cfg <<'END'
topology = { kind = "star"; nodes = 4; bandwidth = "12.5 GB/s"; latency = "50 ns"; };
@include "known.inc"
jobs = ( { program = "pingpong"; bytes = "4 KiB"; steps = 10; } );
END
"$marssim" -q -o run run.cfg 2>err
check "marssim reads the machine file"
# Each of 20 messages has 4 us of overheads.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "finish_ps") c = i } NR == 2 { exit !($c > 80e6 && $c < 100e6) }' run/tasks.csv
check "and its overheads are paid"

# Rates by size: messages from 256 KiB on have 5 GB/s; or vectors from 256 KiB on are combined at 4 GB/s. No stream is faster than what is given.
slower() { # of messages, or of combining
    awk -F, -v of="$1" 'BEGIN { OFS = "," } NR > 1 { doubles = $2 != "ring"; steps = doubles ? int(log($3) / log(2) + 0.5) : $3 - 1; m = doubles ? $4 : $4 / $3
        if (of == "messages" && m >= 262144) $5 += steps * m / 10000; if (of == "combining" && doubles && m >= 262144) $5 += steps * m / 8000 } { print }' known.csv
}
slower messages >sized.csv
fits $given --rate 10GB/s --rate-knots 256KiB --key node.cores=4 --key "mpi.rendezvous=read" sized.csv -m sized.inc
{ near "rate from 256 KiB" 5; near "reduce rate" 8; } >err
[ ! -s err ]
check "rates of messages by size"
grep -q 'injection_rate = \["10.00 GB/s", "5.00 GB/s:262144 B"\];' sized.inc && grep -q 'cores = 4;' sized.inc && grep -q 'rendezvous = "read";' sized.inc &&
    sed 's/known.inc/sized.inc/' run.cfg >sized.cfg && "$marssim" --check sized.cfg >out2 2>err
check "are in the machine file, with the keys that were given"
slower combining >sized.csv
fits $given --reduce-knots 256KiB sized.csv -m sized.inc
{ near "reduce rate" 8; near "reduce rate from 256 KiB" 4; grep -q 'reduce_rate = \["8.00 GB/s", "4.00 GB/s:262144 B"\];' sized.inc || cat sized.inc; } >err
[ ! -s err ]
check "rates of combining by size"
fits $given --rate 9GB/s --rate-knots 64KiB known.csv -m sized.inc && grep -q "as fast as its bound.*rate from 64 KiB" err
check "a rate that reaches that of the network is reported"

# One point in twenty is ten times as slow: the rest counts.
awk -F, 'NR % 20 == 7 { $5 *= 10 } { OFS = ","; print $1, $2, $3, $4, $5 }' known.csv >wild.csv
fits $given wild.csv -m wild.inc
{ near "send or receive at 4 KiB" 2; near rate 10; near "reduce rate" 8; } >err
[ ! -s err ]
check "wild points do not spoil the others"

# Nothing is combined or copied faster than the bound; small messages say nothing of a rate.
awk -F, 'NR == 1 || $4 <= 128' known.csv >small.csv
fits --eager 1GiB --latency 0.5us --knots 128 small.csv -m small.inc
grep -q "not determined" err
check "rates are not found in small messages, and that is said"
! grep -q 'reduce_rate = "[0-9]\{12,\}' small.inc
check "no rate beyond its bound is written"
fits --eager 1GiB known.csv -m known.inc && grep -q "overheads have the network's latency" err
check "without the latency it is in the overheads, and that is said"

# OSU's output: latency of 1 us + n / 10 GB/s at each size.
{ echo "# OSU MPI Latency Test v7.2"; echo "# Size          Latency (us)"; for n in 1 8 64 512 4096 32768 262144 2097152; do
    awk -v n=$n 'BEGIN { printf "%-10d %.4f\n", n, 1 + n / 10000 }'; done; } >osu.txt
fits --eager 1GiB --latency 0.4us --knots 4KiB osu.txt -m osu.inc
{ near "send or receive at 0 B" 0.3; near rate 10; } >err
[ ! -s err ]
check "what OSU prints is fitted"
{ echo "# OSU MPI Allreduce Latency Test v5.8"; echo "# Size  Avg Latency(us)"; awk -F, '/doubling/ && $3 == 8 { print $4, $5 }' known.csv; } >osu2.txt
refuses "osu2.txt@nodes=N" osu2.txt -m x.inc
check "of a collective it must be said on how many nodes"
fits --eager 1GiB --latency 0.5us --knots 4KiB osu2.txt@nodes=8,algorithm=recursive_doubling osu.txt -m osu.inc
check "which is behind the file's name"

{ echo quantity,where,bytes,min_us; printf "%s_overhead,core,8,0.1\n" send receive; for n in 8 64 512 4096 32768 262144; do awk -v n=$n 'BEGIN { printf "pingpong,core,%d,%.4f\n", n, 0.5 + n / 8000 }'; done; } >inside.csv
fits inside.csv -m inside.inc && sed -n 's/.*memory_overhead = \["\([0-9.]* ns\)", .*/\1/p' inside.inc >first && [ "$(cat first)" != "1000.0 ns" ] && ! grep -q '":8 B' inside.inc
check "as many points as parameters are enough; a message of 0 bytes costs what the smallest measured one does"
refuses "expected KEY=VALUE" --key node.cores known.csv -m x.inc
check "a key without a value"

# In a network with headers and packets the simulator takes longer than the closed form: fitting again makes up for it.
cat >net.cfg <<'END'
topology = { kind = "star"; nodes = 16; bandwidth = "10 GB/s"; latency = "225 ns"; };
adapter = { header = "512 B"; };
END
simulated() { # its mean error
    sed -n 's/^mean error.*; simulated \([0-9.]*\) %.*/\1/p' out
}
fits --eager 1GiB --knots 4KiB,64KiB,1MiB --system net.cfg --rounds 0 known.csv -m sim.inc && before=$(simulated) &&
    fits --eager 1GiB --knots 4KiB,64KiB,1MiB --system net.cfg --rounds 2 known.csv -m sim.inc && after=$(simulated)
check "points are simulated, and fitted again"
awk -v before="$before" -v after="$after" 'BEGIN { print before, after; exit !(after < 0.7 * before && after < 5) }' >err
check "which brings the simulation nearer to them: $before and $after %"
awk -F, 'BEGIN { OFS = "," } { print $0, NR == 1 ? "key" : "\"topology.latency=100 us\"" }' known.csv >keyed.csv
fits --eager 1GiB --knots 4KiB,64KiB --system net.cfg --rounds 0 keyed.csv -m sim.inc && [ "$(simulated | cut -d. -f1)" -gt 100 ]
check "a row's key is one of its simulation"
sed 's/topology.latency=100 us/topology.lateness=1/' keyed.csv >late.csv
refuses "the check failed.*topology.lateness" --system net.cfg late.csv -m x.inc
check "one that marssim does not know"

# What is refused.
head -4 known.csv >few.csv
refuses "3 points for . parameters" $given few.csv -m x.inc
check "fewer points than parameters"
cut -d, -f1-4 known.csv >short.csv
refuses "short.csv:1: there is no column min_us" short.csv -m x.inc
check "a column that is missing"
sed '3s/,[^,]*$/,-3/' known.csv >minus.csv
refuses "minus.csv:3: min_us: -3: expected a number" minus.csv -m x.inc
check "a time below 0, with the line"
sed '3s/,[^,]*$/,0/' known.csv >zero.csv
refuses "zero.csv:3: min_us: a time greater than 0" zero.csv -m x.inc
check "a time of 0"
sed '5s/$/,7/' known.csv >cells.csv
refuses "cells.csv:5: 6 cells" cells.csv -m x.inc
check "a row with too many cells"
refuses "there is no column machine" --select machine=mine known.csv -m x.inc
check "selecting by a column that is not there"
refuses "select may have left none" --select algorithm=none known.csv -m x.inc
check "selecting nothing"
sed 's/recursive_doubling_ompi/swing/; s/ring/swing/' known.csv >swing.csv
refuses "none of the .* has an algorithm" swing.csv -m x.inc
check "algorithms that nobody knows"
refuses "sizes of knots ascend" --knots 64KiB,4KiB known.csv -m x.inc
check "knots that do not ascend"
refuses "expected a rate greater than 0" --rate "0 GB/s" known.csv -m x.inc
check "a rate of 0"
: >empty.csv
refuses "there is nothing in it" empty.csv -m x.inc
check "an empty file"
refuses "No such file" none.csv -m x.inc
check "a file that is not there"
refuses "cannot be written" $given known.csv -m none/x.inc
check "a machine file that cannot be written"
