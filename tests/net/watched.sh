#!/bin/bash
# What is collected in periods changes nothing: saturated networks give the same results with series and without. With series every packet
# goes through the queues of its source and of its outputs, all of which are looked through; without, sources by themselves, packets that
# nothing is in the way of, and outputs that lack credits have short paths. Sizes are mixed, and buffers hold a few packets.
set -u
. tests/lib-script.sh
small="traffic.size_law=exponential adapter.header=16B run.end=20us"
hierarchy="configs/hierarchical-gups-65536.cfg topology.groups=4,2,3 traffic.pattern=uniform switch.channels=8"
dragonfly="bench/u-dragonfly-1056.cfg topology.groups=4,9 topology.nodes_per_switch=2 switch.channels=6 traffic.messages=60"
tree="bench/u-fat-tree-1024.cfg topology.radix=8 traffic.interval=330ns switch.buffer=8KiB traffic.messages=40"
torus="bench/torus-dense.cfg topology.extents=4,4,4 traffic.load=1 run.warmup=0ns"

same() { # NAME CONFIGURATION OVERRIDES...
    for series in off total; do
        "$marssim" -q -o "$work/$series" "${@:2}" output.series.links=$series output.series.adapters=$series 2>"$work/err" ||
            { verdict "cannot be run" "$1"; return; }
        jq -S .result "$work/$series/summary.json" >"$work/$series.json"
    done
    cmp -s "$work/off.json" "$work/total.json" && [ "$(jq .packets_delivered "$work/off.json")" -gt 1000 ]
    check "$1"
}

same "a hierarchy, messages of one to many packets" $hierarchy $small
same "the same, the oldest first" $hierarchy $small switch.arbitration=oldest
same "the same, at random, to a few nodes" $hierarchy $small switch.arbitration=random traffic.pattern=hotspot traffic.hotspots=3,4
same "packets of 64 bytes" $hierarchy adapter.packet_size=64B traffic.size=64B run.end=6us
for algorithm in ugal par ugal_piggyback; do
    same "a dragonfly, $algorithm" $dragonfly routing.algorithm=$algorithm traffic.interval=330ns switch.buffer=8KiB
done
same "ugal via groups, adversarial" $dragonfly routing.algorithm=ugal routing.valiant=group traffic.pattern=adversarial switch.buffer=8KiB
same "a fat tree, three channels" $tree switch.channels=3 traffic.size_law=exponential adapter.header=24B
same "a fat tree with limits of life" $tree switch.head_life=0 switch.packet_life=1
same "separable matching" $tree switch.matching=separable
same "a torus of two classes, credits at intervals" $torus run.end=3us switch.credit_interval=100ns switch.classes=2 traffic.priority=1
same "credits of whole blocks, bursts" $torus run.end=3us switch.buffer=1KiB switch.credit_unit=256B traffic.arrival=burst
