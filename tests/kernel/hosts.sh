#!/bin/bash
# Ranks on several hosts: tests/kernel/hosts.sh
#
# With engine.hosts the ranks of this machine behave as if they were on several, and all results are those of one rank: for every
# reason of an end, across checkpoints, and with many more ranks than cores. When a rank dies all others end. Then the same with
# real hosts, as far as a machine has them: network namespaces that see each other over a bridge only (as root).
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
ranks_of() { pgrep -f "^$marssim .*-o $work/$1( |\$)"; }
trap 'kill -9 $(ranks_of ".*") 2>/dev/null; hosts_down; rm -rf "$work"' EXIT

torus=("$top/configs/torus-uniform.cfg" topology.extents=4,4,4 "run.warmup=500 ns" "run.end=3 us" output.period="500 ns" run.checkpoint.at="1300 ns")
many=(partition.oversubscribe=true partition.bind=no)
cat >"$work/pingpong.cfg" <<'END_OF_FILE'
topology: { kind = "torus"; extents = [8, 8]; bandwidth = "10 GB/s"; latency = "100 ns"; };
jobs: ( { program = "pingpong"; placement = "strided"; stride = 36; bytes = 100; steps = 200; } );
END_OF_FILE

equal() { # FOLDER FOLDER
    local f
    for f in "$work/$1"/*.csv; do cmp "$f" "$work/$2/${f##*/}" || return 1; done
    cmp <(jq -S .result "$work/$1/summary.json") <(jq -S .result "$work/$2/summary.json")
}
on() { # FOLDER RANKS HOSTS WORD...
    local folder=$1 ranks=$2 hosts=$3
    shift 3
    mpirun -n "$ranks" "$marssim" -q -o "$work/$folder" "$@" engine.hosts="$hosts" "${many[@]}" >"$work/err" 2>&1
}

# ---- every end ----

compare() { # NAME WORD...: one rank, and ranks on hosts
    local name=$1 ranks hosts
    shift
    "$marssim" -q -o "$work/one" "$@" >"$work/err" 2>&1 || { verdict "one rank fails" "$name"; return; }
    for ranks in "4 4" "8 3"; do
        hosts=${ranks#* } ranks=${ranks% *}
        on several "$ranks" "$hosts" "$@" && equal one several
        check "$name: $ranks ranks on $hosts hosts"
    done
}
compare "an end by time" "${torus[@]}"
compare "an end by packets" "${torus[@]}" run.packets=3000
compare "an end by draining" "${torus[@]}" run.measure="1 us"
compare "an end by jobs" "$work/pingpong.cfg"
compare "piggybacked news" "$top/tests/run/equal_bits/two-levels.cfg"

on few 8 8 "$work/pingpong.cfg" && jq -e '.run | .sent_messages > 0 and .sent_messages <= 2 * .epochs' "$work/few/summary.json" >/dev/null
check "with one message of the model in flight, ranks send no more than that"

"$marssim" -q -o "$work/one" "${torus[@]}" >"$work/err" 2>&1
# as many as one start of mpirun can be waited for; 64 by LONG=1
most=${LONG:+64} && most=${most:-20}
for hosts in 4 $most; do
    on many $most "$hosts" "${torus[@]}" && equal one many
    check "$most ranks on $hosts hosts"
done

# ---- checkpoints ----

resume() { # RANKS HOSTS
    mpirun -n "$1" "$marssim" -q --resume "$work/many/checkpoints" -o "$work/resumed" engine.hosts="$2" "${many[@]}" >"$work/err" 2>&1 &&
        equal one resumed
    check "what $most ranks on $most hosts have saved continues with $1 on $2"
}
resume 6 2
resume 1 1

# ---- death ----

gone() { # FOLDER: all its ranks end soon
    local i
    for ((i = 0; i < 1200; i++)); do
        ranks_of "$1" >/dev/null || return 0
        sleep 0.1
    done
    return 1
}
for hosts in 1 2 4; do
    on dies 4 "$hosts" "${torus[@]}" "run.end=1 s" output.period="0 ns" &
    while [ "$(ranks_of dies | wc -l)" -lt 4 ]; do sleep 0.1; done
    sleep 0.5
    kill -9 "$(ranks_of dies | sed -n 2p)"
    gone dies
    check "a rank of four on $hosts hosts dies, and all end"
    wait
done

# ---- namespaces as hosts ----

# With the settings by which tests/run-tests.sh has mpirun start in less time these hosts do not find each other.
unset HWLOC_PLUGINS_BLACKLIST HWLOC_COMPONENTS PMIX_MCA_gds OMPI_MCA_pml

net=mh$((BASHPID % 10000)) made=
hosts_down() {
    [ -n "$made" ] || return
    for i in 1 2 3; do ip netns del "$net$i" 2>/dev/null; done
    ip link del "$net" 2>/dev/null
}
hosts_up() {
    local i
    ip link add "$net" type bridge || return 1
    made=yes
    ip addr add 10.213.117.254/24 dev "$net" && ip link set "$net" up || return 1
    for i in 1 2 3; do
        ip netns add "$net$i" && ip link add "$net-$i" type veth peer name eth0 netns "$net$i" &&
            ip link set "$net-$i" master "$net" up && ip -n "$net$i" addr add "10.213.117.$i/24" dev eth0 &&
            ip -n "$net$i" link set eth0 up && ip -n "$net$i" link set lo up || return 1
    done
    printf '#!/bin/bash\nhost=$1; shift\nexec ip netns exec "$host" unshare --uts bash -c "hostname $host; $*"\n' >"$work/agent"
    chmod +x "$work/agent"
}
apart() { # COMMAND...: six ranks, two on each host
    timeout 300 mpirun --host "${net}1:2,${net}2:2,${net}3:2" -n 6 --oversubscribe --map-by node --mca plm rsh --mca plm_rsh_agent "$work/agent" \
        --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include 10.213.117.0/24 --mca btl_tcp_if_include 10.213.117.0/24 --mca pml ob1 \
        --mca btl self,vader,tcp "$@" 2>>"$work/err"
}
mpirun --version | grep -q "Open MPI) 4" || { echo "SKIP: the launcher's options are those of Open MPI 4"; exit 0; }
{ command -v ip && command -v unshare && hosts_up; } >"$work/err" 2>&1 && [ "$(apart hostname | sort -u | wc -l)" = 3 ] ||
    { echo "SKIP: no network namespaces to be used as hosts"; exit 0; }
apart "$marssim" -q -o "$work/apart" "${torus[@]}" "${many[@]}" && equal one apart
check "six ranks in three namespaces"
jq -e '.run | .sent_messages > 0 and .working_ranks == 6' "$work/apart/summary.json" >/dev/null
check "they are several hosts"
