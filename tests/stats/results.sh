#!/bin/bash
# The result folder as a user meets it: tests/stats/results.sh
#
# Files of an earlier run are removed, whatever it wrote; files of others are not touched; summary.json says what was run.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
cd "$work" || exit 2

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

# As JSON: the same tables, and nothing of the others stays behind when the form changes.
run both most.cfg && cp -r both csv && run both most.cfg output.tables=json
check "tables as JSON"
same=""
for table in links tasks matrix packet_latency message_size; do
    jq -r '(.columns | map(.name)), .rows[] | map(if . == null then "" else . end) | join(",")' both/$table.json >$table.csv || same="$table.json"
    sed -E 's/([0-9]\.[0-9]*[1-9])0+(,|$)/\1\2/g; s/([0-9])\.0+(,|$)/\1\2/g' csv/$table.csv | cmp - <(sed -E 's/([0-9])\.0+(,|$)/\1\2/g' $table.csv) || same="$table"
    [ ! -e both/$table.csv ] || same="$table.csv is left"
done
[ -z "$same" ]
check "they hold what the CSV files hold"
jq -e '.columns | map(.unit == "ps" and .type == "time" and (.meaning | length > 20) and .name == "finish_ps") | any' both/tasks.json >jq.out
check "and say unit, type and meaning"
same=""
for file in csv/*.csv; do
    [ "$file" = csv/names.csv ] && continue
    "$marssim" --help-results | awk -v name="${file#csv/}" '!/^ / { on = $0 == name; count = 0 } on && /^ / && count++ { line = line (line ? "," : "") $1 } END { print line }' >head
    # columns of names are left out where nothing has names, those of series where none are collected, and of cores where nodes are simple
    [ "$(sed 's/,from_name,to_name$//; s/,node_name$//; s/,system_ps$//; s/,stalled_ps,overhead_ps,away_ps,preempted_ps$//; s/,detour_packets$//; s/,credit_stall_ps$//' head)" = "$(head -1 "$file")" ] || same="$file"
done
[ -z "$same" ]
check "every table is in --help-results, with its columns in their order"
rm -r csv
run both most.cfg && [ ! -e both/links.json ]
check "no JSON is left when tables are CSV again"

# An input in the result folder, under a name that a run writes, is not removed: neither the configuration nor what it names.
run both most.cfg
run again both/system.cfg && cmp both/system.cfg again/system.cfg
check "a run's own system.cfg can be run again"
(cd both && cksum *.csv summary.* system.cfg) >before 2>/dev/null
spared() { # NAME FOLDER WORD...: refused, and nothing of the folder has gone
    wanted=$1
    shift
    run "$@"
    [ $? -eq 2 ] && grep -q "cannot write $1/$wanted: this run reads it" err
    check "$wanted is an input in the folder $1: refused"
    (cd both && cksum *.csv summary.* system.cfg) >after 2>/dev/null
    cmp before after
    check "nothing of folder $1 has been removed"
}
spared system.cfg both both/system.cfg
spared system.cfg ../"$(basename "$PWD")"/both both/system.cfg
printf '0\n1\n' >both/tasks.csv
(cd both && cksum *.csv summary.* system.cfg) >before 2>/dev/null
spared tasks.csv both most.cfg 'jobs[0].placement="file"' 'jobs[0].placement_file="both/tasks.csv"'

# A FIFO has no reader: whoever opened it to write would wait for ever.
in_the_way() { # WHAT FOLDER PATTERN: a run into FOLDER, which holds WHAT, is refused at once
    timeout 20 "$marssim" -q -o "$2" most.cfg >out 2>err </dev/null
    [ $? -eq 2 ] && grep -q "$3" err
    check "$1 in place of ${3%%: *} is refused"
}
for file in periods.csv links.csv summary.json summary.txt tasks.csv matrix.csv system.cfg started.json summary.json.tmp; do
    mkdir "fifo-$file" && mkfifo "fifo-$file/$file"
    in_the_way "a FIFO" "fifo-$file" "/$file: it is there and no regular file"
    mkdir -p "folder-$file/$file"
    in_the_way "a folder" "folder-$file" "/$file: it is there and no regular file"
done
mkdir tried && mkfifo tried/.writable.tmp
in_the_way "a FIFO" tried "result folder tried: "

run said most.cfg 'jobs[0].steps=5' 'run.seed=77'
cat >expected <<'END'
    "configuration": "most.cfg",
    "files": [
      "most.cfg"
    ],
    "overrides": [
      "jobs[0].steps=5",
      "run.seed=77"
    ],
    "seed": 77,
    "version":
END
sed -n '/"input": {/,/^  }/p' said/summary.json | sed -e '1d;$d' -e 's/"version": "[0-9.]*"/"version":/' >said.txt
cmp said.txt expected && grep -q "\"version\": \"$("$marssim" --version | sed 's/marssim //')\"" said/summary.json
check "summary.json says configuration, overrides, seed and version"

# ---- the summary ----

# Two tasks, one message of 500,000 bytes in each direction, one link each of 1 GB/s: of 4 nodes two offer all the run's bytes, and the links of
# those two are busy in both directions for 500 us each (and a header), the other two never.
cat >load.cfg <<'END'
topology: { kind = "star"; nodes = 4; bandwidth = "1 GB/s"; latency = "10 ns"; };
adapter: { packet_size = "1000 B"; header = "0 B"; };
jobs = ( { program = "pingpong"; steps = 1; bytes = "500000 B"; } );
mpi: { eager_limit = "1 MiB"; };
run: { end = "2 ms"; };
END
value() { # FOLDER KEY: of result
    sed -n "s/^    \"$2\": \([0-9.e+-]*\),*$/\1/p" "$1/summary.json"
}
near() { # VALUE EXPECTED TOLERANCE
    awk -v v="$1" -v e="$2" -v t="$3" 'BEGIN { exit !(v != "" && v >= e - t && v <= e + t) }'
}
run load load.cfg
# 1,000,000 bytes of 4 nodes x 1 GB/s x the 1 ms that the run lasts
near "$(value load offered_load)" "$(awk -v ps="$(value load simulated_time_ps)" 'BEGIN { print 1000000 / (4e9 * ps / 1e12) }')" 0.000001
check "the offered load counts what jobs send"
sed -n '/"link_classes"/,/\]/p' load/summary.json >classes.txt
grep -q '"class": "node"' classes.txt && grep -q '"directions": 8' classes.txt
check "links by class are in summary.json"
# 4 of 8 directions are busy for 500 us
near "$(sed -n 's/.*"max_utilisation": \([0-9.]*\).*/\1/p' classes.txt)" \
    "$(awk -v ps="$(value load simulated_time_ps)" 'BEGIN { print 500e6 / ps }')" 0.0001 &&
    near "$(sed -n 's/.*"mean_utilisation": \([0-9.]*\).*/\1/p' classes.txt)" \
        "$(awk -v ps="$(value load simulated_time_ps)" 'BEGIN { print 250e6 / ps }')" 0.0001
check "with the highest and the mean use"
grep -q '^  node .* 8 .* %' load/summary.txt
check "and in summary.txt"
run sure least.cfg traffic.messages=0 traffic.load=0.3 run.confidence=0.05 'run.batch=20 us'
sed -n '/"confidence": {/,/}/p' sure/summary.json >sure.txt
grep -q '"level": 0.9[45]' sure.txt && near "$(sed -n 's/.*"half_width": \([0-9.]*\).*/\1/p' sure.txt)" 0.025 0.025 &&
    grep -q 'network mean within +- .* % at 95 %, by [0-9]* batches' sure/summary.txt
check "the achieved confidence interval is said"

# ---- names ----

cat >named.txt <<'END'
switch left
switch mid,dle
switch right
node a left 10ns 25GB/s
node b mid,dle 10ns 25GB/s
node c right 10ns 25GB/s
link left mid,dle 100ns 25GB/s
link mid,dle right 100ns 25GB/s 2
END
cat >named.cfg <<'END'
topology: { kind = "file"; file = "named.txt"; };
jobs = ( { program = "pingpong"; first_node = 1; } );
END
run named named.cfg
[ "$(sed -n 3p named/names.csv)" = 'switch,1,"mid,dle"' ] && [ "$(tail -1 named/names.csv)" = 'node,2,"c"' ] && [ "$(wc -l <named/names.csv)" -eq 7 ]
check "names.csv has the names of a topology file"
run planes named.cfg node.adapters=2 topology.rails=plane
[ "$(grep ^node planes/names.csv)" = "$(grep ^node named/names.csv)" ] && [ "$(grep -c ^switch planes/names.csv)" -eq 6 ]
check "in planes every node has its own, and a switch in each plane the same"
head -1 named/links.csv | grep -q ',from_name,to_name$' && grep -q '^node,1,0,switch,1,0,.*,b,"mid,dle"$' named/links.csv
check "links.csv too"
[ "$(sed -n 3p named/tasks.csv | sed 's/.*,//')" = c ] && grep -q 'c > right' named/summary.txt
check "and tasks.csv and the summary"
timeout 120 "$marssim" -q -o named named.cfg 'faults.list[0].link=0,2' >out 2>err
grep -q 'no link joins switches 0 (left) and 2 (right); switch 0 is linked to 1 (mid,dle)' err
check "and messages"

# ---- --check ----

checks() { # NAME PATTERN WORD...: --check of these words has a line with the pattern
    local name=$1 pattern=$2
    shift 2
    timeout 120 "$marssim" --check "$@" >out 2>err </dev/null
    grep -q -- "$pattern" out || { cat out; false; }
    check "--check: $name"
}
torus='topology: { kind = "torus"; bandwidth = "25 GB/s"; latency = "30 ns"; '
echo "$torus extents = [8, 4, 4]; };" >torus.cfg
echo "$torus extents = [4, 2]; wrap = false; nodes_per_switch = 2; };" >mesh.cfg
echo "$torus extents = [5, 3]; };" >odd.cfg
echo 'topology: { kind = "fat_tree"; down = [4, 4]; up = [1, 2]; bandwidth = ["10 GB/s", "5 GB/s"]; latency = "30 ns"; };' >tree.cfg
echo 'topology: { kind = "hierarchical"; groups = [4, 4]; links = [1, 2]; bandwidth = ["10 GB/s", "1 GB/s"]; latency = "30 ns"; }; switch: { channels = 8; };' >groups.cfg
checks "links, rate and sum of a class" 'x  *128  *25 GB/s  *3.2 TB/s  *30 ns' torus.cfg
checks "25 Gb/s are seen to be 3.125 GB/s" 'x  *128  *3.125 GB/s  *400 GB/s' torus.cfg 'topology.bandwidth=25 Gb/s'
checks "ports" 'ports  *7 in use at each switch' torus.cfg
checks "ports of a mesh: 2 links at a corner, 3 elsewhere, and 2 nodes" 'ports  *4 to 5 in use' mesh.cfg
# across the 8: two rings' cuts of 4 x 4 links of 25 GB/s
checks "bisection of a torus" 'bisection  800 GB/s in each direction, across the middle of a dimension; half of the nodes can inject 1.6 TB/s' torus.cfg
# across the 4: 2 links
checks "bisection of a mesh" 'bisection  50 GB/s in each direction, across' mesh.cfg
checks "bisection of odd extents is METIS's bound" 'an upper bound: the best cut METIS found, between [78] and [78] nodes' odd.cfg
# a host is on one side with the adapters that it has in both planes
cut() { "$marssim" --check "$@" 2>&1 | awk '/^bisection/ {print $2, $3}'; }
one=$(cut odd.cfg) two=$(cut odd.cfg node.adapters=2 topology.rails=plane)
[ -n "$one" ] && [ "$two" = "$(awk '{print 2 * $1, $2}' <<<"$one")" ] || { echo "one plane: $one, two: $two"; false; }
check "--check: two planes have twice the bisection of one"
# 4 leaves x 2 links x 5 GB/s, halved
checks "bisection of a fat tree" 'bisection  20 GB/s in each direction, half of the narrowest level; half of the nodes can inject 80 GB/s' tree.cfg
# 2 | 2 groups: 4 pairs of 2 links of 1 GB/s
checks "bisection of groups" 'bisection  8 GB/s in each direction; half' groups.cfg
checks "bisection of a star" "bisection  2 GB/s in each direction, half of the nodes' links" load.cfg
