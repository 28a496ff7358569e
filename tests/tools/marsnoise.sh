#!/bin/bash
# marsnoise: tests/tools/marsnoise.sh
#
# A recording is a file that marssim reads, and what it says adds up; a program that wants the same core is seen; what cannot be is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v taskset >/dev/null || { echo "SKIP: taskset is missing"; exit 0; }
. tests/lib-script.sh
shown=log
noise=$(dirname "$marssim")/marsnoise
cd "$work" || exit 2
core=$("$noise" -s 0.001 -o try.txt | awk 'NR == 2 { print $1 }')

# core, seconds, detours, per second, % of time, mean, median, longest
"$noise" -s 0.3 -c "$core" -o quiet.txt >quiet 2>log
check "a core is recorded"
# The last line is the end; what is printed is what is in the file.
awk 'FNR == NR { if (FNR == 2) { count = $3; share = $5; longest = $8 } next }
    /^#/ { next }
    $1 < end - 0.001 { print FNR ": goes back"; exit 1 }
    { end = $1 + $2; sum += $2; rows++; most = $2 > most ? $2 : most }
    END { if (rows - 1 != count || (sum / end * 100 - share) ^ 2 > 1e-6 || (most / 1000 - longest) ^ 2 > 1e-5 || end < 0.29e9 || end > 3e9)
        { print rows, count, sum / end * 100, share, most / 1000, longest, end; exit 1 } }' quiet quiet.txt >log
check "its file ascends, and has the share, the number and the longest that are printed"

# A loop that wants the core all the time gets about half of it, or what is left on a busy machine.
taskset -c "$core" sh -c 'while :; do :; done' & busy=$!
"$noise" -s 1 -c "$core" -o busy.txt >busy 2>log
kill $busy
awk 'NR == 2 { exit !($5 > 20) }' busy || { cat busy >log; false; }
check "a program on the same core is seen"

"$noise" -s 0.05 -t 1e9 -c "$core" -o none.txt >none 2>log
[ "$(grep -v -c '^#' none.txt)" -eq 1 ] && awk 'NR == 2 { exit $3 != 0 }' none
check "nothing takes longer than a second here"
"$noise" -s 5 -t 1 -m 3 -c "$core" -o full.txt >full 2>log
[ "$(grep -v -c '^#' full.txt)" -eq 4 ] && grep -q "3 detours were recorded before the time was over" log
check "a recording ends when there is no more room, and says so"
"$noise" -s 0.05 -a -o all.txt >all 2>log
rows=$(($(wc -l <all) - 1))
if [ "$rows" -eq 1 ]; then [ -s all.txt ]; else [ "$(ls all.txt.* | wc -l)" -eq "$rows" ]; fi
check "all cores, a file each"

refuses() { # WORDS OPTIONS...
    ends 2 "$1" "$noise" -s 0.01 "${@:2}"
    check "refused: ${*:2}"
}
refuses "there is none of this number" -c 99999
refuses "named twice" -c "$core" -c "$core"
refuses "expected seconds, 0.001 to 86400" -s 0
refuses "expected seconds" -s 1x
refuses "expected nanoseconds" -t nan
refuses "no arguments but options" noise.txt
refuses "/nowhere/noise.txt: No such file" -o /nowhere/noise.txt
