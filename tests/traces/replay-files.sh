#!/bin/bash
# Calls on files of traces, which travel to the servers of storage: tests/traces/replay-files.sh
#
# tests/traces/files/files.c is traced by marstrace, and what its tasks ask the servers for has to be what it did. Then the same bits on any number of
# ranks, and resumed. What ROMIO asks for is tests/storage/romio.sh.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
marstrace=$(dirname "$marssim")/marstrace
mpicc -O1 -o "$t/files" tests/traces/files/files.c >"$t/err" 2>&1 || { echo "SKIP: no mpicc"; exit 0; }
romio=()
ompi_info 2>/dev/null | grep -q 'MCA io: romio321' && romio=(--mca io romio321)
mkdir "$t/data"
(cd "$t" && mpirun -n 4 "${romio[@]}" "$marstrace" --io -o t ./files data) >"$t/err" 2>&1
check "the program is traced"

cat >"$t/c.cfg" <<'END2'
topology: { kind = "star"; nodes = 5; bandwidth = "1 GB/s"; latency = "100 ns"; };
storage: { servers: { nodes = "4"; }; device: { kind = "memory"; rate = "1 GB/s"; }; };
jobs = ( { program = "trace"; trace = "t"; } );
output: { requests = true; };
END2
run -o "$t/out" "$t/c.cfg"
check "and replayed"
# What a task asked for, file after file in the order in which it was opened: a letter, offset and bytes.
asked() { # TASK [FOLDER]
    awk -F, -v node="$1" 'NR > 1 && $3 == node { if (!($5 in number)) { number[$5] = ++files; printf "%s", (files > 1 ? "| " : "") }
        printf "%s ", $4 ~ /write|read/ ? substr($4, 1, 1) $6 "+" $7 : substr($4, 1, 2) }' "${2:-$t/out}/requests.csv"
}
# Task r: 1000 bytes at 1000 r; 15 to 44 of a view of 10 at 0 and 20 at 40 of 400, from 10000 + 100 r on; 100 + r by the shared pointer, in turn; 406 is
# where the ordered ones begin, of 50 (4 - r) bytes; 10 bytes each behind 896. Then task 0 appends 7 and rewrites the last 3. Of each half the first task
# has the lower 1000 of 2000 bytes, twice; then both read all 4000, of which it has the lower half, in two rounds.
for r in 0 1 2 3; do
    ordered=$((406 + 200 * r - 50 * (r * (r - 1) / 2))) shared=$((100 * r + r * (r - 1) / 2))
    wanted="op w$((1000 * r))+1000 w$((10045 + 100 * r))+15 w$((10400 + 100 * r))+10 w$((10440 + 100 * r))+5 w$((20000 + shared))+$((100 + r)) "
    wanted+="w$((20000 + ordered))+$((50 * (4 - r))) w$((20896 + 10 * r))+10 sy cl "
    [ $r = 0 ] && wanted+="op w20936+7 w20940+3 sy cl "
    wanted+="| op w$((r % 2 * 1000))+1000 w$((2000 + r % 2 * 1000))+1000 r$((r % 2 * 2000))+1000 r$((r % 2 * 2000 + 1000))+1000 sy cl "
    wanted+="| op w0+3000 r1000+500 w8000+200 sy cl op w8200+90 sy cl "
    got=$(asked $r; echo .)
    [ "${got%.}" = "$wanted" ] || { echo "$got"; echo "$wanted"; } >"$t/err"
    [ "${got%.}" = "$wanted" ]
    check "what task $r asks for"
done
awk -F, 'NR > 1 && $4 == "open" { opened[$5]++ } END { for (f in opened) { files++; if (opened[f] == 5) shared++ } exit !(files == 7 && shared == 1) }' "$t/out/requests.csv"
check "all tasks have the same file"
marsconv=$(dirname "$marssim")/marsconv
"$marsconv" --to mars "$t/t" "$t/again" >"$t/err" 2>&1 && run -o "$t/again.out" "$t/c.cfg" 'jobs[0].trace="again"' && cmp "$t/out/requests.csv" "$t/again.out/requests.csv"
check "converted, it says the same"
run -o "$t/traced" "$t/c.cfg" 'jobs[0].io="traced"' && [ "$(wc -l <"$t/traced/requests.csv")" = 1 ]
check "with traced times nothing travels"
sed '/^storage/d; /^output/d; s/trace = "t";/& io = "modelled";/' "$t/c.cfg" >"$t/none.cfg"
"$m" -q -o "$t/bad" "$t/none.cfg" >"$t/err" 2>&1; [ $? -eq 2 ] && grep -q 'needs file servers' "$t/err"
check "refused: nothing to travel to"
# POSIX reads 500 bytes at 1000 of what it has written: they are there; of a file that is said to have 1200 before, and that nobody writes, 200.
run -o "$t/two" "$t/c.cfg" topology.nodes=9 'storage.servers.nodes="8"' "jobs[1]={ program = \"trace\"; trace = \"$t/t\"; }" 2>/dev/null ||
    { sed 's/nodes = 5/nodes = 9/; s/nodes = "4"/nodes = "8"/; s/} );/}, { program = "trace"; trace = "t"; } );/' "$t/c.cfg" >"$t/two.cfg"; run -o "$t/two" "$t/two.cfg"; }
[ "$(tail -n +2 "$t/two/requests.csv" | cut -d, -f5 | sort -u | wc -l)" = 7 ]
check "two jobs have the same files"

cat >"$t/all.cfg" <<'END2'
topology: { kind = "star"; nodes = 11; bandwidth = "1 GB/s"; latency = "1 us"; };
storage: {
    servers: { nodes = "2,8-10"; cache_bytes = "8 kB"; };
    device: { kind = "disk"; rate = "100 MB/s"; };
    layout: { stripe_size = "1500 B"; stripe_count = 3; };
    chunk = "1 kB"; window = 2;
    files = ( { name = "data/p-0"; bytes = "1 kB"; } );
};
jobs = ( { program = "trace"; trace = "t"; }, { program = "trace"; trace = "t"; start = "500 us"; }, { program = "ior"; tasks = 3; transfer = "4 kB"; } );
output: { requests = true; waits = true; };
END2
same_bits() { all_alike "$1" "$t/all.cfg" "${@:2}"; }
same_bits "two jobs with the same files beside an ior"
same_bits "without a cache, by simulated sources" storage.servers.cache_policy=none 'jobs[0].wildcards="simulated"' 'jobs[0].trace_memory="0 B"'
