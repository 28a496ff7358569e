#!/bin/bash
# Virtual channels (output.series.channels): by hand; they add up to the links; the same on any number of ranks, in any order of the cells and
# after a checkpoint, with every form in which packets find channels and credits; they change nothing else.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
m=$marssim t=$work
run() { "$m" -q "$@" partition.bind=no; }
ranks() { # RANKS ARGUMENTS
    mpirun -n "$1" "$m" -q "${@:2}" partition.adapt=false partition.oversubscribe=true partition.bind=no 2>"$t/err"
}
stalls() { # FOLDER: sending end, channel and credit_stall_ps
    awk -F, 'NR > 1 { print $1, $2, $3, $4, $11 }' "$1/channels.csv"
}

# ---- by hand ----

# A message of three packets of 8 bytes to a node that takes 16 ns for one and has room for one: 8 ns at 1 GB/s, 10 ns for each link. At the
# switch packet 1 is at 10 ns, and at the node from 20 to 36; its credit is back at the switch at 46, where packet 2 waits since 38: 8 ns
# (that one left its node at 28, when packet 1 had left the switch's buffer at 18). Packet 2 is at the node from 56 to 72, its credit
# back at 82; packet 3 waits since 70, as packet 2 left the buffer at 50: 12 ns. The node waits from 8 to 28 and from 36 to 60.
cat >"$t/one.cfg" <<'END'
topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "10 ns"; };
switch: { delay = "0 ns"; buffer = "8 B"; channels = 1; output_queue = "8 B"; };
adapter: { header = "0 B"; packet_size = "8 B"; buffer = "8 B"; ejection_rate = "500 MB/s"; };
jobs = ( { program = "pingpong"; name = "pp"; steps = 1; bytes = "24 B"; } );
END
run -o "$t/a" "$t/one.cfg" output.series.channels=total 2>"$t/err" && stalls "$t/a" | diff - <(printf '%s\n' "switch 0 0 0 20000" "switch 0 1 0 20000" "node 0 0 0 44000" "node 1 0 0 44000")
check "one channel: times without credits, of switch and node"

# Two jobs of two classes to one node, two packets each. Both first ones are at the switch at 10; that of class 1 goes, the other one at 18.
# The node takes them from 20 to 36 and to 52: credits are back at 46 (channel 1) and 62 (channel 0). The second ones are at the switch at 38
# (class 1: 8 ns until 46) and at 42 (class 0: 20 ns until 62, though the link sends for class 1 from 46 to 54).
cat >"$t/two.cfg" <<'END'
topology: { kind = "star"; nodes = 3; bandwidth = "1 GB/s"; latency = "10 ns"; };
switch: { delay = "0 ns"; buffer = "8 B"; channels = 1; classes = 2; output_queue = "8 B"; };
adapter: { header = "0 B"; packet_size = "8 B"; buffer = "8 B"; ejection_rate = "500 MB/s"; };
node: { cores = 2; };
jobs = ( { program = "pingpong"; name = "low"; steps = 1; bytes = "16 B"; first_node = 0; placement = "strided"; stride = 2; },
         { program = "pingpong"; name = "high"; steps = 1; bytes = "16 B"; first_node = 1; priority = 1; } );
END
run -o "$t/a" "$t/two.cfg" output.series.channels=periods output.series.links=total "output.period=40 ns" 2>"$t/err" &&
    stalls "$t/a" | grep "^switch 0 2" | diff - <(printf '%s\n' "switch 0 2 0 20000" "switch 0 2 1 8000") &&
    awk -F, '$1 == "switch" && $3 == 2 { print $NF }' "$t/a/links.csv" | diff - <(echo 16000)
check "two channels: one lacks credits while the link sends for the other"
# Until 40 the first ones have left and that of class 1 waits for 2 ns; until 80 the rest.
awk -F, '$2 == "switch" && $4 == 2 { print $1, $5, $6, $8, $12 }' "$t/a/channel_series.csv" |
    diff - <(printf '%s\n' "40000 0 1 8000 0" "40000 1 1 8000 2000" "80000 0 1 8000 20000" "80000 1 1 8000 6000")
check "and in periods"

# ---- sums ----

# The channels of a direction add up to its link, but for credits, of which a link lacks none while any channel has them; the periods of a
# channel add up to it. Longest waits of a series are those of tails that have left by its end.
cat >"$t/sums.awk" <<'AWK'
BEGIN { FS = ","; split("packets bytes busy_ps credit_stall_ps queue_max_bytes", name, " ") }
FNR == 1 { split("", column); for (i = 1; i <= NF; i++) column[$i] = i; file++; next }
{
    link = $column["from_kind"] " " $column["from"] " " $column["from_port"]; links[link] = 1
    if (file > 1) channels[link " " $column["channel"]] = 1
    for (i in name) {
        value = $column[name[i]]; object[1] = link; object[2] = link " " $column["channel"]; seen[file, i] += value
        for (o in object) if (name[i] != "queue_max_bytes") sum[file, object[o], i] += value
            else if (value > sum[file, object[o], i]) sum[file, object[o], i] = value
    }
}
END {
    for (o in links) for (i in name) {
        a = sum[1, o, i] + 0; b = sum[2, o, i] + 0
        if (name[i] == "credit_stall_ps" ? b < a : a != b) { print "link", o, name[i], a, b; wrong++ }
    }
    for (o in channels) for (i in name) {
        a = sum[2, o, i] + 0; b = sum[3, o, i] + 0
        if (name[i] == "queue_max_bytes" ? b > a : a != b) { print "channel", o, name[i], a, b; wrong++ }
    }
    for (i in name) if (!seen[1, i] || !seen[2, i] || !seen[3, i]) { print name[i] " is never there"; wrong++ }
    exit wrong > 0
}
AWK
same() { for table in channels channel_series links; do cmp "$1/$table.csv" "$2/$table.csv" || return 1; done; }

number_of=0
some=(2 3 5)
try() { # WHAT KEY=VALUE...: 16 to 64 nodes at a high load with small buffers; a period that no packet's time divides
    local what=$1 keys=(configs/torus-uniform.cfg "run.warmup=0 ns" "run.end=2 us" traffic.load=0.9 topology.extents=4,4 "switch.buffer=1 KiB"
        "output.period=313 ns" "${@:2}") series=(output.series.channels=periods output.series.links=total) n=${some[number_of++ % 3]}
    run -o "$t/a" "${keys[@]}" "${series[@]}" && awk -f "$t/sums.awk" "$t/a/links.csv" "$t/a/channels.csv" "$t/a/channel_series.csv" >"$t/err"
    check "$what: channels add up to links, periods to channels"
    run -o "$t/b" "${keys[@]}" && cmp "$t/b/links.csv" <(cut -d, -f1-14 "$t/a/links.csv") && cmp "$t/b/periods.csv" "$t/a/periods.csv" &&
        [ ! -e "$t/b/channels.csv" ]
    check "$what: nothing else depends on them"
    ranks $n -o "$t/b" "${keys[@]}" "${series[@]}" && same "$t/a" "$t/b" &&
        run -o "$t/b" "${keys[@]}" "${series[@]}" engine.cell_order=shuffled && same "$t/a" "$t/b"
    check "$what: the same on $n ranks, and with cells shuffled"
    ranks 2 -o "$t/b" "${keys[@]}" "${series[@]}" "run.checkpoint.at=701 ns" "run.end=1 us" && ranks 3 --resume "$t/b" -o "$t/c" "run.end=2 us" &&
        same "$t/a" "$t/c"
    check "$what: the same after a checkpoint, on other ranks"
}
try "three dimensions" topology.extents=4,4,4
try "escape channels" routing.algorithm=adaptive
try "FIFO inputs" topology.extents=5,3 switch.queueing=fifo
try "a drawn order, slots lost" switch.arbitration=random switch.matching=separable
try "store and forward to slow nodes" switch.forwarding=store_and_forward "adapter.buffer=2 KiB" "adapter.ejection_rate=10 GB/s"
try "a part of the run is measured" "run.warmup=500 ns" "run.measure=400 ns"
try "two classes" switch.classes=2 traffic.priority=1
try "channels of flows, two adapters to a node" routing.pinning=flow node.adapters=2
try "links that go down"  faults.link_rate=0.1 "faults.at=600 ns" faults.unreachable=drop

# ---- files, costs, refusals ----

keys=(configs/torus-uniform.cfg topology.extents=4,4,4 "run.warmup=0 ns" "run.end=5 us" "output.period=777 ns")
run -o "$t/a" "${keys[@]}" output.series.channels=total && run -o "$t/b" "${keys[@]}" output.series.channels=periods &&
    cmp "$t/a/channels.csv" "$t/b/channels.csv" && [ ! -e "$t/a/channel_series.csv" ] && ! grep -q credit_stall "$t/a/links.csv"
check "totals alone are the same"
"$m" --check "${keys[@]}" output.series.channels=periods >"$t/check" && grep -q 'channel_series.csv gets .* a period at most, .* in all' "$t/check"
check "--check says what they cost"
run "${keys[@]}" output.series.channels=periods "output.period=1 ns" output.series.bytes=1MB 2>"$t/err"
[ $? -eq 2 ] && grep -q 'output.period.*too short: channel_series.csv .* give [0-9.]* ns or more' "$t/err"
check "a period that is too short is refused with one that fits"
[ "$number" -gt 0 ]
