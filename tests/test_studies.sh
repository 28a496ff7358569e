#!/bin/bash
# The runner of studies (tools/run-study) on a study of its own, then every shipped study's QUICK points.
MARSSIM=${MARSSIM:-./marssim}
export MARSSIM
command -v jq >/dev/null && command -v gnuplot >/dev/null || { echo "SKIP: jq or gnuplot is missing (tools/install-deps.sh studies)"; exit 0; }
scratch=$(mktemp -d /tmp/marssim-studies-XXXXXX) || exit 1
trap 'rm -rf "$scratch"' EXIT
export STUDY_RESULTS=$scratch/results
log=$scratch/log

check() { # NAME COMMAND...: ok when the command succeeds
    local name=$1
    shift
    if "$@"; then
        echo "ok $name"
    else
        echo "not ok $name"
        sed 's/^/    /' "$log"
    fi
}
study() { STUDIES=$scratch/studies tools/run-study "$@" >"$log" 2>&1; }
rows() { [ "$(wc -l <"$1")" -eq "$2" ]; }
whole() { # POINTS...: exactly these are there
    [ "$(ls "$out/points" | xargs)" = "$*" ] && [ ! -e "$out/part" ]
}

# A star of 4 nodes; the third point names a key that does not exist, until it is mended.
folder=$scratch/studies/own out=$scratch/results/own
mkdir -p "$folder"
cat >"$folder/star.cfg" <<'END'
topology: { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "10 ns"; };
traffic: { pattern = "uniform"; load = 0.5; };
run: { end = "10 us"; };
END
cat >"$folder/points" <<'END'
echo "one star.cfg traffic.load=0.1 @kind=low"
echo "two star.cfg traffic.load=0.2"
echo "three star.cfg traffic.lod=0.3"
END
echo '.[] | {point, load: .set["traffic.load"], kind: .tag.kind, accepted: (.result.accepted_load | digits(3)), use: .links.node.utilisation}' \
    >"$folder/columns.jq"
echo 'plot csv skip 1 using 2:4 with points' >"$folder/plot.gp"

study own
check "a failed point makes the study fail" [ $? -eq 1 ]
check "it is named, with the program's message" grep -q 'traffic.lod.*traffic.load' "$log"
check "the others have run" whole one two
check "and stand in the table" rows "$out/results.csv" 3
check "heading, tags and overrides" [ "$(sed -n '1p;2s/,[^,]*,[^,]*$//p' "$out/results.csv" | xargs)" = "point,load,kind,accepted,use one,0.1,low" ]

sed -i 's/lod/load/' "$folder/points"
touch -d '1 hour ago' "$out"/points/*/point.json
study own
check "mended it succeeds" [ $? -eq 0 ]
check "finished points are not run again" [ "$(find "$out/points" -name point.json -mmin -30 | xargs -n1 dirname | xargs -n1 basename | xargs)" = three ]
check "figures" test -s "$out/own.svg" -a -s "$out/own.png"

sed -i 's/0.2/0.25/' "$folder/points"
study own
check "a point with other overrides is run again, alone" grep -q '3 points, 2 of them done before' "$log"
sed -i 's/10 us/20 us/' "$folder/star.cfg"
study own
check "another configuration: all of them" grep -q '3 points, 0 of them done before' "$log"

# Killed in the midst of a point that would take for ever: the finished one stays, no half one does.
echo 'echo "four star.cfg run.end=1000s"' >>"$folder/points"
STUDY_JOBS=1 STUDIES=$scratch/studies setsid tools/run-study own >"$log" 2>&1 &
victim=$!
for _ in $(seq 50); do
    [ -e "$out/part/four.log" ] && break
    sleep 0.1
done
sleep 0.3
kill -KILL -- -$victim
wait $victim 2>/dev/null
check "killed: whole points only" [ "$(ls "$out/points" | xargs)" = "one three two" ]
sed -i '$d' "$folder/points"
study own
check "and it goes on from there" grep -q '3 points, 3 of them done before' "$log"
check "what was under way is swept" whole one three two

echo 'echo "one star.cfg"' >>"$folder/points"
study own
check "two points of a name are refused" grep -q "line 4 of what it prints: 'one star.cfg'" "$log"
study none
check "a study that is not there: the list" grep -q 'there are: own' "$log"

for points in studies/*/points; do
    name=$(basename "$(dirname "$points")")
    QUICK=1 tools/run-study "$name" >"$log" 2>&1
    check "studies/$name" [ $? -eq 0 ]
    check "studies/$name: shipped with table, figures and an answer" test -s "studies/$name/results.csv" -a -s "studies/$name/$name.svg" \
        -a -s "studies/$name/$name.png" -a -s "studies/$name/README.md"
done
