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
echo '.[] | {point, load: .set["traffic.load"], kind: (.tag.kind // ""), accepted: (.result.accepted_load | digits(3)), use: .links.node.utilisation}' \
    >"$folder/columns.jq"
echo 'plot csv skip 1 using 2:4 with points' >"$folder/plot.gp"

study own
check "a failed point makes the study fail" [ $? -eq 1 ]
check "it is named, with the program's message" grep -q 'traffic.lod.*traffic.load' "$log"
check "the others have run" whole one two
check "and are in the table" rows "$out/results.csv" 3
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

# Nothing measured is not zero: neither in the table nor in the figure, and the others are.
cp -r "$folder" "$scratch/studies/none" && sed -i '$s/.*/echo "three star.cfg traffic.load=0.3 run.measure=1ps"/' "$scratch/studies/none/points"
echo '.[] | {point, load: .set["traffic.load"], latency_ns: (.result.packet_latency_ps.mean / 1000 | digits(3)), hops: .result.hops.mean}' >"$scratch/studies/none/columns.jq"
study none
check "a point at which nothing was measured has an empty cell" [ "$? $(sed -n '4p' "$scratch/results/none/results.csv" | cut -d, -f1-3)" = "0 three,0.3," ]

# Variants: each point in each, two jobs, a value scaled, one of a list scaled, one point left out.
mkdir -p "$scratch/studies/vary"
cat >"$scratch/studies/vary/ring.cfg" <<'END'
topology: { kind = "torus"; extents = [4]; };
jobs: ( { program = "stencil"; extents = [2]; bytes = "64 KiB"; steps = 5; },
        { program = "stencil"; extents = [2]; bytes = "64 KiB"; steps = 5; first_node = 2; } );
END
cat >"$scratch/studies/vary/points" <<'END'
for kind in slow:10 quick:20; do
    echo "${kind%:*} ring.cfg @kind=${kind%:*} topology.bandwidth=${kind#*:}GB/s topology.latency=20ns topology.node_bandwidth=10GB/s topology.node_latency=5ns"
done
echo "other ring.cfg @variants=no @kind=other topology.bandwidth=1GB/s topology.latency=20ns"
END
echo "tools/study-protocol topology.latency topology.bandwidth 'topology.node_bandwidth[0]'" >"$scratch/studies/vary/variants"
echo '{group: "all", contender: .tag.kind, value: .result.jobs[1].finish_ps}' >"$scratch/studies/vary/compared.jq"
echo '.[] | {kind: .tag.kind, finish: .result.jobs[0].finish_ps}' >"$scratch/studies/vary/columns.jq"
echo 'plot csv skip 1 using 0:2 with points' >"$scratch/studies/vary/plot.gp"
vary=$scratch/results/vary
SEEDS=2 study vary
check "a study with variants" [ $? -eq 0 ]
check "two points in 13 variants, one in none" grep -q '^study vary: 29 points' "$log"
check "the table has the points alone" rows "$vary/results.csv" 4
check "bandwidths times four, those of nodes too" grep -q '"topology.bandwidth":"40GB/s".*"topology.node_bandwidth":"40GB/s"' \
    <(jq -c .set "$vary/points/slow--bandwidth_x4-1/point.json")
check "a latency 20 % longer" grep -q '"topology.latency":"24ns"' <(jq -c .set "$vary/points/slow--latency_x1.2-2/point.json")
check "jitter for both jobs" grep -q '"jobs\[\*\].compute_jitter":"1us"' \
    <(jq -c .set "$vary/points/quick--eager_1us-1/point.json")
check "what is compared: quick against slow" grep -q '^all,quick,slow,' "$vary/robustness.csv"
check "conditions, range and claim" [ "$(head -1 "$vary/robustness.csv")" = "$(echo group contender against as_it_is rendezvous_0.1us rendezvous_1us \
    eager eager_0.1us eager_1us latency_x1.2 bandwidth_x4 least most seed_spread claim eager_differs | tr ' ' ,)" ]
SEEDS=2 study vary
check "variants are not run again" grep -q '29 points, 29 of them done before' "$log"
sed -i 's/ topology.latency=20ns topology.node/ topology.node/' "$scratch/studies/vary/points"
study vary
check "a factor needs a value" grep -q 'changes topology.latency, of which the point says nothing' "$log"

# A file that the configuration names: another content, another point.
printf '0\n1\n2\n3\n' >"$folder/places"
cat >"$folder/job.cfg" <<'END'
topology: { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "10 ns"; };
jobs = ( { program = "stencil"; extents = [4]; placement = "file"; placement_file = "places"; } );
END
cp "$folder/points" "$folder/points.before"
echo 'echo "job job.cfg"' >>"$folder/points"
study own
check "a point with a placement file" grep -q '4 points, 3 of them done before' "$log"
study own
check "is done once" grep -q '4 points, 4 of them done before' "$log"
printf '3\n1\n2\n0\n' >"$folder/places"
study own
check "and again when the file has changed" grep -q '4 points, 3 of them done before' "$log"
mv "$folder/points.before" "$folder/points"
rm -rf "$out/points/job"

# A column that is not in the results.
cp "$folder/columns.jq" "$scratch/columns.jq"
sed -i 's/accepted_load/acepted_load/' "$folder/columns.jq"
study own
check "a column that does not exist is an error" [ $? -eq 1 ]
check "which is named" grep -q 'columns.jq: row 1: column "accepted" is not in the results' "$log"
check "and there is no table" [ ! -e "$out/results.csv" ]
echo '.[] | if .point == "two" then {point} else {point, load: 1} end' >"$folder/columns.jq"
study own
check "rows with other columns are an error" grep -q 'row 2 has the columns point, the first has load, point\|row 2 has the columns point, the first has point, load' "$log"
cp "$scratch/columns.jq" "$folder/columns.jq"

# Killed in the midst of a point that would take for ever: the finished one stays, no half one does.
echo 'echo "four star.cfg run.end=1000s"' >>"$folder/points"
STUDY_JOBS=1 STUDIES=$scratch/studies setsid tools/run-study own >"$log" 2>&1 &
victim=$!
for _ in $(seq 1000); do
    [ -e "$out/part/four.log" ] && break
    sleep 0.1
done
sleep 0.3
kill -KILL -- -$victim
wait $victim 2>/dev/null
check "killed: whole points only" [ "$(ls "$out/points" | xargs)" = "one three two" ]
sed -i '$d' "$folder/points"
study own
check "and it continues from there" grep -q '3 points, 3 of them done before' "$log"
check "what was in flight is swept" whole one three two

cp "$folder/columns.jq" "$scratch/columns.jq"
echo '.[] | {point, load: .no.such.thing()}' >"$folder/columns.jq"
study own
check "a table that cannot be made makes the study fail" [ $? -eq 1 ]
cp "$scratch/columns.jq" "$folder/columns.jq"
echo 'echo "one star.cfg"' >>"$folder/points"
study own
check "two points of a name are refused" grep -q "line 4 of what it prints: 'one star.cfg'" "$log"
study nowhere
check "a study that is not there: the list" grep -q 'there are: none own' "$log"

for readme in studies/*/README.md; do
    name=$(basename "$(dirname "$readme")")
    # the larger ones by LONG=1 only
    if [ -n "${LONG:-}" ] || [[ " gups noise progress tapering " == *" $name "* ]]; then
        QUICK=1 tools/run-study "$name" >"$log" 2>&1
        check "studies/$name" [ $? -eq 0 ]
    fi
    check "studies/$name: shipped with table, figures and an answer" test -s "studies/$name/results.csv" -a -s "studies/$name/$name.svg" \
        -a -s "studies/$name/$name.png" -a -s "studies/$name/README.md"
done
