#!/bin/bash
# tools/python/marsresult.py reads what a run has left, be it CSV, JSON or results.h5; results.h5 is the same on any number of ranks and
# when a run is resumed from a checkpoint.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
t=$work
has_hdf5 || exit 0
python=""
for p in python3 /usr/bin/python3; do
    "$p" -c 'import h5py, pandas' 2>/dev/null && python=$p && break
done
run() { "$marssim" -q "$@" partition.bind=no; }
ranks() { # RANKS ARGUMENTS
    mpirun -n "$1" "$marssim" -q "${@:2}" partition.bind=no 2>"$t/err"
}
system=(configs/torus-uniform.cfg topology.extents=4,4,4 "run.warmup=0 ns" "run.end=5 us" traffic.load=0.9 "output.period=777 ns"
    output.series.links=periods output.series.switches=periods output.series.adapters=periods output.matrix=true partition.adapt=false partition.oversubscribe=true)

run -o "$t/csv" "${system[@]}" || exit 1
saved=("${system[@]}" "run.checkpoint.at=1301 ns" output.hdf5=true)
run -o "$t/h5" "${saved[@]}" || exit 1
[ ! -e "$t/h5/link_series.csv" ] && [ -e "$t/h5/links.csv" ]
check "with results.h5 series are not written as CSV, tables are"
for n in 2 3 5; do
    ranks $n -o "$t/b" "${saved[@]}" && cmp "$t/h5/results.h5" "$t/b/results.h5"
    check "results.h5 is the same on $n ranks"
done
ranks 3 --resume "$t/b" -o "$t/c" && cmp "$t/h5/results.h5" "$t/c/results.h5"
check "and when the run continues from a checkpoint"
run -o "$t/first" "${system[@]}" output.hdf5=true "run.checkpoint.at=301 ns" && ranks 2 --resume "$t/first" -o "$t/c" && cmp "$t/first/results.h5" "$t/c/results.h5"
check "also from one in the first period"
mkdir "$t/b/results.h5.tmp" && run --resume "$t/b" -o "$t/b" 2>"$t/err"
[ $? -eq 2 ] && grep -q 'results.h5.tmp' "$t/err"
check "what is in its way is refused"
run -o "$t/nan" configs/star-pingpong.cfg output.hdf5=true "run.end=3 us" output.tables=json || exit 1
if [ -z "$python" ]; then
    echo "SKIP: no python3 with h5py and pandas"
    exit 0
fi
("$marssim" -q -o "$t/k" "${system[@]}" output.hdf5=true "run.end=1 s" output.series.bytes=1TB partition.bind=no & echo $! >"$t/pid"; wait) 2>/dev/null &
for _ in $(seq 300); do [ "$(cat "$t/k/periods.csv" 2>/dev/null | wc -l)" -gt 8 ] && break; sleep 0.1; done
kill -9 "$(cat "$t/pid")"; wait

PYTHONPATH=tools/python "$python" - "$t" <<'PY' >"$t/said" 2>&1
import sys
import marsresult, pandas
t = sys.argv[1]
csv, h5 = marsresult.read(t + "/csv"), marsresult.read(t + "/h5")
assert not csv.partial and csv.result["nodes"] == 64 and "extents" in csv.configuration
def same(a, b):
    assert list(a.columns) == list(b.columns), (list(a.columns), list(b.columns))
    for c in a.columns:
        if a[c].dtype.kind == "f" or b[c].dtype.kind == "f":
            assert (a[c].astype(float) - b[c].astype(float)).abs().max() <= 0.500001, c # CSV is rounded
        else:
            assert (a[c] == b[c]).all(), c
for name in ("link_series", "switch_series", "adapter_series"):
    same(csv[name], h5[name])
for name in ("links", "switches", "adapters", "matrix", "packet_latency", "periods"):
    with h5._hdf5() as file:
        same(csv[name], h5._hdf5_table(file[name], name))
assert h5.units("link_series")["busy_ps"] == "ps"
assert csv.series("adapter_series", "sending_ps").to_numpy().sum() == csv["adapters"]["sending_ps"].sum()
assert csv.series("switch_series", "busy_ps").shape == (7, 64)
busy = csv.series("link_series", "busy_ps")
assert busy.shape == (7, len(csv["links"])), busy.shape
assert int(busy.to_numpy().sum()) == int(csv["links"]["busy_ps"].sum())
killed = marsresult.read(t + "/k")
assert killed.partial and killed.state == "killed" and csv.state == "ended" and (killed["link_series"]["time_ps"] <= 4662000).any()
assert killed.result["nodes"] == 64 and killed.input["seed"] == csv.input["seed"] and "started" not in killed.tables
some = killed["link_series"].query("time_ps == 777000").reset_index(drop=True)
same(some, csv["link_series"].query("time_ps == 777000").reset_index(drop=True))
tasks = marsresult.read(t + "/nan")["tasks"]
assert tasks["finish_ps"].isna().all() and str(tasks["finish_ps"].dtype) == "Int64", tasks
with marsresult.read(t + "/nan")._hdf5() as file:
    assert marsresult.read(t + "/nan")._hdf5_table(file["tasks"], "tasks")["finish_ps"].isna().all()
for folder, words in ((t + "/none", "no such folder"), (t + "/empty", "no results"), (t + "/bad", "no summary")):
    import os
    if not folder.endswith("none"):
        os.mkdir(folder)
    if folder.endswith("bad"):
        open(folder + "/summary.json", "w").write("[1]")
    try:
        marsresult.read(folder)
    except marsresult.Error as error:
        assert words in str(error), error
    else:
        raise AssertionError(folder)
try:
    csv["switches_of_gold"]
except marsresult.Error as error:
    assert "link_series" in str(error)
print("all good")
PY
grep -q 'all good' "$t/said" || shown=$t/said
grep -q 'all good' "$t/said"
check "tables are the same from CSV, JSON and results.h5, of a run that was killed, too; bad folders are told"
