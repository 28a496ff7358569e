#!/bin/bash
# Series of links in periods: they add up to links.csv, are the same on any number of ranks, in any order of the cells, and when a run
# was killed and continues; what they cost is said before, and what they cannot be is refused.
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
    "output.period=777 ns" output.series.links=periods)

run -o "$t/a" "${torus[@]}" || exit 1
# The sums over the periods of each direction are the totals. The longest wait is that of packets whose tails have left by the
# end, so that it may be shorter than the total.
cat >"$t/sums.awk" <<'AWK'
BEGIN { FS = ","; split("packets bytes busy_ps credit_stall_ps queue_max_bytes", name, " ") }
FNR == 1 { split("", column); for (i = 1; i <= NF; i++) column[$i] = i; file++; next }
{
    link = $column["from_kind"] " " $column["from"] " " $column["from_port"]
    known[link] = 1
    for (i in name) {
        value = $column[name[i]]
        if (name[i] != "queue_max_bytes") sum[file, link, i] += value
        else if (value > sum[file, link, i]) sum[file, link, i] = value
        seen[i] += value
    }
}
END {
    for (link in known) for (i in name) {
        a = sum[1, link, i]; b = sum[2, link, i]
        if (name[i] == "queue_max_bytes" ? b > a : a != b) { print link, name[i], a, b; wrong = 1 }
    }
    for (i in name) if (!seen[i]) { print name[i] " is never there"; wrong = 1 }
    exit wrong
}
AWK
awk -f "$t/sums.awk" "$t/a/links.csv" "$t/a/link_series.csv"
check "periods add up to links.csv"
# A link that has had work all the time was busy for the length of every period but the last, which is shorter.
awk -F, 'NR > 1 && $7 > ($1 == 5000000 ? 338000 : 777000) { print; wrong = 1 } NR > 1 && $12 > 777000 { print; wrong = 1 }
    NR > 1 { ends[$1] } END { for (e in ends) n++; exit wrong || n != 7 }' "$t/a/link_series.csv"
check "no link is busy, or lacks credits, for longer than a period"
for n in 2 3 5; do
    ranks $n -o "$t/b" "${torus[@]}" && cmp "$t/a/link_series.csv" "$t/b/link_series.csv" && cmp "$t/a/links.csv" "$t/b/links.csv"
    check "the same on $n ranks"
done
for order in backward shuffled; do
    run -o "$t/b" "${torus[@]}" engine.cell_order=$order && cmp "$t/a/link_series.csv" "$t/b/link_series.csv"
    check "the same with cells $order"
done
run -o "$t/b" "${torus[@]}" output.series.links=off && cmp <(cut -d, -f1-14 "$t/a/links.csv") "$t/b/links.csv" &&
    cmp "$t/a/periods.csv" "$t/b/periods.csv" && [ ! -e "$t/b/link_series.csv" ]
check "nothing else depends on them"
# The checkpoint lies inside a period and inside transmissions.
ranks 2 -o "$t/b" "${torus[@]}" "run.checkpoint.at=1301 ns" "run.end=2 us" && ranks 3 --resume "$t/b" -o "$t/c" "run.end=5 us" &&
    cmp "$t/a/link_series.csv" "$t/c/link_series.csv" && cmp "$t/a/links.csv" "$t/c/links.csv"
check "the same after a checkpoint, on other ranks"
# Killed while it writes: whole rows of whole periods are there.
("$m" -q -o "$t/k" "${torus[@]}" "run.end=1 s" output.series.bytes=1TB partition.bind=no & echo $! >"$t/pid"; wait) 2>/dev/null &
for _ in $(seq 300); do [ "$(cat "$t/k/link_series.csv" 2>/dev/null | wc -l || echo 0)" -gt 2000 ] && break; sleep 0.1; done
kill -9 "$(cat "$t/pid")"; wait
last=$(tail -n 1 "$t/k/periods.csv" | cut -d, -f1)
awk -F, -v last="$last" 'NR == FNR { if ($1 <= 4662000) want[$0]; next } $1 <= 4662000 { delete want[$0] }
    END { for (row in want) { print row; exit 1 } }' "$t/a/link_series.csv" "$t/k/link_series.csv" && [ "$last" -ge 4662000 ]
check "a run that was killed leaves the periods before"
grep -q '"nodes": 64' "$t/k/started.json" && grep -q '"run.end=1 s"' "$t/k/started.json" && [ ! -e "$t/k/summary.json" ] &&
    run --check "$t/k/system.cfg" >"$t/check" 2>"$t/err" && [ ! -e "$t/a/started.json" ] && run -o "$t/d" "$t/k/system.cfg" "run.end=5 us" &&
    cmp "$t/a/links.csv" "$t/d/links.csv"
check "and what it was of: its configuration can be run again"

refused 'output.series.links.*output.period is 0' configs/torus-uniform.cfg output.series.links=periods
check "periods want a period"
refused 'output.period.*too short.*give [0-9.]* ns or more' configs/torus-uniform.cfg output.series.links=periods "output.period=1 ns" \
    output.series.bytes=10MB
check "a period that is too short is refused with one that fits"
fits=$(run configs/torus-uniform.cfg output.series.links=periods "output.period=1 ns" output.series.bytes=10MB 2>&1 |
    sed 's/.*give \(.*\) or more.*/\1/')
"$m" --check configs/torus-uniform.cfg output.series.links=periods "output.period=$fits" output.series.bytes=10MB >"$t/check" 2>"$t/err" &&
    grep -q '^series  .*of memory; link_series.csv gets .* a period at most, .* in all' "$t/check"
check "which does fit; --check says what it costs"
refused 'output.series.link' configs/torus-uniform.cfg output.series.link=periods
check "an object that there is not is refused"
refused 'output.series.links' configs/torus-uniform.cfg output.series.links=sometimes
check "so is what cannot be collected"
# Without a known end the file ends when it is full, in whole periods, and the run continues.
run -o "$t/f" configs/star-pingpong.cfg jobs[0].steps=5000 output.series.links=periods "output.period=10 ns" "output.series.bytes=1 MB" 2>"$t/err" &&
    grep -q 'link_series.csv ends at' "$t/err" && [ "$(stat -c %s "$t/f/link_series.csv")" -lt 1100000 ]
check "a file that is full ends with a warning"
[ "$number" -gt 0 ]
