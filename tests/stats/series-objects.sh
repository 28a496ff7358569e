#!/bin/bash
# Series of switches and of adapters: they add up to links.csv, are the same on any number of ranks, in any order of the cells and after a
# checkpoint, of one adapter to a node and of two, and change nothing else.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
m=$marssim t=$work
run() { "$m" -q "$@" partition.bind=no; }
ranks() { # RANKS ARGUMENTS
    mpirun -n "$1" "$m" -q "${@:2}" partition.adapt=false partition.oversubscribe=true partition.bind=no 2>"$t/err"
}
# Small buffers and a high load, so that credits are missing; a period that no packet's time divides.
torus=(configs/torus-uniform.cfg topology.extents=4,4,4 "run.warmup=0 ns" "run.end=5 us" traffic.load=0.95 "switch.buffer=1 KiB"
    "output.period=777 ns")
rails=("${torus[@]}" node.adapters=2)
tables="switches.csv switch_series.csv adapters.csv adapter_series.csv"
series=(output.series.switches=periods output.series.adapters=periods)
same() { for table in $tables links.csv; do cmp "$1/$table" "$2/$table" || return 1; done; }

# Each total is that of the links of the switch, or of the adapter; each column of a series, of its periods. Longest waits are those of the
# largest row.
cat >"$t/sums.awk" <<'AWK'
BEGIN { FS = "," }
FNR == 1 { split("", c); for (i = 1; i <= NF; i++) c[$i] = i; file++; next }
function want(object, name, value) { sum[object, name] += value; known[object, name] = 1 }
function most(object, name, value) { if (value > sum[object, name]) sum[object, name] = value; known[object, name] = 1 }
file == 1 && $c["from_kind"] == "switch" {
    s = "switch " $c["from"]
    want(s, "packets", $c["packets"]); want(s, "bytes", $c["bytes"]); want(s, "busy_ps", $c["busy_ps"]); want(s, "outputs", 1)
    most(s, "queue_max_bytes", $c["queue_max_bytes"]); want(s, "credit_stall_ps", $c["credit_stall_ps"])
    if ($c["to_kind"] == "node") {
        a = "adapter " $c["to"] " " $c["to_port"]
        want(a, "packets_received", $c["packets"]); want(a, "bytes_received", $c["bytes"]); want(a, "receiving_ps", $c["busy_ps"])
    }
}
file == 1 && $c["from_kind"] == "node" {
    a = "adapter " $c["from"] " " $c["from_port"]
    want(a, "packets_sent", $c["packets"]); want(a, "bytes_sent", $c["bytes"]); want(a, "sending_ps", $c["busy_ps"])
    want(a, "credit_stall_ps", $c["credit_stall_ps"])
}
file > 1 {
    object = "switch" in c ? "switch " $c["switch"] : "adapter " $c["node"] " " $c["adapter"]
    for (name in c) {
        if (name ~ /_max_/) { if ($c[name] > got[file, object, name]) got[file, object, name] = $c[name] }
        else got[file, object, name] += $c[name]
    }
    if (!("time_ps" in c) && object ~ /adapter/) sum[object, "wait_max_ps"] = $c["wait_max_ps"]
}
END {
    for (pair in known) {
        split(pair, p, SUBSEP)
        for (f = p[1] ~ /switch/ ? 2 : 4; f <= (p[1] ~ /switch/ ? 3 : 5); f++) {
            is = got[f, p[1], p[2]]; count++
            if (p[2] == "outputs" && f == 3) continue
            if (p[2] ~ /_max_/ && f == 3 ? is > sum[pair] : is != sum[pair]) { print f, p[1], p[2], is, sum[pair]; wrong = 1 }
            if (sum[pair]) seen[p[2]] = 1
        }
    }
    for (o in got) { split(o, p, SUBSEP); if (p[1] == 5 && p[3] == "wait_max_ps" && got[o] != sum[p[2], p[3]]) { print o; wrong = 1 } }
    n = split("packets bytes busy_ps queue_max_bytes credit_stall_ps packets_received sending_ps receiving_ps", names, " ")
    for (i = 1; i <= n; i++) if (!seen[names[i]]) { print names[i] " is never there"; wrong = 1 }
    exit wrong || count < 1000
}
AWK
add_up() { awk -f "$t/sums.awk" "$1/links.csv" "$1/switches.csv" "$1/switch_series.csv" "$1/adapters.csv" "$1/adapter_series.csv"; }

for system in torus rails; do
    declare -n keys=$system
    run -o "$t/a" "${keys[@]}" "${series[@]}" output.series.links=total && add_up "$t/a"
    check "$system: switches and adapters add up to their links, in all and over the periods"
    for n in 2 3 5; do
        ranks $n -o "$t/b" "${keys[@]}" "${series[@]}" output.series.links=total && same "$t/a" "$t/b"
        check "$system: the same on $n ranks"
    done
    run -o "$t/b" "${keys[@]}" "${series[@]}" output.series.links=total engine.cell_order=shuffled && same "$t/a" "$t/b"
    check "$system: the same with cells shuffled"
    ranks 2 -o "$t/b" "${keys[@]}" "${series[@]}" output.series.links=total "run.checkpoint.at=1301 ns" "run.end=2 us" &&
        ranks 3 --resume "$t/b" -o "$t/c" "run.end=5 us" && same "$t/a" "$t/c"
    check "$system: the same after a checkpoint, on other ranks"
done
[ "$(tail -n 1 "$t/a/adapters.csv" | cut -d, -f1,2)" = 63,1 ]
check "rows name the adapter of a node"
run -o "$t/b" "${rails[@]}" && cmp "$t/b/links.csv" <(cut -d, -f1-14 "$t/a/links.csv") && cmp "$t/b/periods.csv" "$t/a/periods.csv" &&
    [ ! -e "$t/b/switches.csv" ] && [ ! -e "$t/b/adapter_series.csv" ]
check "nothing else depends on them"
run -o "$t/b" "${rails[@]}" output.series.switches=total output.series.adapters=total output.series.links=total &&
    cmp "$t/a/switches.csv" "$t/b/switches.csv" && [ ! -e "$t/b/switch_series.csv" ] && [ ! -e "$t/b/adapter_series.csv" ] &&
    cmp "$t/a/adapters.csv" "$t/b/adapters.csv"
check "without periods the totals are the same"
# One of them alone: not links.csv's column, nor anything of the others.
run -o "$t/b" "${rails[@]}" output.series.switches=periods && cmp "$t/a/switch_series.csv" "$t/b/switch_series.csv" &&
    ! grep -q credit_stall "$t/b/links.csv" && [ ! -e "$t/b/adapters.csv" ]
check "switches alone"
"$m" --check "${rails[@]}" "${series[@]}" >"$t/check" && grep -q 'switch_series.csv gets .* a period at most, .* in all' "$t/check" &&
    grep -q 'adapter_series.csv gets .* a period at most, .* in all' "$t/check"
check "--check says what each costs"
run "${rails[@]}" output.series.adapters=periods "output.period=1 ns" output.series.bytes=1MB 2>"$t/err"
[ $? -eq 2 ] && grep -q 'output.period.*too short: adapter_series.csv .* give [0-9.]* ns or more' "$t/err"
check "a period that is too short is refused with one that fits"
[ "$number" -gt 0 ]
