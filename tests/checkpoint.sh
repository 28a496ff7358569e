#!/bin/bash
# A run that is saved on two ranks and goes on on one and on three ends as the run without interruption does;
# what cannot be resumed is refused with a message.
set -u
m=$(realpath "${MARSSIM:-./marssim}")
cd "$(dirname "$0")/.." || exit 2
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
failed=0
run() { "$m" -q "$@" partition.bind=no; }
torus=(configs/torus-uniform.cfg topology.extents=4,4,4 "run.warmup=500 ns" "run.end=3 us" "output.period=250 ns"
    "output.matrix=true")

check() { # NAME: of what the last command found
    if [ $? -eq 0 ]; then echo "ok $1"; else echo "not ok $1"; failed=1; fi
}
equal() { # FOLDER FOLDER
    local f
    for f in links periods packet_latency message_size matrix; do cmp "$1/$f.csv" "$2/$f.csv" || return 1; done
    cmp <(jq -S .result "$1/summary.json") <(jq -S .result "$2/summary.json")
}
refused() { # WORDS COMMAND...: exit status 2, and these words in the message
    local words=$1 said
    shift
    said=$(run "$@" 2>&1)
    [ $? -eq 2 ] && grep -q -- "$words" <<<"$said" || { echo "$said"; return 1; }
}

run -o "$t/a" "${torus[@]}" || exit 1
mpirun -n 2 "$m" -q -o "$t/b" "${torus[@]}" "run.checkpoint.at=1300 ns" partition.bind=no
equal "$t/a" "$t/b"
check "saving changes no result"
run --resume "$t/b/checkpoints" -o "$t/c" && equal "$t/a" "$t/c"
check "from two ranks to one"
mpirun -n 3 "$m" -q --resume "$t/b" -o "$t/d" partition.oversubscribe=true partition.method=random partition.bind=no &&
    equal "$t/a" "$t/d"
check "from two ranks to three"

c=$(echo "$t"/b/checkpoints/checkpoint-*)
refused "is fixed once a run has begun" --resume "$c" -o "$t/e" run.seed=7
check "a key that was baked in is refused by name"
refused "leave the file out" --resume "$c" -o "$t/e" configs/torus-uniform.cfg
check "a configuration beside the checkpoint is refused"
refused "holds no checkpoint" --resume "$t/a" -o "$t/e"
check "a folder without checkpoints is refused"
mv "$c/part-1" "$t/part"
refused "part-1" --resume "$c" -o "$t/e"
check "a missing part is refused"
head -c 3000 "$t/part" >"$c/part-1"
refused "cut short" --resume "$c" -o "$t/e"
check "a part that was cut short is refused"
{ head -c 3000 "$t/part"; printf x; tail -c +3002 "$t/part"; } >"$c/part-1"
refused "checksum" --resume "$c" -o "$t/e"
check "a damaged part is refused"
cp "$c/part-0" "$c/part-1"
refused "part-1" --resume "$c" -o "$t/e"
check "a part that stands twice is refused"
mv "$t/part" "$c/part-1"
mv "$c" "$c.tmp"
refused "holds no checkpoint" --resume "$t/b" -o "$t/e"
check "a checkpoint that was not finished is not taken"
[ ! -e "$t/e" ]
check "what is refused writes nothing"
exit $failed
