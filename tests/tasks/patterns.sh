#!/bin/bash
# jobs[].program = "schedule": a pattern runs as the file does that marsconv writes of it, on 1, 2, 3 and 5 ranks, whichever way long messages
# go; and what is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
marsconv=$(dirname "$marssim")/marsconv
cat >"$t/p.cfg" <<'CFG'
network: { model = "loggops"; };
jobs: ( { program = "schedule"; } );
CFG
sed 's/"schedule"/"trace"/' "$t/p.cfg" >"$t/f.cfg"
keys() { local key; for key in "$@"; do echo "jobs[0].$key"; done; }
patterns=("binomialtreebcast commsize=21 datasize=70000 root=3" "binomialtreereduce commsize=21 datasize=70000" "binarytreebcast commsize=13 root=5"
    "nwaydissemination commsize=19 nway=3 datasize=100" "nwaydissemination commsize=9 nway=1 datasize=70000" "pipelinedring commsize=6 datasize=1000 segmentsize=300"
    "pipelinedringdep commsize=6 datasize=200000 segmentsize=70000 root=2" "doublering commsize=7 datasize=99" "gather commsize=12 datasize=70000 root=4"
    "scatter commsize=12" "linbarrier commsize=9" "dissemination commsize=33 datasize=70000" "random_bisect commsize=15 datasize=9"
    "random_bisect_fd_sym commsize=14 datasize=100" "linear_alltoall commsize=11 datasize=65535" "linear_alltoallv commsize=9 datasize=100000 root=2"
    "allreduce_recdoub commsize=8 datasize=300000" "allreduce_recdoub commsize=16 datasize=1000 rpl_dep_cmp=77" "allreduce_ring commsize=7 datasize=9999"
    "resnet commsize=5" "stencil sides=[5,4,3] timesteps=4 datasize=2000 timestep=3us" "stencil sides=[3,7] grid_periodic=false timesteps=5 datasize=70000"
    "stencil sides=[1] timesteps=1000" "chained_dissem commsize=6" "nwaydissemination commsize=9 nway=2 datasize=70000 nb=1000000 nb_poll=30000"
    "allreduce_ring commsize=6 datasize=70000 nb=1000000 cpu=2" "scatter commsize=7 nb=300000 nb_poll=7 cpu=255")
sets=("loggops.L=2500 ns" "loggops.L=0 ns|loggops.o=0 ns|loggops.g=0 ns|loggops.G=0 ns" "loggops.o=0 ns|loggops.g=3 us|loggops.G=0.04 ns|loggops.O=0.3 ns"
    "loggops.L=1 ps|loggops.o=0 ps|loggops.g=0 ns|loggops.G=1 ps")
for ((i = 0; i < ${#patterns[@]}; i++)); do
    read -ra words <<<"${patterns[i]}"
    mapfile -t key < <(keys "pattern=${words[0]}" "${words[@]:1}")
    IFS='|' read -ra set <<<"${sets[i % ${#sets[@]}]}"
    set+=("mpi.rendezvous=$(cut -d' ' -f$((i % 3 + 1)) <<<"read write instant")" "jobs[0].start=1 us")
    why=
    rm -f "$t/a.goal"
    "$marsconv" --to goal --pattern "${words[@]}" "$t/a.goal" 2>"$t/err" || why="marsconv: $(cat "$t/err")"
    "$marssim" -q -o "$t/o" "$t/f.cfg" jobs[0].trace="$t/a.goal" "${set[@]}" 2>"$t/err" || why+=" the file: exit status $?"
    cp "$t/o/tasks.csv" "$t/file.csv" && jq -S .result "$t/o/summary.json" >"$t/file.json"
    all_alike "${patterns[i]} (${set[*]})" "$t/p.cfg" "${key[@]}" "${set[@]}"
    cmp -s "$t/file.csv" "$t/one/tasks.csv" && cmp -s "$t/file.json" <(jq -S .result "$t/one/summary.json") || why+=" differs"
    verdict "$why" "${patterns[i]} (${set[*]}): as its file"
done

# The same above packets.
cat >"$t/p.cfg" <<'CFG'
topology: { kind = "torus"; extents = [3, 3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
partition: { bind = "no"; adapt = false; oversubscribe = true; };
jobs: ( { program = "schedule"; } );
CFG
sed 's/"schedule"/"trace"/' "$t/p.cfg" >"$t/f.cfg"
for which in "binomialtreereduce commsize=21 datasize=70000" "nwaydissemination commsize=19 nway=3 datasize=100" "linear_alltoallv commsize=9 datasize=100000" \
    "stencil sides=[3,3,2] timesteps=4 datasize=2000 timestep=3us"; do
    read -ra words <<<"$which"
    mapfile -t key < <(keys "pattern=${words[0]}" "${words[@]:1}")
    why=
    rm -f "$t/a.goal"
    "$marsconv" --to goal --pattern "${words[@]}" "$t/a.goal"
    "$marssim" -q -o "$t/o" "$t/f.cfg" jobs[0].trace="$t/a.goal" jobs[0].processor_factor=1.5 2>"$t/err" || why+=" the file: exit status $?"
    cp "$t/o/tasks.csv" "$t/file.csv"
    for n in 1 3; do
        timeout 60 mpirun -n $n "$marssim" -q -o "$t/o" "$t/p.cfg" "${key[@]}" jobs[0].processor_factor=1.5 2>"$t/err" || why+=" $n ranks: exit status $?"
        cmp -s "$t/file.csv" "$t/o/tasks.csv" || why+=" $n ranks differ"
    done
    verdict "$why" "$which: as its file above packets, on 1 and 3 ranks"
done

refuses() { # WORDS NAME ARGUMENTS
    ends 2 "$1" mpirun -n 2 "$marssim" -q -o "$t/o" "$t/p.cfg" "${@:3}" partition.oversubscribe=true partition.bind=no
    check "$2"
}
refuses "jobs\[0\].pattern: is missing; it is one of" "no pattern above packets"
sed -i 's/^topology.*/network: { model = "loggops"; };/' "$t/p.cfg"
refuses "jobs\[0\].pattern: is missing; it is one of" "no pattern"
refuses "jobs\[0\].nway: means nothing" "a key of another pattern" jobs[0].pattern=gather jobs[0].nway=2
refuses "jobs\[0\].trace: means nothing" "a file besides" jobs[0].pattern=gather jobs[0].trace=x
"$marsconv" --to goal --pattern gather commsize=0 "$t/x.goal" 2>"$t/err"
verdict "$([ $? -eq 2 ] && grep -q "commsize" "$t/err" && [ ! -e "$t/x.goal" ] || cat "$t/err")" "marsconv: a key that cannot be"
"$marsconv" --pattern gather "$t/x.goal" 2>"$t/err"
verdict "$([ $? -eq 2 ] && grep -q -- "--pattern belongs to --to goal" "$t/err" || cat "$t/err")" "marsconv: a pattern without --to goal"
[ "$number" -gt 0 ]
