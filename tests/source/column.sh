#!/bin/bash
# A column of links.csv and one of tasks.csv, added by the edit that CONTRIBUTING.md names: one line in the list of columns
# of the file that knows the value. They are in the CSV and JSON files and in --help-results, on 1 and 3 ranks alike.
# Only these two files are compiled, with the build's own flags, and linked before the library.
set -u
cd "$(dirname "$0")/../.." || exit 2
marssim=$(realpath "${MARSSIM:-./marssim}")
build=$(dirname "$marssim")
[ -s "$build/flags" ] && [ -s "$build/libmarssim.a" ] && [ -s "$build/marssim.o" ] ||
    { echo "SKIP: no objects beside $marssim"; exit 0; }
. tests/lib-script.sh
. tests/libcsv.sh
insert() { # FILE BEHIND LINE: one line behind the first that has BEHIND
    awk -v behind="$2" -v line="$3" '{ print } !done && index($0, behind) { print line; done = 1 } END { exit !done }' "$1" >"$work/${1//\//_}"
}

insert net/links.c 'COLUMN(packets,' \
    '    COLUMN(idle_ps, "ps", U64, SUM, 7 * COUNTED(packets), "seven for each packet") \\'  &&
    insert tasks/mpi/table.c 'COLUMN(core,' \
        '    COLUMN(twice_sent, "bytes", U64, SUM, 2 * row->bytes_sent, "twice what was sent") \\'
check "one line each is added"
read -ra flags <"$build/flags"
libraries="$(mpicc --showme:link) $(pkg-config --libs libconfig jansson gsl hwloc libzstd) $(pkg-config --libs otf2 2>/dev/null) -lmetis -lm"
"${flags[@]}" -c -o "$work/links.o" "$work/net_links.c" >"$work/err" 2>&1 &&
    "${flags[@]}" -c -o "$work/table.o" "$work/tasks_mpi_table.c" >>"$work/err" 2>&1 &&
    "${flags[@]}" -o "$work/marssim" "$build/marssim.o" "$work/links.o" "$work/table.o" "$build/libmarssim.a" $libraries >>"$work/err" 2>&1
check "nothing else has to be compiled"

cat >"$work/run.cfg" <<'END'
topology: { kind = "torus"; extents = [4, 2]; bandwidth = "1 GB/s"; latency = "10 ns"; };
jobs = ( { program = "pingpong"; steps = 3; } );
partition: { oversubscribe = true; };
END
"$work/marssim" --help-results >"$work/help" 2>"$work/err"
grep -q '^  idle_ps  *ps  *integer  *sum  *seven for each packet$' "$work/help" && grep -q '^  twice_sent  *bytes ' "$work/help"
check "--help-results has them"
"$work/marssim" -q -o "$work/one" "$work/run.cfg" 2>"$work/err" &&
    [ "$(csv_columns "$work/one/links.csv" packets idle_ps | awk -F, '$1 > 0 { used++ } $2 != 7 * $1 { wrong++ } END { print (used > 0) + 0, wrong + 0 }')" = "1 0" ] &&
    [ "$(csv_columns "$work/one/tasks.csv" bytes_sent twice_sent | awk -F, '$1 > 0 { used++ } $2 != 2 * $1 { wrong++ } END { print (used > 0) + 0, wrong + 0 }')" = "1 0" ]
check "the files have their values"
mpirun -n 3 "$work/marssim" -q -o "$work/three" "$work/run.cfg" partition.oversubscribe=true >"$work/err" 2>&1 &&
    cmp "$work/one/links.csv" "$work/three/links.csv" && cmp "$work/one/tasks.csv" "$work/three/tasks.csv"
check "the same on 3 ranks"
"$work/marssim" -q -o "$work/json" "$work/run.cfg" output.tables=json 2>"$work/err" &&
    jq -e '.columns | map(.name) | index("idle_ps")' "$work/json/links.json" >"$work/err"
check "and as JSON"
