#!/bin/bash
# tiles.sh: racks that are handled several windows at a time (kernel/engine/tiles.h) have the results of those that are not, with and without congestion control, in
# every order of cells, on ranks, and when a saved run continues with others. So have slabs of a torus, through which a wave goes.
. tests/lib-runs.sh
gups=(configs/hierarchical-gups.cfg run.warmup="0 ns" run.end="3 us" output.links=true)
ecn=(congestion.control=ecn congestion.threshold="1 KiB" congestion.threshold_high="2 KiB")
# flows are throttled, recover and are forgotten within the windows that a tile runs by itself: what is forgotten must be idle for the slowest tile
evict=(traffic.size=2048B congestion.control=ecn congestion.threshold=512B congestion.mark=all congestion.cnp_gap="300 ns" congestion.recovery="10 ns"
    congestion.increase=0.5)
equal() { cmp "$1/links.csv" "$2/links.csv" && cmp <(jq -S .result "$1/summary.json") <(jq -S .result "$2/summary.json"); }
tiles() { "$m" --check "${gups[@]}" "$@" 2>"$t/err" | sed -n 's/^lookahead .*; \([0-9]*\) tiles.*/\1/p'; }

[ "$(tiles engine.block=32)" = 4 ] && [ "$(tiles engine.block=128)" = "" ] && [ "$(tiles)" = "" ]
check "four racks are four tiles, where a block has room for one"
[ "$(tiles engine.block=32 topology.latency='["30 ns", "30 ns", "30 ns"]')" = "" ]
check "none where racks are as near as switches of one"

# NAME BLOCK KEYS...: the same with tiles of such blocks, in every order of cells, on ranks, and after a checkpoint.
same() {
    local name=$1 block=$2 keys=("${@:3}") order n
    run -o "$t/one" "${keys[@]}"
    check "$name: without tiles"
    for order in forward backward shuffled; do
        run -o "$t/tiled" "${keys[@]}" engine.block=$block engine.cell_order=$order && equal "$t/one" "$t/tiled"
        check "$name: $order"
    done
    for n in 2 3 5; do
        ranks $n -o "$t/many" "${keys[@]}" engine.block=8 && equal "$t/one" "$t/many"
        check "$name: on $n ranks"
    done
    rm -rf "$t/saved"
    run -o "$t/saved" "${keys[@]}" engine.block=$block run.checkpoint.at="[777 ns, 2 us]" && equal "$t/one" "$t/saved" &&
        run --resume "$(ls -d "$t"/saved/checkpoints/checkpoint-* | head -n 1)" -o "$t/resumed" engine.block=0 && equal "$t/one" "$t/resumed" &&
        ranks 2 --resume "$t/saved/checkpoints" -o "$t/resumed" engine.block=16 && equal "$t/one" "$t/resumed"
    check "$name: saved, and resumed without tiles and with others"
}
same none 32 "${gups[@]}"
same ecn 32 "${gups[@]}" "${ecn[@]}"
same evict 32 "${gups[@]}" "${evict[@]}"

torus=(configs/torus-uniform.cfg run.warmup="0 ns" run.end="3 us" output.links=true)
slabs() { "$m" --check "${torus[@]}" "$@" 2>"$t/err" | sed -n 's/^lookahead .*; \([0-9]*\) tiles.*/\1/p'; }
[ "$(slabs topology.extents=3,2,9 engine.block=8)" = 9 ] && [ "$(slabs topology.extents=3,2,7 engine.block=8)" = "" ] &&
    [ "$(slabs topology.extents=3,2,9)" = "" ] && [ "$(slabs topology.extents=64,64,32 run.end=3us)" = 32 ]
check "slabs of a torus are tiles where there are eight, and those of a large one without being asked for"
same slabs 8 "${torus[@]}" topology.extents=3,2,9
same "a ring of slabs with holes" 16 "${torus[@]}" topology.extents=5,5,17 topology.nodes_per_switch=2
same mesh 8 "${torus[@]}" topology.extents=4,4,12 topology.wrap=false "${ecn[@]}"
same "no slab is closed" 8 "${torus[@]}" topology.extents=2,40 routing.algorithm=adaptive
