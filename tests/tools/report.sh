#!/bin/bash
# What marsreport makes of result folders: tests/tools/report.sh
#
# The data in the page is that of the folder; damaged folders, killed runs and names with HTML in them are told or shown as text. With
# chromium and playwright-core (NODE_PATH) the page is opened, too: tests/tools/report_page.js.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
report=$(dirname "$marssim")/marsreport
[ -x "$report" ] || { echo "SKIP: marsreport is not built"; exit 0; }
cd "$work" || exit 2

data() { # PAGE [N]: what its script of data has of the run N
    grep -o '<script id="marssim-data" type="application/json">[^<]*</script>' "$1" | sed 's/^<[^>]*>//; s/<[^>]*>$//' | jq -c ".runs[${2:-0}]"
}
says() { # STATUS WORDS ARGUMENTS...: marsreport ends so, with these words
    ends "$1" "$2" "$report" "${@:3}"
}

unlisted() { # FOLDER: its tables may be changed: their checksums are not known, as of an older version
    jq 'del(.tables)' "$1/summary.json" >list && mv list "$1/summary.json"
}

"$marssim" -q -o traced "$top/configs/fat-tree-lammps.cfg" output.period="500 us" output.matrix=true output.series.links=periods \
    output.series.jobs=periods output.series.tasks=periods output.series.traffic=periods output.series.functions=periods output.series.communicators=periods output.series.latency=periods output.series.matrix=periods \
    'output.matrix_levels=["node", "rack", "task"]' >err 2>&1
check "a traced job is simulated"
"$marssim" -q -o torus "$top/configs/torus-uniform.cfg" topology.extents=4,4 run.warmup=0ns run.end=10us output.period="1 us" output.series.switches=periods \
    output.series.adapters=periods >err 2>&1
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
[ "$(data traced/report.html | jq '[.matrices[0].cells[][3]] | add')" = "$(column traced/matrix.csv bytes)" ] &&
    [ "$(data traced/report.html | jq '[.distance.rows[][2]] | add')" = "$(column traced/matrix.csv bytes)" ]
check "all bytes of matrix.csv are in the matrix and in the distances"
[ "$(data traced/report.html | jq -c '[.matrices[] | [.level, ([.cells[][3]] | add) == ([.frames.cells[] | [recurse(.[3:]; length > 2)[2]] | add] | add)]]')" = \
    '[["node",true],["rack",true],["task",true]]' ] && [ "$(data traced/report.html | jq '.matrices[2] | [.cells[][3]] | add')" = "$(column traced/tasks.csv bytes_sent)" ]
check "the periods of a matrix add up to it, of nodes, racks and tasks"
# 16 + 16 + 16 switches and 64 nodes; 64 links at each of the three levels, each drawn.
[ "$(data traced/report.html | jq -c '[.scene.shape, (.scene.places.x | length), (.scene.lines.a | length)]')" = '["fat tree",112,192]' ]
check "a fat tree is drawn with all its switches, nodes and links"
# The busiest direction of all, in 1/10000, and the last of the frames ends where the run did.
highest=$(cut -d, -f11 traced/links.csv | sort -g | tail -1)
[ "$(data traced/report.html | jq '[.scene.lines.forth[], .scene.lines.back[]] | max')" = "$(awk -v u="$highest" 'BEGIN { printf "%.0f", 1e4 * u }')" ] &&
    [ "$(data traced/report.html | jq '.movie.time_ps[-1]')" = "$(jq '.result.simulated_time_ps' traced/summary.json)" ]
check "lines have the loads of links.csv, and frames those of link_series.csv"
# The sum over periods of what all links sent is that of links.csv, and of the busiest one that of its row.
[ "$(data traced/report.html | jq -c '.series.link_series as $s | ($s.columns | index("bytes")) as $b | [($s.all[$b] | add), ($s.values[$b][0] | add), $s.count]')" = \
    "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { all += $at["bytes"]; if ($at["busy_ps"] > most) { most = $at["busy_ps"]; b = $at["bytes"] } }
        END { printf "[%.0f,%.0f,%d]", all, b, NR - 1 }' traced/links.csv)" ]
check "a series of links has the bytes of links.csv, and the busiest link is first"
[ "$(data traced/report.html | jq -c '.series.traffic_series as $s | ($s.columns | index("bytes")) as $b | [$s.all[$b] | add]')" = "[$(column traced/tasks.csv bytes_sent)]" ] &&
    [ "$(data traced/report.html | jq -c '.series | [.job_series, .task_series, .latency_series | .objects | length]')" = "[1,32,2]" ]
check "series of jobs, tasks and kinds of messages are in the page"
data traced/report.html | jq -e '.series | (.function_series | .objects | length > 8) and (.communicator_series.objects == [["lammps", 0]])' >err &&
    [ "$(data traced/report.html | jq -c '.series.function_series as $s | ($s.columns | index("calls")) as $c | $s.all[$c] | add')" = "$(awk -F, 'NR > 1 { n += $4 } END { print n }' traced/function_series.csv)" ]
check "so are those of MPI functions and communicators"
data traced/report.html | jq -e '.series.traffic_series as $s | ($s.columns | index("messages")) as $c | [range($s.objects | length) | {k: $s.objects[.][1], n: ($s.values[$c][.] | add)}]
    | (map(select(.k == "both") | .n) | add) == (map(select(.k == "point_to_point" or .k == "collective") | .n) | add) and (map(select(.k != "both") | .n) | add) == ($s.all[$c] | add)' >err
check "point to point and collectives together are rows of their own, once in all of them"
echo 'topology: { kind="star"; nodes=3; bandwidth="10 GB/s"; latency="10 ns"; }; jobs: ( { program="stencil"; extents=[3]; periodic=[false]; tasks=3; steps=4; bytes="1 KiB"; compute_time="1 us"; memory_bandwidth="18 GB/s"; } );
node: { cores=4; controller_bandwidth="20 GB/s"; }; output: { period="700 ns"; cores=true; series: { cores="periods"; }; };' >cores.cfg
"$marssim" -q -o cores cores.cfg >err 2>&1 && "$report" cores >out 2>err && [ "$(data cores/report.html | jq -c '.series | [.core_series, .memory_kinds, .memory_series | (.columns | index("bytes") // index("computing_ps")) as $c | .all[$c] | add]')" = \
    "[$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } { n += $at["computing_ps"] } END { printf "%.0f", n }' cores/cores.csv),$(column cores/memory_series.csv bytes),$(column cores/memory_series.csv bytes)]" ] &&
    [ "$(data cores/report.html | jq -c '.series | [.core_series.count, .memory_kinds.objects]')" = '[12,[["controller"]]]' ]
check "cores and memory in periods are in the page"
"$marssim" -q -o loggops "$top/configs/star-pingpong.cfg" network.model=loggops output.period="50 us" >err 2>&1 && "$report" loggops >out 2>err &&
    data loggops/report.html | jq -e '.bottleneck | test("^job pingpong waits 100 %")' >err
check "so is a run above LogGOPS"
# 20 frames of the 25 ms: between 5 and 15 ms are those that end at 5, 5.5, ... 15 ms, the first one begins at 4.5 ms.
"$report" --from 5ms --to 15ms -o span.html traced >out 2>err && [ "$(data span.html | jq -c '[.movie.begun_ps, .movie.time_ps[0], .movie.time_ps[-1], (.movie.time_ps | length), (.series.job_series.time_ps | length)]')" = \
    '[4500000000,5000000000,15000000000,21,21]' ]
check "--from and --to choose frames and series"
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
# Two adapters a node on two planes of four leaves and four switches above, which have no links to nodes.
echo 'topology: { kind="fat_tree"; down=[4,4]; up=[1,4]; bandwidth="10 GB/s"; latency="10 ns"; }; node: { adapters=2; };
    traffic: { pattern="uniform"; load=0.2; }; run: { end="2 us"; };' >planes.cfg
"$marssim" -q -o planes planes.cfg >err 2>&1 && "$report" planes >out 2>err &&
    [ "$(data planes/report.html | jq -c '[.scene.frames[][4]], (.scene.lines.a | length), ([.scene.hidden[][] | select(. >= 0)] | length)' | tr '\n' ' ')" = \
        '["layer 0\n8 switches","layer 1\n8 switches"] 32 8 ' ]
check "nodes with several adapters lie at all their switches"
"$report" -o two.html traced torus >out 2>err && [ "$(data two.html | jq -r .name) $(data two.html 1 | jq -r .name)" = "traced torus" ]
check "two folders are in one page"
"$report" -o three.html traced torus loggops >out 2>err && [ "$(data three.html 0 | jq -r .name) $(data three.html 1 | jq -r .name) $(data three.html 2 | jq -r .name)" = "traced torus loggops" ]
check "so are three"
"$marssim" -q -o tables "$top/configs/fat-tree-lammps.cfg" output.tables=json output.waits=true output.critical_path="64 MB" >err 2>&1 && "$report" tables >out 2>err &&
    [ "$(data tables/report.html | jq -c '[.functions, .tasks]')" = "$(data traced/report.html | jq -c '[.functions, .tasks]')" ]
check "tables as JSON are the same as CSV"
data tables/report.html | jq -e '.critical_path_steps as $s | ($s.rows | length) == .result.jobs[0].critical_path.steps and ($s.columns | index("to_task"))' >err
check "the pieces of the critical path are in the page"

# Of more spans than there is room for each line has its longest: states of links are short beside calls.
"$marssim" -q -o lines "$top/configs/fat-tree-lammps.cfg" output.timeline=perfetto output.timeline_links=all >err 2>&1 && "$report" lines >out 2>err &&
    data lines/report.html | jq -e '.gantt | (.spans.track | length) as $n | $n < .spans.all and
        ([.spans.track | group_by(.)[] | length] | length > 200 and (map(select(. > 100)) | length > 150)) and
        (.names as $names | [.spans.to[]] | map($names[.] == "busy") | any)' >err
check "tasks and links have spans where there are too many"

# ---- results.h5 ----

if has_hdf5; then
series=(output.period="500 us" output.matrix=true output.series.matrix=periods 'output.matrix_levels=["node", "rack", "task"]'  output.series.links=periods output.series.jobs=periods output.series.tasks=periods output.series.traffic=periods output.series.functions=periods output.series.communicators=periods output.series.latency=periods)
"$marssim" -q -o hdf5 "$top/configs/fat-tree-lammps.cfg" "${series[@]}" output.hdf5=true >err 2>&1 && "$report" hdf5 >out 2>err && ! [ -e hdf5/link_series.csv ] &&
    same='{movie, matrices, scene, series: (.series | map_values([.objects, .time_ps, ([.how, .all, .values] | transpose[] | select(.[0] == "sum" or .[0] == "max"))]))}' &&
    data hdf5/report.html | jq -S "$same" >a && data traced/report.html | jq -S "$same" | cmp a - >err
check "series in results.h5 are the same as in CSV"
cp -R hdf5 tables5 && rm tables5/*.csv && "$report" tables5 >out 2>err && data tables5/report.html | jq -c '.functions, .distance, .tasks.rows, .hot.rows[0][0:10]' >a &&
    data traced/report.html | jq -c '.functions, .distance, .tasks.rows, .hot.rows[0][0:10]' | diff a - >err
check "and so are tables that are nowhere else"
head -c 5000 hdf5/results.h5 >tables5/results.h5 && unlisted tables5
says 1 "results.h5: is no file of HDF5, or was cut" tables5 && data tables5/report.html | jq -e '.notes | length == 1' >err
check "a cut results.h5 is told"
# Of files that make the HDF5 library crash a child process reads no more, and a note says so; whatever is changed, there is a page.
"$marssim" -q -o small5 "$top/configs/torus-uniform.cfg" topology.extents=3,3 run.warmup=0ns run.end=3us output.period=1us output.series.links=periods output.hdf5=true >err 2>&1
check "a small results.h5"
unlisted small5
cp small5/results.h5 whole.h5
rm -f told
for place in $(od -An -v -t u1 -w1 whole.h5 | awk '$1 && ++n % 400 == 0 { print NR - 1 }' | head -60); do
    cp whole.h5 small5/results.h5
    printf '\377\377\0\0' | dd of=small5/results.h5 bs=1 seek="$place" conv=notrunc 2>err
    timeout 60 "$report" small5 >out 2>err
    status=$?
    [ $status -le 1 ] && [ -s small5/report.html ] || { echo "byte $place: status $status" && false; } || break
    [ $status -eq 0 ] || cat err >>told
    rm small5/report.html
done >failed 2>&1
cat failed >err
[ ! -s failed ] && grep -q "results.h5: " told
check "a results.h5 with changed bytes makes a page, whatever becomes of the library"
fi

"$report" -o same.html traced tables >out 2>err && [ "$(data same.html | jq -c .scene.lines)" = "$(data same.html 1 | jq -c .scene.lines)" ]
check "two runs of one machine have its links alike"

# ---- names ----

unlisted traced
cp -R traced html
name='</script><!--<img src=x onerror=alert(1)>"&'
jq --arg n "$name" '.result.jobs[0].name = $n | .result.network = $n' traced/summary.json >html/summary.json
"$report" html >out 2>err && [ "$(data html/report.html | jq -r '.result.jobs[0].name')" = "$name" ] && ! grep -q 'onerror=alert(1)><' html/report.html
check "a name with HTML in it stays a text"
[ "$(grep -c '</script' html/report.html)" -eq "$(grep -c '</script' traced/report.html)" ]
check "and ends no element"

# ---- what is missing, damaged or foreign ----

mkdir empty killed foreign broken newer cut
says 2 "is no result folder of marssim" empty
check "an empty folder is refused"
says 2 "nowhere: No such file" nowhere
check "so is one that is not there"
says 2 "is no folder" traced/summary.json
check "and a file"
echo '{"a": 1}' >foreign/summary.json
says 2 "has no object \"result\"" foreign
check "a summary of something else is refused"
head -c 300 traced/summary.json >broken/summary.json
says 2 "broken/summary.json:[0-9]*: " broken
check "so is half of one, with its line"
head -c 400 traced/periods.csv >killed/periods.csv
"$report" killed >out 2>err && [ "$(data killed/report.html | jq '.partial, (.periods.column.time_ps | length)' | tr '\n' ' ')" = "true $(($(head -c 400 traced/periods.csv | wc -l) - 1)) " ] && [ ! -s err ]
check "a killed run's folder makes a page that says so"
jq '{input, result: {network: .result.network, nodes: .result.nodes, switches: .result.switches, links: .result.links}}' traced/summary.json >killed/started.json
"$report" killed >out 2>err && [ "$(data killed/report.html | jq -c '[.partial, .started.result.nodes]')" = '[true,64]' ]
check "and what it was of"
mkdir partial && cp killed/started.json partial/ && cp traced/system.cfg traced/link_series.csv partial/ && head -n 21 traced/periods.csv >partial/periods.csv
"$report" partial >out 2>err && data traced/report.html | jq -c '[(.scene.lines | [.a, .b, .class, .count]), .scene.places, .scene.classes, (.movie | [.time_ps[:20], .loads[:20]])]' >whole &&
    data partial/report.html | jq -c '[(.scene.lines | [.a, .b, .class, .count]), .scene.places, .scene.classes, (.movie | [.time_ps, .loads])]' | cmp - whole >err
check "its machine is drawn, with the periods that are whole"
data partial/report.html | jq -e --argjson to "$(tail -n 1 partial/periods.csv | cut -d, -f1)" '(.series.link_series.time_ps | max) == $to and ([.scene.lines.forth[], .scene.lines.back[]] | max) > 0 and
    (.notes | map(select(test("ends at 10 ms of simulated time"))) | length) == 1' >err
check "and what its links carried until then"
rm partial/link_series.csv && "$report" partial >out 2>err && data partial/report.html | jq -e '.movie == null and ([.scene.lines.forth[], .scene.lines.back[]] | max) == 0 and (.notes | map(select(test("How busy its links were is not known"))) | length) == 1' >err
check "without a series of links it says that their loads are not known"
jq '.result.links += 1' killed/started.json >partial/started.json && "$report" partial >out 2>err && [ "$(data partial/report.html | jq -c '[.partial, .scene]')" = '[true,null]' ]
check "a machine of another size than it began with is not drawn"
sed -i 's/"fat_tree"/"no_tree"/' partial/system.cfg && cp killed/started.json partial/ && "$report" partial >out 2>err && data partial/report.html | jq -e '.scene == null and (.notes | map(select(test("The machine is not drawn: system.cfg:[0-9]*: topology.kind"))) | length) == 1' >err
check "nor is one of a kind that is not known, and a note says why"
cp traced/system.cfg traced/link_series.csv partial/
jq '.input.version = "99.1.0" | .result.unknown = {a: [1]}' traced/summary.json >newer/summary.json
"$report" newer >out 2>err && data newer/report.html | jq -e '.notes[0] | contains("99.1.0")' >err
check "a newer version is shown as far as it is known"
cp -R traced quote && sed -i '5s/0/"/' quote/link_series.csv && cat traced/link_series.csv traced/link_series.csv traced/link_series.csv >>quote/link_series.csv
[ "$(timeout 20 "$report" quote 2>err)" = quote/report.html ]
[ $? -eq 0 ] && grep -q "link_series.csv:[0-9]*: another number of cells" err
check "a quote without a partner ends a table, at once"
cp traced/summary.json cut && head -c 200 traced/functions.csv >cut/functions.csv && printf 'job,task\n1\n' >cut/tasks.csv
says 1 "functions.csv:[0-9]*: the file ends within this line" cut && grep -q "tasks.csv:2: another number of cells" err &&
    data cut/report.html | jq -e '.notes | length == 2' >err
check "damaged tables are told, and the page written"
cp -R traced special && rm special/links.csv special/periods.csv special/system.cfg && mkfifo special/links.csv special/system.cfg && mkdir special/periods.csv && ln -sf /dev/zero special/waits.csv
timeout 30 "$report" special >out 2>err
[ $? -eq 1 ] && [ "$(grep -c 'is no regular file' err)" -eq 4 ] && [ -s special/report.html ]
check "pipes, devices and folders in place of files are left out"
says 2 "cannot be written" -o nowhere/x.html traced && says 2 "no result folder given" -o x.html && says 2 "no result folder of marssim" traced torus empty
check "a page that cannot be written, no folder, and one among others that is none"

# ---- tasks over time ----

# Two tasks, a message of 3 us, and waiting inside a call, as docs/timelines.md has it.
cp -R traced timeline
cat >timeline/timeline.json <<'END'
{"displayTimeUnit":"ns","otherData":{"program":"marssim","from_us":0,"to_us":10,"records":5,"of":5,"note":""},
"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"args":{"name":"<b>job</b>"}},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"task 0"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"task 1"}},
{"ph":"M","name":"thread_name","pid":1,"tid":3,"args":{"name":"task 0, thread 1"}},
{"ph":"X","name":"compute","pid":1,"tid":3,"ts":0,"dur":4},
{"ph":"X","name":"compute","pid":1,"tid":1,"ts":0,"dur":2.5},
{"ph":"X","name":"MPI_Recv","pid":1,"tid":2,"ts":1,"dur":4.5,"args":{"bytes":8}},
{"ph":"X","name":"waiting","pid":1,"tid":2,"ts":1,"dur":4.000001},
{"ph":"X","name":"MPI_Send","pid":1,"tid":1,"ts":2.5,"dur":0.5,"args":{"bytes":8}},
{"ph":"s","name":"message","cat":"message","id":1,"pid":1,"tid":1,"ts":2.5,"args":{"to":1,"bytes":8,"tag":0,"comm":0,"arrived":5,"received":5.5}},
{"ph":"f","bp":"e","name":"message","cat":"message","id":1,"pid":1,"tid":2,"ts":5.499999}
]}
END
"$report" timeline >out 2>err && [ "$(data timeline/report.html | jq -c '.gantt | [.tracks, .names, .spans.begin, .spans.duration, .messages.duration, .messages.to]')" = \
    '[[["<b>job</b>","task 0"],["<b>job</b>","task 1"],["<b>job</b>","task 0, thread 1"]],["compute","MPI_Recv","waiting","MPI_Send"],[0,0,1000000,1000000,2500000],[4000000,2500000,4500000,4000001,500000],[3000000],[1]]' ]
check "calls, waits and messages are those of timeline.json, to the picosecond"
"$marssim" -q -o links "$top/configs/torus-uniform.cfg" topology.extents=4,4 run.warmup=0ns run.end=2us output.timeline=perfetto output.timeline_links=y >err 2>&1 &&
    "$report" links >out 2>err && [ "$(data links/report.html | jq -c '.gantt | [.names, (.tracks | length), .tracks[0]]')" = '[["busy"],32,["links","switch 0:3 to switch 4 (y)"]]' ]
check "states of links are in it, too"
"$report" --from 5us --to 6us -o part.html timeline >out 2>err && [ "$(data part.html | jq -c '[.gantt.spans.all, .gantt.messages.all, .periods]')" = '[2,1,null]' ]
check "--from and --to choose what overlaps"
says 2 "the run in timeline ended at" --from 1s timeline
check "a span behind the run is refused"
says 2 "lies behind --to" --from 2us --to 1us timeline && says 2 "expected" --from soon timeline
check "so is one that is none"
cp -R timeline holed && sed -i '6s/.*/{"ph":"X","name"/' holed/timeline.json
says 1 "timeline.json:6: is no event" holed
check "a damaged timeline is told"

# ---- matrices ----

mkdir matrices
jq '.result.nodes = 4 | .result.simulated_time_ps = 2000000' traced/summary.json >matrices/summary.json
printf 'from_node,to_node,messages,bytes\n0,1,3,30\n3,2,1,8\n' >matrices/matrix.csv
printf 'time_ps,packets_delivered\n1000000,2\n' >matrices/periods.csv
printf 'time_ps,job,from_task,to_task,messages,bytes\n1000000,<b>job</b>,0,1,1,10\n2000000,<b>job</b>,0,1,2,20\n2000000,<b>job</b>,1,1,5,5\n' >matrices/task_matrix_series.csv
"$report" matrices >out 2>err && [ "$(data matrices/report.html | jq -c '.matrices | map([.level, .count, .cells, .frames.time_ps, .frames.cells])')" = \
    '[["node",4,[[0,1,3,30],[3,2,1,8]],null,null],["task",2,[[0,1,3,30],[1,1,5,5]],[1000000,2000000],[[1,1,10],[1,2,20,3,5,5]]]]' ]
check "matrices of nodes and of tasks, these by their series alone"
printf 'job,from_task,to_task,messages,bytes\nj,0,-1,3,30\n' >matrices/task_matrix.csv
says 1 "task_matrix: names a sender or receiver beyond" matrices
check "a number that no task has is told"
rm matrices/task_matrix.csv

# ---- films ----

movie=$(dirname "$marssim")/marsmovie
frames() { find "$1" -name 'frame-*.png' | wc -l; }
if [ -x "$movie" ]; then
    "$movie" -o frames traced >out 2>err && [ "$(frames frames)" -eq "$(data traced/report.html | jq '.movie.time_ps | length')" ] &&
        [ "$(head -c 24 frames/frame-00000.png | tail -c 8 | od -An -tu1 | tr -s ' ')" = " 0 0 5 0 0 0 2 208" ]
    check "a frame of 1280x720 for each period"
    count=$(frames frames)
    touch "frames/frame-$(printf %05d "$count").png" "frames/frame-$(printf %05d $((count + 1))).png" frames/own.png
    "$movie" -o frames traced >out 2>err && [ "$(frames frames)" -eq "$count" ] && [ -e frames/own.png ]
    check "frames of a longer film are removed"
    cmp -s frames/frame-00010.png frames/frame-00011.png
    [ $? -eq 1 ]
    check "and they differ"
    if command -v ffmpeg >/dev/null; then
        "$movie" -s 321x241 -o film.mp4 traced >out 2>err && "$movie" -d -s 320x240 -o film.gif traced >out 2>err && [ "$(head -c 4 film.gif)" = GIF8 ] &&
            [ "$(head -c 8 film.mp4 | tail -c 4)" = ftyp ]
        check "mp4 and gif by ffmpeg"
    fi
    (PATH=/nowhere "$movie" -o film2.mp4 traced >out 2>err)
    [ $? -eq 2 ] && grep -q 'takes ffmpeg, which is not there' err && ! [ -e film2.mp4 ]
    check "without ffmpeg it says what it takes"
    "$movie" -o film.avi traced >out 2>err
    [ $? -eq 2 ] && grep -q 'film.avi: films are .mp4 or .gif' err && ! [ -e film.avi ]
    check "a film of another kind is refused, and makes no folder"
    "$movie" -o partial/frames partial >out 2>err && [ "$(frames partial/frames)" -eq 20 ] && grep -q 'marsmovie: note: Partial: ' err && grep -q 'ends at 10 ms' err
    check "of a run that was killed: its whole periods, and it says so"
    printf '%s' "$(tail -n 1 traced/link_series.csv | head -c 20)" >>partial/link_series.csv && head -n 1 traced/periods.csv >partial/periods.csv && "$movie" -o partial/none partial >out 2>err
    [ $? -eq 2 ] && grep -q 'nothing in it' err
    check "one that was killed in its first period has none"
    "$movie" tables >out 2>err
    [ $? -eq 2 ] && grep -q 'there is no link_series.csv' err
    check "without loads of periods it names the keys"
    "$movie" empty >out 2>err
    [ $? -eq 2 ] && grep -q 'is no result folder' err
    check "a folder of something else is refused"
fi

# Parts of the latency, as summary.json has them.
jq '.result.latency_parts = {packets: {count: 4, source_queue_ps: 400, injection_ps: 4000, switches_ps: 1200, links_ps: 0, ejection_ps: 2400, switch_wait_ps: 400,
    contention_ps: 600}} | .result.node = {cores: {count: 4, computing: 0.5, stalled: 0.125, away: 0, idle: 0.375, busy: 0.625, preempted: 0, copying: 0.25},
    controllers: {count: 2, bytes: 2048, mean_utilisation: 0.25, max_utilisation: 0.5}}' traced/summary.json >html/summary.json.new && jq --arg n "$name" '.result.jobs[0].name = $n | .result.network = $n | .result.jobs[0].waits = {count: 3, wait_ps: 1000, late_sender_ps: 600, contention_ps: 400, other_ps: 0}
    | .result.jobs[0].critical_path = {from_ps: 0, to_ps: 10000, complete: true, kinds: {computation_ps: 7000, transfer_ps: 3000, other_ps: 0},
    functions: [{function: "", time_ps: 7000}, {function: "<b>MPI_Recv</b>", time_ps: 3000}], tasks: [{task: 1, time_ps: 10000}],
    pairs: [{from: 0, to: 1, messages: 1, time_ps: 3000, contention_ps: 0}]}' html/summary.json.new >html/summary.json
quoted=\"${name//\"/\"\"}\"
printf 'job,step,begin_ps,end_ps,task,from_task,to_task,function,kind\n%s,0,7000,10000,1,0,1,MPI_Recv,transfer\n%s,1,0,7000,0,0,0,,computation\n' "$quoted" "$quoted" >html/critical_path_steps.csv
printf 'job,task,waits,wait_ps,late_sender_ps,contention_ps\n%s,0,1,200,200,0\n%s,1,2,800,400,400\n' "$quoted" "$quoted" >html/waits.csv
printf 'job,size_bytes,messages,bytes,time_ps,rate_gb_per_s\n%s,1024,2,3000,2000000,1.500000\n' "$quoted" >html/message_rates.csv

"$report" html >out 2>err && data html/report.html | jq -r .bottleneck | grep -q "of its tasks' time (60 % of that for late senders), and the busiest links"
check "the bottleneck says what was waited for most"

# Two jobs of 150 tasks: more rows than are elements at a time. b's messages are small, a's fill its links.
echo 'topology: { kind="fat_tree"; radix=32; levels=2; bandwidth="10 GB/s"; latency="10 ns"; }; jobs: ( { name="a"; program="stencil"; extents=[150]; steps=2; bytes="32 KiB"; compute_time="1 us"; placement="random"; },
    { name="b"; program="stencil"; extents=[150]; steps=2; bytes="8 B"; compute_time="2 us"; placement="random"; } ); output: { waits=true; timeline="perfetto"; matrix=true; period="2 us"; series: { links="periods"; tasks="periods"; }; };' >jobs.cfg
"$marssim" -q -o jobs jobs.cfg >err 2>&1 && "$report" jobs >out 2>err && data jobs/report.html | jq -e '(.gantt.groups.jobs | map([.name, .rows])) == [["a", 150], ["b", 150]] and
    (.gantt.groups.jobs | all(. as $j | [range($j.compute | length) | $j.compute[.] + $j.waiting[.] + ($j.calls // [])[.] // 0] | max <= 1002)) and (.tasks.rows | length) == 300' >err
check "a row of each job says in what its tasks were"
# A link that the page names leads where links.csv says, and a node is where its link leads.
data jobs/report.html | jq -r '.where.links | to_entries[] | (.key | gsub(" port "; " ")) + " " + ([.value[0], .value[1], .value[2]] | map(tostring) | join(" "))' | sort >a &&
    awk -F, 'NR > 1 { print $1, $2, $3, $4, $5, $7 }' jobs/links.csv | sort >b && [ "$(wc -l <a)" -ge 64 ] && [ -z "$(comm -23 a b)" ]
check "links are called by their ends"
[ "$(data jobs/report.html | jq -c '[foreach .where.switch_of[] as $s (0; . + $s)]')" = "$(awk -F, '$1 == "node" { print $2, $5 }' jobs/links.csv | sort -n | cut -d' ' -f2 | jq -sc .)" ]
check "and nodes are at their switches"
# A quarter of what each link carries is a's, the rest b's.
cp -R jobs byjob && unlisted byjob && awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "from_kind,from,from_port,to_kind,to,to_port,class,job,bytes,busy_ps"; next }
    $at["busy_ps"] > 0 { quarter = int($at["busy_ps"] / 4); print $1, $2, $3, $4, $5, $6, $7, "a", 1, quarter; print $1, $2, $3, $4, $5, $6, $7, "b", 3, $at["busy_ps"] - quarter }' jobs/links.csv >byjob/links_by_job.csv
"$report" byjob >out 2>err && data byjob/report.html | jq -e '.carried as $c | .scene.lines as $l | ($c | map(.job)) == ["a", "b"] and ([range($l.a | length) | ($l.forth[.], $l.back[.])] as $all | ($all | max) > 1000 and
    ([range($all | length) | ($c[0].load[.] - $all[.] / 4), ($c[1].load[.] - 3 * $all[.] / 4)] | all(. > -1 and . < 1)))' >err
check "links have their loads by job"

# As many tasks as the largest shipped system has nodes, in two jobs.
mkdir many && jq 'del(.tables)' traced/summary.json >many/summary.json && head -1 traced/tasks.csv | awk -F, -v OFS=, '{ print; for (i = 0; i < 65536; i++) {
    for (k = 1; k <= NF; k++) $k = $k == "" || k > 2 ? 1000000 + i * k : $k; $1 = i < 32768 ? "one" : "two"; $2 = i % 32768; print } }' >many/tasks.csv
"$report" many >out 2>err && data many/report.html | jq -e '.tasks | (.rows | length) == 65536 and .left_out == 0' >err && [ "$(wc -c <many/report.html)" -lt 12000000 ]
check "65,536 tasks have room in a page"

# ---- in a browser ----

for folder in byjob torus html killed timeline matrices cores loggops; do "$report" "$folder" >out 2>err || cat err; done
in_browser report_page.js {traced,jobs,many,torus,html,killed,timeline,matrices}/report.html two.html three.html same.html
