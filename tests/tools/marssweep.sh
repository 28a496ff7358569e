#!/bin/bash
# marssweep: tests/tools/marssweep.sh
#
# What it runs is what marssim runs alone, to the bit; interrupted and killed it continues, and has the table that an uninterrupted sweep has; means,
# intervals, the load of saturation and slowdowns are computed again by hand; what cannot be is refused in words, and nothing is lost.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
sweep=$(dirname "$marssim")/marssweep
[ -x "$sweep" ] || { echo "SKIP: built without SQLite"; exit 0; }
shown=log
cd "$work" || exit 2
cp "$top/configs/dragonfly.cfg" .
short="dragonfly.cfg run.warmup=2us run.end=6us"
swept="routing.algorithm=minimal,par traffic.load=0.1:0.3:0.1"
bad() { # STATUS WORDS ARGUMENTS...
    ends "$1" "$2" "$sweep" "${@:3}" && return
    cp err log
    return 1
}
result() { jq -S .result "$1/summary.json"; }
words_of() { jq -r '.words | to_entries[] | "\(.key)=\(.value)"' "$1/point.json"; }

# ---- what is run ----

# shellcheck disable=SC2086 # lists of words
"$sweep" -q -o one $short $swept --seeds 2 >out 2>log
check "a sweep of 2 x 3 points with 2 seeds"
[ "$(find one/runs -name summary.json | wc -l)" = 12 ] && [ "$(wc -l <one/table.csv)" = 7 ] && [ "$(wc -l <one/runs.csv)" = 13 ]
check "has 12 runs, a table of 6 rows, and all runs in a table"
for folder in one/runs/*; do
    mapfile -t words < <(words_of "$folder")
    "$marssim" -q -o single dragonfly.cfg "${words[@]}" >log 2>&1 && cmp single/links.csv "$folder/links.csv" >>log 2>&1 &&
        diff <(result single) <(result "$folder") >>log || { echo "${words[*]}" >>log; break; }
    rm -rf single
done
[ ! -e single ]
check "each run is what marssim does, to the bit"
# Mean of two values, and half of the interval: t(0.975, 1) = 12.7062, times |a - b| / 2.
awk -F, 'NR == FNR { if (FNR > 1) { sum[$2 "," $3] += $6; d[$2 "," $3] = $6 - d[$2 "," $3] }; next }
    FNR == 1 { if ($6 != "packet_latency_ps.mean") exit 1; next }
    { k = $1 "," $2; m = sum[k] / 2; h = 12.7062047 * (d[k] < 0 ? -d[k] : d[k]) / 2; rows++
      if (($6 - m) ^ 2 > 1e-12 * m * m || ($7 - h) ^ 2 > 1e-10 * h * h) { print k, $6, m, $7, h; exit 1 } }
    END { exit rows != 6 }' one/runs.csv one/table.csv >log
check "means and intervals of the table are those of its runs"
grep -q '<svg' one/figure.svg || ! command -v gnuplot >/dev/null
check "there is a figure"
cat >own.cfg <<'CFG'
@include "dragonfly.cfg"
sweep = { points = ["run.warmup=2us", "run.end=6us", "routing.algorithm=minimal,par", "traffic.load=0.1:0.3:0.1"]; seeds = 2; columns = "hops.mean"; };
CFG
"$sweep" -q -o two own.cfg --columns accepted_load,packet_latency_ps.mean,packet_latency_ps.p99 >out 2>log && cmp one/table.csv two/table.csv >>log
check "a configuration says itself what is swept, and the command line chooses the columns"
"$sweep" -q -o two own.cfg >out 2>log && head -n 1 two/table.csv | grep -q 'runs,hops.mean,hops.mean.halfwidth,saturated'
check "it chooses the columns, too"
# shellcheck disable=SC2086
"$sweep" -q -o zip $short --zip routing.algorithm=minimal,par traffic.load=0.1,0.2 >out 2>log && [ "$(cut -d, -f 1,2 zip/table.csv | tail -n +2 | xargs)" = "minimal,0.1 par,0.2" ]
check "--zip"
printf '# points\ntraffic.load=0.1\n\nrouting.algorithm=minimal traffic.load=0.2 # another\n' >points
# shellcheck disable=SC2086
"$sweep" -q -o file $short --points points >out 2>log && [ "$(cut -d, -f 1,2 file/table.csv | tail -n +2 | xargs)" = "0.1,- 0.2,minimal" ] ||
    [ "$(cut -d, -f 1,2 file/table.csv | tail -n +2 | xargs)" = "0.1, 0.2,minimal" ]
check "--points"

# Two designs by name; ratios to the first are those of its runs, by seed.
# shellcheck disable=SC2086
"$sweep" -q -o designs $short '@size=small{topology.groups=5},large{topology.groups=9 traffic.size=512B}' traffic.load=0.1,0.2 --seeds 2 --against @size=small --columns hops.mean >out 2>log &&
    [ "$(head -n 1 designs/table.csv)" = "@size,traffic.load,runs,hops.mean,hops.mean.halfwidth,hops.mean.relative,hops.mean.relative.halfwidth,saturated" ] &&
    [ "$(jq -s '[.[] | select(.words["@size"] == "large" and .words["topology.groups"] == "9" and .words["traffic.size"] == "512B")] | length' designs/runs/*/point.json)" = 4 ]
check "designs have names in the table, and their keys in the runs"
awk -F, 'NR == FNR { if (FNR > 1) hops[$2 "," $3 "," $4] = $5; next }
    FNR > 1 { want = 0; for (s = 1; s <= 2; s++) want += hops[$1 "," $2 "," s] / hops["small," $2 "," s] / 2; rows++; if ((want - $6) ^ 2 > 1e-20) { print want, $6; exit 1 } }
    END { exit rows != 4 }' designs/runs.csv designs/table.csv >log
check "--against: the mean of the ratios of runs with the same seed"

# ---- the page ----

# shellcheck disable=SC2086
"$sweep" -q -o one $short $swept --seeds 2 --pages >out 2>log && [ "$(find one/runs -name report.html | wc -l)" = 12 ] && [ -s one/page.html ]
check "there is a page, and --pages makes those of its runs"
# shellcheck disable=SC2086
"$sweep" -q -o lone $short '@name=<img src=x onerror=alert(1)>{traffic.load=0.1}' >out 2>log && ! grep -q 'onerror=alert(1)>{' lone/page.html && ! grep -q '<img src' lone/page.html
check "a name with HTML in it stays a text"
ends 2 'is the folder of a sweep, whose page marssweep has written: one/page.html' "$(dirname "$sweep")/marsreport" one
check "marsreport says where the page is"
# shellcheck disable=SC2046 # a list of folders
"$(dirname "$sweep")/marsreport" -o four.html $(find one/runs -mindepth 1 -maxdepth 1 | sort | head -n 4) >out 2>log
check "and compares four of its runs"
in_browser marssweep_page.js {one,designs,lone}/page.html four.html

# ---- sweeps inside sweeps, tables of one's own ----

cat >nest.cfg <<'CFG'
@include "dragonfly.cfg"
sweep = {
    points = ["@part=low{traffic.load=0.1,0.2 @route},high{traffic.load=0.3 @route=minimal{routing.algorithm=minimal run.seed=1:3}}"];
    quick = ["@part=low", "@route=minimal{routing.algorithm=minimal}", "traffic.load=0.1"];
    designs = ["@route=minimal{routing.algorithm=minimal}, par{routing.algorithm=par run.seed=1:2}"];
    sql = "nest.sql";
    plot = "nest.gp";
};
CFG
cat >nest.sql <<'SQL'
CREATE VIEW results AS SELECT "@part" AS part, "@route" AS route, "traffic.load" AS load, count(*) AS runs, avg("hops.mean") / 3 AS "hops, a third" FROM points GROUP BY 1, 2, 3;
CREATE VIEW second AS SELECT load FROM results WHERE part = 'high';
SQL
echo 'plot "results.csv" skip 1 using 3:5 with points' >nest.gp
"$sweep" -q -o nest nest.cfg run.warmup=2us run.end=6us >out 2>log && cut -d, -f 1-4 nest/results.csv >got &&
    printf '%s\n' part,route,load,runs high,minimal,0.3,3 low,minimal,0.1,1 low,minimal,0.2,1 low,par,0.1,2 low,par,0.2,2 | diff - got >>log && grep -q '<svg' nest/figure.svg &&
    [ "$(head -n 1 nest/results.csv)" = 'part,route,load,runs,"hops, a third"' ] && [ "$(xargs <nest/second.csv)" = "load 0.3" ]
check "designs are sweeps of their own, sweep.designs names them, and views are tables"
cat >factor.cfg <<'CFG'
topology = { kind = "torus"; extents = [4, 2]; bandwidth = "10 GB/s"; latency = ["10 ns", "20 ns"]; };
traffic = { pattern = "uniform"; load = 0.1; };
run = { end = "2 us"; };
sweep = { points = ["@more=delay{switch.delay*=2}, last{topology.latency[-1]*=1.5}, all{topology.latency*=2 traffic.load*=0.5 topology.bandwidth*=4}"]; };
CFG
"$sweep" -q -o factor factor.cfg >out 2>log &&
    [ "$(jq -r '.words | [.["@more"], .["switch.delay"], .["topology.latency"], .["traffic.load"], .["topology.bandwidth"]] | join(" ")' factor/runs/*/point.json | sort | xargs)" = \
        "all 20000ps,40000ps 0.05 40000000000B/s delay 100000ps last 10000ps,30000ps" ]
check "KEY*=FACTOR multiplies what the configuration has"
"$sweep" -q -o nest --quick nest.cfg run.warmup=2us run.end=6us >out 2>log && [ "$(cut -d, -f 1-4 nest/results.csv | xargs)" = "part,route,load,runs low,minimal,0.1,1" ]
check "--quick: a few points, and views see those alone"
"$sweep" -q -o nest nest.cfg '@route=valiant{routing.algorithm=valiant}' run.warmup=2us run.end=6us >out 2>log && grep -q low,valiant,0.2,1 nest/results.csv
check "the command line changes sweep.designs, too"
bad 2 'results: no such column: hops.men' -q -o nest --quick nest.cfg run.warmup=2us run.end=6us sweep.sql=<(sed 's/hops.mean/hops.men/' nest.sql) ||
    { sed 's/hops.mean/hops.men/' nest.sql >wrong.sql; bad 2 'results: no such column: hops.men' -q -o nest --quick nest.cfg run.warmup=2us run.end=6us sweep.sql=wrong.sql; }
check "refused: a view of a figure that does not exist"
for wrong in 'switch.dely*=2: switch.dely: is no key of numbers' 'topology.kind*=2: topology.kind: is no key of numbers' 'topology.bandwidth[7]*=2: topology.bandwidth: has no such value' \
    'switch.delay*=x: switch.delay: expected a FACTOR' 'topology.node_bandwidth*=2: topology.node_bandwidth: has no value' '@here: sweep.designs has no such values' '@self: @self is inside itself'; do
    bad 2 "$wrong" -q -o eleven dragonfly.cfg "@a=b{${wrong%%: *}}" 'sweep.designs="@self=x{@self}"' || break
done
check "refused: factors and designs that mean nothing"

# ---- interrupted, killed, shared, collected ----

# shellcheck disable=SC2086
stopped() { # SIGNAL DIR: a sweep that gets it as soon as it has results
    "$sweep" -q -j 1 -o "$2" $short $swept --seeds 2 >>log 2>&1 &
    local pid=$! i
    for ((i = 0; i < 1000; i++)); do
        [ -n "$(ls "$2/runs" 2>/dev/null)" ] && break
        sleep 0.01
    done
    kill -"$1" $pid
    wait $pid 2>/dev/null
}
: >log
stopped INT three
[ $? -eq 130 ] && grep -q 'interrupted: .* of 12 points are done; the same command continues' log
check "SIGINT: it says how far it is"
stopped KILL three
# shellcheck disable=SC2086
"$sweep" -o three $short $swept --seeds 2 >out 2>log && cmp one/table.csv three/table.csv >>log && head -n 1 out | grep -q '12 points, [1-9]'
check "interrupted, killed and continued it has the same table, and runs no point twice"
rm three/sweep.sqlite
# shellcheck disable=SC2086
"$sweep" -o three $short $swept --seeds 2 --collect >out 2>log && cmp one/table.csv three/table.csv && head -n 1 out | grep -q '12 points, 12'
check "--collect makes the database of the folders"
# shellcheck disable=SC2086
"$sweep" -q -o four $short $swept --seeds 2 --share 0/2 >log 2>&1 && bad 1 '6 of 12 points have no results yet' -q -o four $short $swept --seeds 2 --collect &&
    "$sweep" -q -o four $short $swept --seeds 2 --share 1/2 >log 2>&1 && "$sweep" -q -o four $short $swept --seeds 2 --collect >out 2>log && cmp one/table.csv four/table.csv
check "two shares make a whole, and --collect says what is missing"
# shellcheck disable=SC2086
"$sweep" -o "with 'quotes'" $short $swept --seeds 2 --slurm >out 2>log && grep -q 'array=0-11$' "with 'quotes'/sweep.sbatch" &&
    for SLURM_ARRAY_TASK_ID in 0 1 2 3 4 5 6 7 8 9 10 11; do SLURM_ARRAY_TASK_ID=$SLURM_ARRAY_TASK_ID bash "with 'quotes'/sweep.sbatch" >>log 2>&1 || break; done &&
    bash -c "$(tail -n 1 out)" >log 2>&1 && cmp one/table.csv "with 'quotes'/table.csv"
check "the array job of --slurm, task by task, and its line that collects"

# ---- other results, other files, other databases ----

if command -v sqlite3 >/dev/null; then
    [ "$(sqlite3 one/sweep.sqlite 'SELECT count(*) FROM runs WHERE "traffic.load" = 0.2 AND "packet_latency_ps.mean" > 0')" = 4 ]
    check "keys and figures are columns of the database"
    key=$(sqlite3 one/sweep.sqlite 'SELECT key FROM runs LIMIT 1')
    sqlite3 one/sweep.sqlite "UPDATE runs SET \"hops.mean\" = 1 WHERE key = '$key'"
    # shellcheck disable=SC2086
    bad 1 'has it with other results: hops.mean is 1 there and' -q -o one $short $swept --seeds 2 --again && [ -e "one/differ/$key/summary.json" ] && [ -e "one/runs/$key/summary.json" ] &&
        [ "$(sqlite3 one/sweep.sqlite "SELECT \"hops.mean\" FROM runs WHERE key = '$key'")" = 1 ] && [ "$(grep -c 'with other results' err)" = 1 ]
    check "--again: other results are an error, and nothing is lost"
    sqlite3 one/sweep.sqlite 'PRAGMA user_version = 2' && cp one/sweep.sqlite before
    # shellcheck disable=SC2086
    bad 2 'has format 2, of a newer marssweep; this one knows 1. Nothing was changed' -q -o one $short $swept --seeds 2 && cmp before one/sweep.sqlite
    check "a database of a newer version is refused, and stays"
    sqlite3 other.sqlite 'CREATE TABLE a (b)' && bad 2 'other.sqlite: is a database of another program' -q -o five --db other.sqlite dragonfly.cfg traffic.load=0.1,0.2
    check "and one of another program"
fi
echo garbage >garbage.sqlite
bad 2 'garbage.sqlite: is no database of SQLite' -q -o five --db garbage.sqlite dragonfly.cfg traffic.load=0.1,0.2 && grep -q garbage garbage.sqlite
check "and what is none"
printf 'permutation\n' >/dev/null
seq 71 -1 0 >partners
# shellcheck disable=SC2086
permuted="$short traffic.pattern=permutation traffic.permutation_file=partners traffic.load=0.1,0.2"
# shellcheck disable=SC2086
"$sweep" -q -o six $permuted >out 2>log && { seq 1 71; echo 0; } >partners && "$sweep" -o six $permuted >out 2>>log && grep -q 'partners has changed: points that have read it are run again' out &&
    "$sweep" -o six $permuted >again 2>>log && grep -q '2 points, 2 of them done' again
check "a file that runs have read has changed: they are run again, once"
# shellcheck disable=SC2086
! grep -q 'another build' again && cp "$sweep" built-again && echo >>built-again && ./built-again -o six $permuted >again 2>>log && grep -q '2 points, 2 of them done' again &&
    grep -q 'another build of marssim has run points before: their results stay; --again compares' again && ./built-again --again -q -o six $permuted >again 2>>log
check "another build: what has results stays, which is said; with --again both have the same"
[ ! -e six/runs/x ] && ! cmp -s out again && "$marssim" -q -o single dragonfly.cfg run.warmup=2us run.end=6us traffic.pattern=permutation traffic.permutation_file=partners \
    traffic.load=0.1 >log 2>&1 && for folder in six/runs/*; do [ "$(result single)" != "$(result "$folder")" ] || echo "$folder"; done | grep -q runs
check "and their new results are in the place of the old"

# ---- points that come of others ----

# shellcheck disable=SC2086
"$sweep" -q -o seven dragonfly.cfg run.end=60us routing.algorithm=minimal,valiant --saturation >out 2>log && "$sweep" -q -o seven dragonfly.cfg run.end=60us routing.algorithm=minimal traffic.load=0.12:0.14:0.001 >all 2>>log
# Of loads one thousandth apart the first that is saturated.
first=$(awk '/saturated/ { print $1; exit }' all) found=$(sed -n 's/.*minimal: at a load of \([0-9.]*\).*/\1/p' out)
[ "$(grep -c '^saturation' out)" = 2 ] && awk -v a="$first" -v b="$found" 'BEGIN { exit !(a > 0 && b > 0 && (a - b) ^ 2 <= (0.01 * a + 0.001) ^ 2) }' || { cat out all >log; false; }
check "--saturation finds the load that a full sweep finds, within 1 %"
grep -q '^0.12 .*[0-9]$' all && grep -q '^0.14 .* saturated$' all || { cat all >log; false; }
check "what is saturated is marked"
# shellcheck disable=SC2086
"$sweep" -q -o eight $short traffic.load=0.1,0.2 --precision 0.2 --columns packet_latency_ps.mean >out 2>log &&
    awk -F, 'NR > 1 && ($2 < 3 || $4 > 0.2 * $3) { exit 1 } END { exit NR != 3 }' eight/table.csv || { cat eight/table.csv >>log; false; }
check "--precision adds seeds until the intervals are narrow"

# ---- alone ----

cat >jobs.cfg <<'CFG'
topology: { kind = "fat_tree"; radix = 8; levels = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
jobs: (
    { name = "victim"; program = "collective"; collective = "allreduce"; tasks = 12; iterations = 5; bytes = "8 B"; placement = "random"; start = "10 us"; },
    { name = "other"; program = "collective"; collective = "alltoall"; tasks = 16; iterations = 3; bytes = "64 KiB"; placement = "random"; }
);
CFG
"$sweep" -q -o nine jobs.cfg --alone --seeds 2 >out 2>log && [ "$(find nine/runs -name tasks.csv | wc -l)" = 6 ]
check "--alone runs each job alone, too"
nodes() { awk -F, -v job="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["job"] == job { print $at["task"], $at["node"] }' "$2/tasks.csv" | sort; }
of() { for folder in nine/runs/*; do jq -e ".words[\"run.seed\"] == \"1\" and (.words[\"jobs[other].start\"] != null) == $1 and (.words[\"jobs[victim].start\"] != null) == $2" \
    "$folder/point.json" >/dev/null && echo "$folder"; done; }
both=$(of false false) victim=$(of true false) other=$(of false true)
[ -n "$(nodes victim "$both")" ] && [ "$(nodes victim "$both")" = "$(nodes victim "$victim")" ] && [ "$(nodes other "$both")" = "$(nodes other "$other")" ]
check "on the nodes that it has beside the others"
finish() { jq '.result.jobs[] | select(.name == "victim").finish_ps' "$1/summary.json"; }
[ "$(grep '^,1,victim,finished,' nine/slowdown.csv | cut -d, -f 6,7)" = "$(($(finish "$victim") - 10000000)),$(($(finish "$both") - 10000000))" ]
check "its slowdown is of the times since its start"
"$sweep" -q -o ten jobs.cfg 'jobs[victim].after=other' run.check_interval="1 us" --alone --seeds 1 >out 2>log &&
    awk -F, '$3 == "victim" && $4 == "finished" { n++; if ($8 != 1) bad = 1 } END { exit n != 1 || bad }' ten/slowdown.csv
check "the wait for other jobs is none of the slowdown"
[ "$(grep -c '^,1,victim,8 B,[0-4],' nine/slowdown.csv)" = 5 ] && grep -q '^,1,other,MPI_Alltoall,,' nine/slowdown.csv &&
    [ "$(grep '^,1,victim,8 B,3,' nine/slowdown.csv | cut -d, -f 7)" = "$(awk -F, '$1 == "victim" && $3 == 3 { print $NF }' "$both/collectives.csv")" ]
check "so are those of each iteration, and of each function that waits"

# ---- bad input ----

refusal() { # NAME WORDS ARGUMENTS...
    bad 2 "$2" -q -o refused "${@:3}" && [ ! -e refused ]
    check "refused: $1"
}
refusal "no value" 'traffic.load=: a value is empty' dragonfly.cfg traffic.load=
refusal "an empty range" 'no values: from 0.9 to 0.1' dragonfly.cfg traffic.load=0.9:0.1:0.1
refusal "a key that does not exist" 'point trafic.load=0.1: command line: trafic.load: unknown key; did you mean traffic.load' dragonfly.cfg trafic.load=0.1,0.2
refusal "a key that means nothing at a point" 'point routing.algorithm=minimal routing.bias=10ns: .*means nothing with' dragonfly.cfg routing.algorithm=par,minimal routing.bias=10ns,20ns
refusal "a point twice" 'point traffic.load=0.10: it is the same run as point traffic.load=0.1' dragonfly.cfg traffic.load=0.1,0.10
refusal "lengths of --zip" 'traffic.load has 2 values and run.seed has 3' dragonfly.cfg --zip traffic.load=0.1,0.2 run.seed=1:3
refusal "seeds twice" '--seeds: run.seed is given, too' dragonfly.cfg --seeds 2 run.seed=1,2
refusal "a million points" 'more than 1000000 points' dragonfly.cfg run.seed=1:2000 traffic.load=0.0001:0.9:0.001
refusal "a million points of designs, before any of them is resolved" 'more than 1000000 points' dragonfly.cfg '@a=x{run.seed=1:2000},y' '@b=x{traffic.load=0.0001:0.2:0.0001}'
refusal "a range without a step" 'no values: from 0.1 to 0.9 in steps of 0' dragonfly.cfg traffic.load=0.1:0.9:0
refusal "a folder of points" ': is a folder; a file is expected' dragonfly.cfg --points .
printf 'traffic.load\n' >points
refusal "a line of --points" 'points:1: "traffic.load": expected KEY=VALUE' dragonfly.cfg --points points
: >points
refusal "an empty file of points" 'points: no points' dragonfly.cfg --points points
refusal "--alone without others" 'there is no job that the run waits for' dragonfly.cfg --alone
refusal "half a design" '@a=x{b: expected LABEL{KEY=VALUE' dragonfly.cfg '@a=x{b'
refusal "a word of a design" '"b": expected KEY=VALUE' dragonfly.cfg '@a=x{b}'
bad 2 'against a=b: the table has no such row' -q -o two own.cfg --against a=b
check "refused: a row to compare with that is not there"
refusal "no file" 'no configuration file given'
bad 2 'did you mean packet_latency_ps.mean' -q -o two own.cfg --columns packet_latency_ps.men
check "refused: a figure that does not exist, with one that does"
# shellcheck disable=SC2086
bad 1 'point traffic.load=.* run.end=1us.*: run.warmup: the run ends before' -q -o ten dragonfly.cfg traffic.load=0.1 run.warmup=2us run.end=1us,6us && [ "$(find ten/runs -name summary.json | wc -l)" = 1 ] ||
    bad 1 'run.warmup: the run ends before' -q -o ten dragonfly.cfg traffic.load=0.1 run.warmup=2us run.end=1us,6us
check "a point that fails is named, and the others are there"
