#!/bin/bash
# What marsreport makes of result folders: tests/report.sh
#
# The data in the page is that of the folder; damaged folders, killed runs and names with HTML in them are told or shown as text. With
# chromium and playwright-core (NODE_PATH) the page is opened, too: tests/report_page.js.
set -u
cd "$(dirname "$0")/.." || exit 2
command -v jq >/dev/null || { echo "SKIP: jq is missing"; exit 0; }
. tests/lib-script.sh
report=$(dirname "$marssim")/marsreport
[ -x "$report" ] || { echo "SKIP: marsreport is not built"; exit 0; }
cd "$work" || exit 2

data() { # PAGE: what is in its script of data
    grep -o '<script id="marssim-data" type="application/json">[^<]*</script>' "$1" | sed 's/^<[^>]*>//; s/<[^>]*>$//'
}
refused() { # STATUS WORDS FOLDERS...: exit status, and what standard error says
    local status=$1 words=$2
    shift 2
    "$report" "$@" >out 2>err
    [ $? -eq "$status" ] && grep -q -e "$words" err
}

"$marssim" -q -o traced "$top/configs/fat-tree-lammps.cfg" output.period="500 us" output.matrix=true output.series.links=periods >err 2>&1
check "a traced job is simulated"
"$marssim" -q -o torus "$top/configs/torus-uniform.cfg" topology.extents=4,4 run.warmup=0ns run.end=10us output.period="1 us" >err 2>&1
check "and traffic on a torus"

# ---- the data ----

[ "$("$report" traced)" = traced/report.html ] && [ -s traced/report.html ]
check "the page is written into the folder, and its path printed"
data traced/report.html | jq -S '{input, result, run}' >a 2>err && jq -S '{input, result, run}' traced/summary.json >b && cmp a b >err
check "input, result and run are those of summary.json"
[ "$(data traced/report.html | jq -r '.periods.column.packets_delivered | add')" = "$(awk -F, 'NR > 1 { n += $3 } END { print n }' traced/periods.csv)" ]
check "the series is that of periods.csv"
[ "$(data traced/report.html | jq '.functions.rows | length')" -eq "$(($(wc -l <traced/functions.csv) - 1))" ]
check "and the functions are those of functions.csv"
column() { # FILE NAME: the sum of a column
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR > 1 { n += $at } END { printf "%.0f\n", n }' "$1"
}
[ "$(data traced/report.html | jq '[.matrix.cells[][3]] | add')" = "$(column traced/matrix.csv bytes)" ] &&
    [ "$(data traced/report.html | jq '[.distance.rows[][2]] | add')" = "$(column traced/matrix.csv bytes)" ]
check "all bytes of matrix.csv are in the matrix and in the distances"
# 16 + 16 + 16 switches and 64 nodes; 64 links at each of the three levels, each drawn.
[ "$(data traced/report.html | jq -c '[.scene.shape, (.scene.places.x | length), (.scene.lines.a | length)]')" = '["fat tree",112,192]' ]
check "a fat tree is drawn with all its switches, nodes and links"
# The busiest direction of all, in 1/10000, and the last of the frames ends where the run did.
highest=$(cut -d, -f11 traced/links.csv | sort -g | tail -1)
[ "$(data traced/report.html | jq '[.scene.lines.forth[], .scene.lines.back[]] | max')" = "$(awk -v u="$highest" 'BEGIN { printf "%.0f", 1e4 * u }')" ] &&
    [ "$(data traced/report.html | jq '.movie.time_ps[-1]')" = "$(jq '.result.simulated_time_ps' traced/summary.json)" ]
check "lines have the loads of links.csv, and frames those of link_series.csv"
"$report" torus >out 2>err
[ "$(data torus/report.html | jq -c '[.scene.shape, (.scene.places.x | length), (.scene.lines.a | length)]')" = '["torus",16,32]' ]
check "so is a torus"
for kind in 'kind="hierarchical"; groups=[4,3]; attach=["switch"]; nodes_per_switch=2;' 'kind="star"; nodes=5;' 'kind="torus"; extents=[5];' \
    'kind="torus"; extents=[3,2,2,2];' 'kind="fat_tree"; radix=4; levels=3;'; do
    echo "topology: { $kind bandwidth=\"10 GB/s\"; latency=\"10 ns\"; }; traffic: { pattern=\"uniform\"; load=0.2; }; run: { end=\"2 us\"; };" >shape.cfg
    rm -rf shape
    "$marssim" -q -o shape shape.cfg >err 2>&1 && "$report" shape >out 2>err &&
        [ "$(data shape/report.html | jq '[.scene.places.node[] | select(. == 0)] | length')" = "$(jq '.result.switches' shape/summary.json)" ]
    check "and each switch of $kind"
done
"$report" -o two.html traced torus >out 2>err && [ "$(data two.html | jq -r '.name + " " + .other.name')" = "traced torus" ]
check "two folders stand in one page"
"$marssim" -q -o tables "$top/configs/fat-tree-lammps.cfg" output.tables=json >err 2>&1 && "$report" tables >out 2>err &&
    [ "$(data tables/report.html | jq -c '[.functions, .tasks]')" = "$(data traced/report.html | jq -c '[.functions, .tasks]')" ]
check "tables as JSON are the same as CSV"

# ---- names ----

cp -R traced html
name='</script><!--<img src=x onerror=alert(1)>"&'
jq --arg n "$name" '.result.jobs[0].name = $n | .result.network = $n' traced/summary.json >html/summary.json
"$report" html >out 2>err && [ "$(data html/report.html | jq -r '.result.jobs[0].name')" = "$name" ] && ! grep -q 'onerror=alert(1)><' html/report.html
check "a name with HTML in it stays a text"
[ "$(grep -c '</script' html/report.html)" -eq "$(grep -c '</script' traced/report.html)" ]
check "and ends no element"

# ---- what is missing, damaged or foreign ----

mkdir empty killed foreign broken newer cut
refused 2 "is no result folder of marssim" empty
check "an empty folder is refused"
refused 2 "nowhere: No such file" nowhere
check "so is one that is not there"
refused 2 "is no folder" traced/summary.json
check "and a file"
echo '{"a": 1}' >foreign/summary.json
refused 2 "has no object \"result\"" foreign
check "a summary of something else is refused"
head -c 300 traced/summary.json >broken/summary.json
refused 2 "broken/summary.json:[0-9]*: " broken
check "so is half of one, with its line"
head -c 400 traced/periods.csv >killed/periods.csv
"$report" killed >out 2>err && [ "$(data killed/report.html | jq '.partial, (.periods.column.time_ps | length)' | tr '\n' ' ')" = "true $(($(head -c 400 traced/periods.csv | wc -l) - 1)) " ] && [ ! -s err ]
check "a killed run's folder makes a page that says so"
jq '.input.version = "99.1.0" | .result.unknown = {a: [1]}' traced/summary.json >newer/summary.json
"$report" newer >out 2>err && data newer/report.html | jq -e '.notes[0] | contains("99.1.0")' >err
check "a newer version is shown as far as it is known"
cp traced/summary.json cut && head -c 200 traced/functions.csv >cut/functions.csv && printf 'job,task\n1\n' >cut/tasks.csv
refused 1 "functions.csv:[0-9]*: the file ends within this line" cut && grep -q "tasks.csv:2: another number of cells" err &&
    data cut/report.html | jq -e '.notes | length == 2' >err
check "damaged tables are told, and the page written"
refused 2 "cannot be written" -o nowhere/x.html traced && refused 2 "one folder is shown, or two" traced torus html
check "a page that cannot be written, too many folders"

# ---- in a browser ----

browser=$(command -v chromium || command -v chromium-browser)
if [ -z "$browser" ] || ! command -v node >/dev/null || ! node -e 'require("playwright-core")' 2>/dev/null; then
    echo "SKIP: no browser: chromium, and node with playwright-core in NODE_PATH"
    exit 0
fi
for folder in torus html killed; do "$report" "$folder" >out 2>err || cat err; done
node "$top/tests/report_page.js" "$browser" "$PWD" >page.log 2>err
check "the browser came to the end"
cat page.log
