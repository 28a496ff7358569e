#!/bin/bash
# States of links in timelines: tests/stats/timeline-links.sh
#
# Three packets over links of known times, by hand, in each format as programs that are not ours read it (jq, otf2-print, the grammar of
# Paraver); the sums of all links against links.csv, to the picosecond, in a congested network, with faults, and where the end of the run
# cuts off what is scheduled; the same bytes on any number of ranks and after a resume; budgets; bad input.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
formats=perfetto,paraver
"$marssim" -q -o "$work/none" configs/star-pingpong.cfg jobs[0].steps=1 output.timeline=otf2 >"$work/out" 2>"$work/err" && formats=$formats,otf2
case $formats in *otf2) ;; *) echo "SKIP: the format otf2: this marssim was built without it" ;; esac
cd "$work" || exit 2

run() { # FOLDER WORD...
    timeout 300 "$marssim" -q -o "$@" >out 2>err </dev/null
}
no() { refused "$1" -o refused "${@:2}"; } # WORDS WORD...: refused, and standard error says so
states() { # FOLDER: link, state, begin and end in picoseconds
    jq -r '(.traceEvents | map(select(.name == "process_name" and .args.name == "links"))[0].pid) as $links | .traceEvents[] |
        select(.pid == $links and .ph == "X") | [.tid - 1, .name, .ts, .dur] | @tsv' "$1/timeline.json" |
        awk '{ printf "%d %s %.0f %.0f\n", $1, $2, $3 * 1e6, ($3 + $4) * 1e6 }'
}
# The states of every link do not overlap, and end with the run; busy they are as links.csv says, stalled no longer than it says there.
sums() { # FOLDER
    states "$1" >sums
    tail -n +2 "$1/links.csv" | awk -F, -v end="$(jq .result.simulated_time_ps "$1/summary.json")" '
        FILENAME == "sums" { split($0, f, " "); if (f[3] < last[f[1]] || f[4] <= f[3] || f[4] > end) { print "overlap: " $0; bad++ }
            last[f[1]] = f[4]; sum[f[2], f[1]] += f[4] - f[3]; all[f[2]]++; next }
        { i = rows++; if ($10 != sum["busy", i] + 0 || sum["stalled", i] > $15) { print "link " i ": " $0 " : " sum["busy", i] " " sum["stalled", i]; bad++ } }
        END { print rows + 0, all["busy"] + 0, all["stalled"] + 0, all["down"] + 0; exit bad > 0 || !rows }' sums - >err
}

# A message of three packets of 8 bytes over one switch with room for one packet: 8 ns at 1 GB/s, 10 ns for the way, and 10 ns for the
# credit when the packet has left the switch.
cat >two.cfg <<'END'
topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "10 ns"; };
switch: { delay = "0 ns"; buffer = "8 B"; channels = 1; output_queue = "8 B"; };
adapter: { header = "0 B"; packet_size = "8 B"; };
jobs = ( { program = "pingpong"; name = "pp"; steps = 1; bytes = "24 B"; } );
END
run two two.cfg output.timeline=$formats output.timeline_links=all output.timeline_to=70ns
check "a message of three packets"
states two | sort -k1,1n -k3,3n >hand
cat >hand.by-hand <<'END'
1 busy 10000 18000
1 busy 38000 46000
1 busy 66000 74000
2 busy 0 8000
2 stalled 8000 28000
2 busy 28000 36000
2 stalled 36000 56000
2 busy 56000 64000
END
shown=hand
cmp hand.by-hand hand >err
check "perfetto: the states of its links have their times"
shown=$work/err
[ "$(jq -c '[.traceEvents[] | select(.name == "thread_name" and .pid == 2) | .args.name]' two/timeline.json)" = \
    '["switch 0:0 to node 0 (node)","switch 0:1 to node 1 (node)","node 0 to switch 0 (node)","node 1 to switch 0 (node)"]' ]
check "and their names"
awk -f "$top/tests/stats/paraver.awk" two/timeline.prv >err
check "paraver: the grammar holds"
[ "$(awk -F: '/^1:/ && $8 >= 20 { printf "%s.%s-%s:%s ", $4, $6, $7, $8 }' two/timeline.prv)" = \
    "3.0-8:20 3.8-28:21 2.10-18:20 3.28-36:20 3.36-56:21 2.38-46:20 3.56-64:20 2.66-74:20 " ]
check "and so do the states"
grep -qx '20    Link busy' two/timeline.pcf && grep -qx 'node 0 to switch 0 (node)' two/timeline.row
check "which have names"
if [[ $formats == *otf2 ]] && command -v otf2-print >/dev/null; then
    otf2-print two/timeline-otf2/traces.otf2 2>err | awk '$1 ~ /ENTER|LEAVE/ && /"(busy|stalled|down)"/ { split($0, f, "\"")
        if ($1 == "ENTER") begin[$2] = $3; else print $2 - 2, f[2], begin[$2], $3 }' | sort -k1,1n -k3,3n | cmp - hand.by-hand >>err && [ ! -s err ]
    check "otf2: the same by otf2-print"
    otf2-print -G two/timeline-otf2/traces.otf2 | grep -q 'LOCATION .*"node 1 to switch 0 (node)" .*, # Events: 0, Group: "links"'
    check "as locations of one group"
else
    echo "SKIP: otf2-print is missing"
fi

# ---- sums ----

cat >torus.cfg <<'END'
topology: { kind = "torus"; extents = [3, 4]; bandwidth = "10 GB/s"; latency = "33 ns"; };
switch: { channels = 4; buffer = "1 KiB"; output_queue = "512 B"; delay = "7 ns"; };
adapter: { packet_size = "256 B"; header = "16 B"; };
traffic: { pattern = "uniform"; load = 0.9; };
run: { end = "20 us"; };
END
all="output.timeline=perfetto output.timeline_links=all output.series.links=total output.links=true"
run sum torus.cfg $all && sums sum && awk '{ exit !($1 == 72 && $2 > 1000 && $3 > 100 && $4 == 0) }' err
check "traffic without a job: busy as in links.csv, stalled within credit_stall_ps"
run sum torus.cfg $all run.end=12345678ps && sums sum
check "cut off at an odd time"
run sum torus.cfg $all 'faults.list=({link=[0,1];}, {switch=7; port=1; at="5 us";})' && sums sum && awk '{ exit $4 != 4 }' err && grep -q 'down 0 20000000' sums &&
    [ "$(awk '$2 == "down" && $3 >= 5000000' sums | wc -l)" -eq 2 ]
check "links that go down are down from then on"
run sum torus.cfg $all adapter.ejection_rate='"5 GB/s"' switch.queueing=fifo && sums sum
check "fifo switches, and adapters that take less than a link carries"
run sum torus.cfg $all node.adapters=2 && sums sum
check "two adapters a node"

# ---- ranks, resume ----

whole="output.timeline=$formats output.timeline_links=all output.timeline_bytes=300kB"
files() { # FOLDER
    (cd "$1" && find . -name 'timeline*' -type f -o -path './timeline-otf2/*' -type f | sort | xargs md5sum)
}
for config in torus.cfg "$top/configs/fat-tree-lammps.cfg"; do
    name=$(basename "$config" .cfg)
    budget=300
    [ "$name" = torus ] || { budget=600; whole="${whole/300kB/600kB} $far"; }
    run one "$config" $whole && files one >one.sums && grep -q '"note":"sampled: ' one/timeline.json && [ "$(states one | wc -l)" -gt 20 ] &&
        [ "$(find one -name 'timeline.p[rc]*' -o -name timeline.row | xargs cat | wc -c)" -le ${budget}000 ] && awk -f "$top/tests/stats/paraver.awk" one/timeline.prv >err
    check "$name: within a budget"
    for ranks in 2 3 5; do
        timeout 300 mpirun -n $ranks "$marssim" -q -o ranks "$config" $whole partition.oversubscribe=true partition.adapt=false >out 2>err && files ranks | cmp - one.sums >>err
        check "$name: the same bytes on $ranks ranks"
    done
    at=$(jq '.result.simulated_time_ps / 2 | floor' one/summary.json)
    run saved "$config" $whole run.checkpoint.at="${at}ps" && files saved | cmp - one.sums >>err
    check "$name: a checkpoint changes nothing"
    timeout 300 mpirun -n 2 "$marssim" -q --resume saved/checkpoints -o ranks partition.oversubscribe=true >out 2>err && files ranks | cmp - one.sums >>err
    check "$name: nor does a resume on two ranks"
    rm -rf saved ranks
done
run plain torus.cfg && run links torus.cfg $all && [ "$(jq -S '.result | del(.timelines)' plain/summary.json)" = "$(jq -S '.result | del(.timelines)' links/summary.json)" ]
check "results are the same without"

# ---- choices ----

chosen() { # WORDS NUMBER: this many links
    run some torus.cfg output.timeline=perfetto "output.timeline_links=[$1]" &&
        [ "$(jq '[.traceEvents[] | select(.name == "thread_name")] | length' some/timeline.json)" -eq "$2" ]
    check "$1: $2 links"
}
chosen '"x"' 24
chosen '"node"' 24
chosen '"x", "all"' 72
chosen '"switch 3"' 5
chosen '"switch 0-11/4:1", "node 3"' 4
run some torus.cfg output.timeline=perfetto output.timeline_links=y output.timeline_from=5us output.timeline_to=6us && states some >sums &&
    awk '$3 >= 6e6 || $4 < 5e6 { exit 1 } END { exit !NR }' sums
check "a span"

# ---- bad input ----

for text in 'level 9' 'switch' 'switch 1-0' 'switch 1/2' 'switch 1:0-1' 'switch  1' '' 'switch 1:' 'switch :1' 'node -1' "switch $(printf '1%.0s' {1..90})"; do
    no 'names no links; right would be "all", "x", "y", "node", "switch 3"' torus.cfg output.timeline=paraver "output.timeline_links=[\"$text\"]"
    check "\"${text:0:20}\" names no links"
done
no 'there is no switch 12; they count from 0 to 11' torus.cfg output.timeline=paraver output.timeline_links="switch 0-12"
check "a switch that is not there"
no 'there is no port 1; ports count from 0 to 0' torus.cfg output.timeline=paraver output.timeline_links="node 0:1"
check "an adapter that is not there"
no 'means nothing without output.timeline' torus.cfg output.timeline_links=all
check "links without a format"
no 'there is no job whose tasks it could show; output.timeline_links chooses links' torus.cfg output.timeline=paraver
check "neither jobs nor links"
no 'too little for anything' torus.cfg output.timeline=otf2,paraver output.timeline_links=all output.timeline_bytes=10kB
check "a budget without room for their names"
run refused torus.cfg --check output.timeline=paraver output.timeline_links=x && grep -q 'for states of 24 links' out
check "--check says what they cost"
