#!/bin/bash
# Jobs that see a torus of their own (jobs[].shape): whatever the box, neighbours in the job's torus are neighbours in the network, no
# node has two tasks, and the job's box is the least one. What has no ring is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
command -v python3 >/dev/null || { echo "SKIP: python3 is missing"; exit 0; }
here=$top/tests/tasks
cd "$work" || exit 2

config() { # EXTENTS WRAP SHAPES...: a job of each shape
    echo "topology: { kind = \"torus\"; extents = [$1]; wrap = [$2]; bandwidth = \"10 GB/s\"; latency = \"10 ns\"; };" >fold.cfg
    local jobs=
    for shape in "${@:3}"; do
        jobs="$jobs${jobs:+,} { program = \"collective\"; collective = \"barrier\"; tasks = $((${shape//,/*})); shape = [$shape]; }"
    done
    echo "jobs = ($jobs );" >>fold.cfg
}
folds() { # BOXES EXTENTS WRAP SHAPES...
    config "${@:2}"
    "$marssim" -q -o folds fold.cfg output.tasks=true && python3 "$here/folded.py" folds/tasks.csv "$2" "$3" "${@:4}" >found && [ "$(cat found)" = "$1" ]
    check "shape ${*:4} on $2: $1"
}
tofu=4,4,4,2,3,2 rings=true,true,true,false,true,false
folds 2x2x2x2x2x2 $tofu $rings 4,4,4
folds 4x4x4x2x3x2 $tofu $rings 8,12,8
folds 4x4x4x2x3x2 $tofu $rings 768
folds 4x1x4x2x3x2 $tofu $rings 48,4
folds 2x3x4x2x3x2 $tofu $rings 4,9,8
folds 1x1x1x1x3x1 $tofu $rings 1,3,1
folds "1x1x1x2x3x2 1x1x1x2x3x2" $tofu $rings 12 2,3,2
folds 2x3x2x2x2x2 2,3,2,4,5,4 false,true,false,true,true,true 4,6,4
folds 6x6 6,6 false,false 36
folds 5x4 5,4 false,false 20
folds 4x5 4,5 false,false 20
folds 5x5 5,5 true,true 5,5
folds 2x5 3,5 false,false 10

config 5,5 false,false 25
refused 'jobs\[0\].shape: no ring of 25 fits into 5 x 5 of the network: it has to be' fold.cfg
check "no ring of odd lines"
config 4,4 true,true 4,2,2
refused 'jobs\[0\].shape: has 3 dimensions; 1 to 2 are possible' fold.cfg
check "too many dimensions"
config 4,4 true,true 4,4 2,2
refused 'no box of 2x2 switches is free; 0 of 16 nodes are free' fold.cfg
check "no free box"
config 4,4 true,true 4,4
sed -i 's/shape =/placement = "random"; shape =/' fold.cfg
refused 'jobs\[0\].placement: jobs\[0\].shape says which nodes' fold.cfg
check "a placement beside it"
echo 'topology: { kind = "star"; nodes = 8; bandwidth = "10 GB/s"; latency = "10 ns"; };' >star.cfg
tail -n +2 fold.cfg >>star.cfg
refused 'jobs\[0\].shape: means nothing' star.cfg
check "no torus"

cat >"$t/c.cfg" <<'END'
topology: { kind = "torus"; extents = [2, 3, 2, 3, 3, 3]; wrap = [false, true, false, true, true, true]; bandwidth = "10 GB/s"; latency = "100 ns"; };
routing: { algorithm = "inner_outer_inner"; inner = 3; };
jobs = ( { program = "stencil"; extents = [4, 6]; shape = [4, 6]; steps = 3; compute_time = "1 us"; },
         { program = "collective"; collective = "alltoall"; tasks = 12; shape = [6, 2]; bytes = ["4 KiB"]; iterations = 2; } );
END
cd "$top" || exit 2
same_bits "jobs on folded tori"
same_bits_run
