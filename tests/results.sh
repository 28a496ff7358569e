#!/bin/bash
# The result folder as a user meets it: tests/results.sh
#
# Files of an earlier run are removed, whatever it wrote; files of others are not touched; summary.json says what was run.
set -u
cd "$(dirname "$0")/.." || exit 2
marssim=${MARSSIM:-$PWD/marssim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
number=0

check() { # NAME: the last command is to have succeeded
    local status=$?
    number=$((number + 1))
    if [ $status -eq 0 ]; then echo "ok $number $1"; else echo "not ok $number $1"; head -5 err; fi
}

cat >most.cfg <<'END'
topology: { kind = "star"; nodes = 4; bandwidth = "1 GB/s"; latency = "10 ns"; };
jobs = ( { program = "pingpong"; steps = 3; } );
output: { matrix = true; period = "100 ns"; };
END
cat >least.cfg <<'END'
topology: { kind = "star"; nodes = 4; bandwidth = "1 GB/s"; latency = "10 ns"; };
traffic: { pattern = "uniform"; load = 0.1; messages = 3; };
output: { links = false; histograms = false; };
END
run() { # FOLDER WORD...
    timeout 120 "$marssim" -q -o "$@" >out 2>err </dev/null
}

run both most.cfg
check "a run that writes all it can"
[ "$(ls both | wc -l)" -ge 8 ] && [ -s both/periods.csv ] && [ -s both/tasks.csv ] && [ -s both/matrix.csv ]
check "it has"
mkdir both/checkpoints both/sub && echo mine >both/notes.txt && echo mine >both/links.csv.bak && echo mine >both/sub/tasks.csv
echo half >both/summary.json.tmp
run both least.cfg && run alone least.cfg
check "two runs that write little, one of them into the same folder"
(cd both && ls -I checkpoints -I sub -I notes.txt -I links.csv.bak) >both.ls && (cd alone && ls) >alone.ls && cmp both.ls alone.ls
check "nothing of the first run is left"
[ -d both/checkpoints ] && [ "$(cat both/notes.txt both/links.csv.bak both/sub/tasks.csv | tr '\n' ' ')" = "mine mine mine " ]
check "what is not ours has not been touched"

run both most.cfg
cp both/system.cfg before.cfg
run both both/system.cfg && cmp both/system.cfg before.cfg
check "a run's own system.cfg can be run again into the same folder"

mkdir special && mkfifo special/periods.csv
timeout 120 "$marssim" -q -o special most.cfg >out 2>err </dev/null
[ $? -eq 2 ] && grep -q 'special/periods.csv: it is there and no regular file' err
check "a FIFO in place of a result file is refused"

run said most.cfg 'jobs[0].steps=5' 'run.seed=77'
cat >expected <<'END'
    "configuration": "most.cfg",
    "overrides": [
      "jobs[0].steps=5",
      "run.seed=77"
    ],
    "seed": 77,
    "version": 
END
sed -n '/"input": {/,/^  }/p' said/summary.json | sed -e '1d;$d' -e 's/"version": "[0-9.]*"/"version": /' >said.txt
cmp said.txt expected && grep -q "\"version\": \"$("$marssim" --version | sed 's/marssim //')\"" said/summary.json
check "summary.json says configuration, overrides, seed and version"
