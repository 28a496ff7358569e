#!/bin/bash
# When checkpoints are written, and how many stay: by simulated and by real time, on SIGUSR2, when a run is
# interrupted. A signal to any rank, whenever it comes, changes no result.
set -u
command -v jq >/dev/null || { echo "SKIP: jq is missing (tools/install-deps.sh check)"; exit 0; }
m=$(realpath "${MARSSIM:-./marssim}")
cd "$(dirname "$0")/../.." || exit 2
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
failed=0
check() { # NAME: of what the last command found
    if [ $? -eq 0 ]; then echo "ok $1"; else echo "not ok $1"; failed=1; fi
}
equal() { # FOLDER FOLDER
    local f
    for f in links periods packet_latency message_size; do cmp "$1/$f.csv" "$2/$f.csv" || return 1; done
    cmp <(jq -S .result "$1/summary.json") <(jq -S .result "$2/summary.json")
}
saved() { ls "$1/checkpoints" 2>/dev/null | wc -l; }
torus=(configs/torus-uniform.cfg topology.extents=4,4,4 "run.warmup=500 ns" "output.period=10 us" traffic.load=0.3
    partition.bind=no partition.oversubscribe=true)
# Some tenths of a second of real time.
long=("${torus[@]}" "run.end=400 us")
# As a process in the background, whose ranks write their numbers into $t/pid.N before they begin.
launch() { # RANKS WORDS...
    local ranks=$1
    shift
    rm -f "$t"/pid.*
    if [ "$ranks" -eq 1 ]; then
        "$m" -q "$@" 2>"$t/said" &
        echo $! >"$t/pid.0"
    else
        # shellcheck disable=SC2016 # the ranks expand it
        mpirun -n "$ranks" sh -c 'echo $$ >"$0/pid.$OMPI_COMM_WORLD_RANK"; exec "$@"' "$t" "$m" -q "$@" 2>"$t/said" &
    fi
    launched=$!
}
caught() { # PID: its SigCgt, in which SIGUSR2 is 0x800; nothing when it is gone
    awk '$1 == "SigCgt:" { print "0x" $2 }' "/proc/$1/status" 2>/dev/null
}
signal() { # NAME RANK SECONDS: behind the beginning of the program, which is soon after that of its process
    local i pid='' set=''
    for ((i = 0; i < 12000; i++)); do
        pid=$(cat "$t/pid.$2" 2>/dev/null)
        set=$([ -n "$pid" ] && caught "$pid")
        [ -n "$pid" ] && { [ -z "$set" ] || ((set & 0x800)); } && break
        sleep 0.01
    done
    sleep "$3"
    kill -"$1" "$pid" 2>/dev/null
    return 0
}
begun() { # FOLDER: rows are written
    local i
    for ((i = 0; i < 6000; i++)); do
        [ "$(wc -l 2>/dev/null <"$1/periods.csv" || echo 0)" -gt 2 ] && return
        sleep 0.02
    done
}

"$m" -q -o "$t/a" "${long[@]}" || exit 1
"$m" -q -o "$t/b" "${long[@]}" "run.checkpoint.period=50 us" run.checkpoint.keep=3 && equal "$t/a" "$t/b" &&
    [ "$(ls "$t/b/checkpoints")" = "$(printf 'checkpoint-%019d\n' 300000000 350000000 400000000)" ]
check "of those at a period the newest three are kept"
"$m" -q -o "$t/c" "${long[@]}" "run.checkpoint.at=[\"7 us\", \"1 ns\"]" "run.checkpoint.dir=$t/elsewhere" &&
    equal "$t/a" "$t/c" && [ "$(ls "$t/elsewhere")" = "$(printf 'checkpoint-%019d\n' 1000 7000000)" ]
check "at given times, in another folder"
"$m" -q --resume "$t/elsewhere/checkpoint-0000000000000001000" -o "$t/d" && equal "$t/a" "$t/d"
check "the older one can be taken, too"
"$m" -q -o "$t/d" "${long[@]}" "run.checkpoint.wall=20 ms" run.checkpoint.keep=100 && equal "$t/a" "$t/d" &&
    [ "$(saved "$t/d")" -ge 2 ]
check "by real time"

launch 1 -o "$t/e" "${long[@]}"
begun "$t/e"
signal USR2 0 0
wait "$launched" && equal "$t/a" "$t/e" && [ "$(saved "$t/e")" -eq 1 ] && "$m" -q --resume "$t/e" -o "$t/f" && equal "$t/a" "$t/f"
check "SIGUSR2 asks for one, without any key"
launch 2 -o "$t/e2" "${long[@]}"
begun "$t/e2"
signal USR2 1 0
wait "$launched" && equal "$t/a" "$t/e2" && [ "$(saved "$t/e2")" -eq 1 ]
check "of any rank"

launch 1 -o "$t/g" "${long[@]}" "run.checkpoint.period=1 s"
begun "$t/g"
signal TERM 0 0
wait "$launched"
[ $? -eq 143 ] && [ "$(jq -r .result.end_reason "$t/g/summary.json")" = interrupted ] && [ "$(saved "$t/g")" -eq 1 ] &&
    "$m" -q --resume "$t/g" && equal "$t/a" "$t/g"
check "a run that is interrupted leaves one, and continues"
launch 2 -o "$t/h" "${long[@]}" run.checkpoint.interrupted=true
begun "$t/h"
signal INT 1 0
wait "$launched"
[ $? -eq 130 ] && [ "$(saved "$t/h")" -eq 1 ] && "$m" -q --resume "$t/h" -o "$t/i" && equal "$t/a" "$t/i"
check "on two ranks, too, asked by one key"
flock -x "$t/elsewhere/.lock" "$m" -q -o "$t/d" "${long[@]}" "run.checkpoint.dir=$t/elsewhere" 2>"$t/said"
[ $? -eq 2 ] && grep -q "another run writes to $t/elsewhere now: .*run.checkpoint.dir" "$t/said"
check "two runs at a time do not write their checkpoints into one folder"
launch 1 -o "$t/g2" "${long[@]}"
begun "$t/g2"
signal TERM 0 0
wait "$launched"
[ $? -eq 143 ] && [ "$(saved "$t/g2")" -eq 0 ]
check "but not where no key asks for checkpoints"

# At any moment: before MPI is there, before the first event, in between, while results are written, afterwards.
short=("${torus[@]}" "run.end=100 us")
"$m" -q -o "$t/j" "${short[@]}" || exit 1
good=0 moments=${SIGNAL_MOMENTS:-9}
for ((i = 0; i < moments; i++)); do
    ranks=$((i % 4 == 3 ? 2 : 1)) seconds=$(awk -v i="$i" -v n="$moments" 'BEGIN { print 0.3 * i / n }')
    rm -rf "$t/k" "$t/l"
    launch $ranks -o "$t/k" "${short[@]}"
    signal USR2 $((i % ranks)) "$seconds"
    wait "$launched" && equal "$t/j" "$t/k" || continue
    [ "$(saved "$t/k")" -eq 0 ] || { "$m" -q --resume "$t/k" -o "$t/l" && equal "$t/j" "$t/l"; } || continue
    good=$((good + 1))
done
[ "$good" -eq "$moments" ]
check "SIGUSR2 at any moment ends nothing"
exit $failed
