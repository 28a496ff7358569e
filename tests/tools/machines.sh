#!/bin/bash
# configs/machines: what was measured on Fugaku with 64 nodes and on Leonardo with 32 and 64, of which no point was fitted, is foretold within stated bounds
# (`make validate-machines` has all of it); and what tools/validate-machines refuses.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
command -v python3 >/dev/null || { echo "SKIP: python3 is missing"; exit 0; }
export MARSSIM=$marssim
foretold() { # MACHINE BOUND
    tools/validate-machines --roles=exam --bound="$2" "$1" >"$work/out" 2>"$work/err" || { tail -n 4 "$work/out" >>"$work/err"; false; }
    check "$1: at least ${2%:*} % of the points are within ${2#*:} %"
}
foretold fugaku 80:15
foretold leonardo 70:15
tools/validate-machines nowhere >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "nowhere: what is this? Machines are fugaku, leonardo, lumi" "$work/err"
check "a machine that there is not"
for machine in fugaku leonardo lumi; do
    printf '@include "%s/configs/machines/%s.inc"\n' "$top" "$machine" >"$work/$machine.cfg"
    echo 'jobs = ( { program = "collective"; tasks = 4; } );' >>"$work/$machine.cfg"
    [ $machine = fugaku ] && keys=topology.extents=[4,4,4,2,3,2] || keys=run.seed=1
    "$marssim" --check "$work/$machine.cfg" $keys >"$work/out" 2>"$work/err"
    check "$machine.inc passes --check"
done
