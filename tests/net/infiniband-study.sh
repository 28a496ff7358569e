#!/bin/bash
# A thesis that coupled LogGOPSim with a model of InfiniBand's link layer: tests/net/infiniband-study.sh
#
# The quick points of studies/infiniband have all of its tables, with deviations in percent (studies/infiniband/README.md): finish times of a dissemination on
# three networks within 3 %, their standard deviation within 6 %; of rings on four fat trees within 3 %; travel times of ten sizes, the arrivals of the logged
# ping-pong and its end within 2 %.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
sweep=$(dirname "$marssim")/marssweep
[ -x "$sweep" ] || { echo "SKIP: built without SQLite"; exit 0; }
shown=$work/log

# NAME TABLE ROWS CONDITION: as many rows, each of which meets this condition of awk over the columns c["NAME"]
rows() {
    awk -F, -v n="$3" 'function off(a, b) { a = a / b - 1; return 100 * (a < 0 ? -a : a) } function most(a, b) { return (a < 0 ? -a : a) <= b }
        NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
        { for (i = 1; i <= NF; i++) c[name[i]] = $i; if (!('"$4"')) { print; bad = 1 } rows++ }
        END { print rows, "rows"; exit bad || rows != n }' "$work/out/$2.csv" >"$shown"
    check "$1"
}
"$sweep" -q -o "$work/out" --quick studies/infiniband/infiniband.cfg >"$shown" 2>&1
check "the quick points"
rows "4.7.2.1, 4.7.2.2: most and least within 3 %, but for the network whose placement is lost" dissemination 8 \
    'c["topology"] == "H8_S6" || (most(c["max_off"], 3) && most(c["min_off"], 3))'
rows "their standard deviations within 6 %" dissemination 8 \
    'c["topology"] == "H8_S6" || c["thesis_deviation_ps"] == c["deviation_ps"] || off(c["deviation_ps"], c["thesis_deviation_ps"]) <= 6'
rows "4.8.1: twelve rings within 3 %" ring 12 'most(c["off"], 3)'
rows "5.3.1, 5.3.2: ten sizes within 2 %" sizes 10 'most(c["off"], 2)'
rows "5.2: twenty arrivals and the end within 2 %" arrivals 21 'most(c["off"], 2)'
