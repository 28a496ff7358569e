#!/bin/bash
# The studies that are shipped: tests/tools/studies.sh
#
# All points of each are what marssweep takes them for, and as many as the text says; the quick points run, and give tables with the columns of those that are
# shipped. LONG=1: of every study, else of the cheap ones. What a sweep does with them is tested by tests/tools/marssweep.sh.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
sweep=$(dirname "$marssim")/marssweep
[ -x "$sweep" ] || { echo "SKIP: built without SQLite"; exit 0; }
command -v gnuplot >/dev/null || { echo "SKIP: gnuplot is missing (tools/install-deps.sh studies)"; exit 0; }
shown=$work/log

for folder in studies/*/; do
    name=$(basename "$folder") out=$work/$(basename "$folder")
    grep -q "^    make study-$name  " "$folder/README.md" && [ -s "$folder/figure.svg" ] && [ -n "$(ls "$folder"/*.csv)" ]
    check "$name: the text, tables and a figure are there"
    "$sweep" -o "$out-all" --slurm "$folder/$name.cfg" >"$shown" 2>&1 &&
        grep -q "($(sed -n 's/^# \([0-9]*\) points;.*/\1/p' "$out-all/sweep.sbatch") points" "$folder/README.md"
    check "$name: its points, as many as the text says"
    [ -n "${LONG:-}" ] || [[ " gups loggops noise progress " == *" $name "* ]] || continue
    "$sweep" -q -o "$out" --quick "$folder/$name.cfg" >"$shown" 2>&1 && grep -q '<svg' "$out/figure.svg"
    check "$name: a few of them, with a figure"
    for table in "$folder"/*.csv; do
        diff <(head -n 1 "$table") <(head -n 1 "$out/$(basename "$table")") >"$shown" && [ "$(wc -l <"$out/$(basename "$table")")" -gt 1 ] || break
    done
    check "$name: tables with the columns of those that are shipped"
done
