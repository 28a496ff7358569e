#!/bin/bash
# Kinds of nodes with fewer adapters than others: what is sent takes adapters that both ends have; the same results on 1, 2, 3 and 5 ranks and after
# checkpoints, for every choice of adapters and place of rails; what cannot be is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

# From node 0 to node 1 and back; nodes 0 and 1 have 4 adapters, nodes 2 and 3 one.
cat >"$t/p.cfg" <<'END2'
topology = { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { adapters = 4; cores = 4; rail = "stripe"; stripe_size = "1 kB"; };
mpi: { eager_limit = "1 MB"; };
nodes = ( { name = "fat"; count = 2; }, { name = "thin"; adapters = 1; } );
jobs = ( { program = "pingpong"; tasks = 2; bytes = [400000]; steps = 1; placement = "file"; placement_file = "places"; } );
END2
time_of() { # NODE NODE WORD...: of a pingpong between them
    printf '%s\n%s\n' "$1" "$2" >"$t/places"
    run -o "$t/p" "$t/p.cfg" "${@:3}" && jq .result.simulated_time_ps "$t/p/summary.json"
}
sed '/^nodes/d; s/adapters = 4; //; s/ rail = "stripe"; stripe_size = "1 kB";//' "$t/p.cfg" >"$t/one.cfg"
sed '/^nodes/d' "$t/p.cfg" >"$t/four.cfg"
printf '0\n1\n' >"$t/places"
run -o "$t/one" "$t/one.cfg" && run -o "$t/four" "$t/four.cfg"
one=$(jq .result.simulated_time_ps "$t/one/summary.json") four=$(jq .result.simulated_time_ps "$t/four/summary.json")
[ "$four" -lt $((one / 3)) ] && [ "$(time_of 0 1)" = "$four" ]
check "two nodes with all adapters send by all of them"
[ "$(time_of 0 2)" = "$one" ] && [ "$(time_of 2 0)" = "$one" ] && [ "$(time_of 2 3)" = "$one" ]
check "with a node of one adapter it is that one"

cat >"$t/base.cfg" <<'END2'
topology = { kind = "torus"; extents = [3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 6; sockets = 2; adapters = 3; lane_bandwidth = "250 MB/s"; };
nodes = ( { name = "thin"; list = "1,4,6-7"; adapters = 1; sockets = 1; }, { name = "middle"; list = "2"; adapters = 2; adapter_sockets = [1, 1]; },
          { name = "fat"; } );
output: { series: { adapters = "total"; }; };
jobs = ( { program = "stencil"; extents = [7, 7]; steps = 6; compute_time = "20 us"; bytes = "9 kB"; tasks_per_node = 6; compute_jitter = "9 us";
           allreduce_every = 3; allreduce_bytes = "800 B"; } );
services = ( { kind = "heartbeat"; period = "7 us"; bytes = "4 kB"; } );
END2
unused() { # FOLDER: adapters that nodes do not have have sent nothing
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        { have = $c["node"] ~ /^[1467]$/ ? 1 : $c["node"] == 2 ? 2 : 3; packets = $c["packets_sent"]
          if ($c["adapter"] >= have && packets > 0) exit 1; sum += packets; rows++ } END { exit !(rows == 27 && sum > 0) }' "$1/adapters.csv"
}
for rail in nearest fixed stripe least round_robin; do
    cp "$t/base.cfg" "$t/c.cfg"
    keys=(node.rail=$rail)
    [ $rail = stripe ] && keys+=(node.stripe_size="2 kB")
    same_bits "$rail" "${keys[@]}"
    unused "$t/one"
    check "$rail: adapters that are not there send nothing"
done
# Three adapters at one switch, or at three successive ones: 3 nodes, of which the last has two adapters.
for rails in same spread; do
    sed '/^nodes/d; /name = "fat"/d; s/extents = \[3, 3\]/extents = [3, 1]; rails = "'$rails'"; nodes_per_switch = 3/; s/extents = \[7, 7\]/extents = [4, 4]/' \
        "$t/base.cfg" >"$t/c.cfg"
    echo 'nodes = ( { count = 2; }, { adapters = 2; } );' >>"$t/c.cfg"
    same_bits "rails = $rails" node.rail=round_robin
done

refused "nodes\[0\].adapters: is 4, but the topology has node.adapters = 3 for each node" -o "$t/r" "$t/base.cfg" nodes[0].adapters=4
check "more adapters than the topology has are refused"
refused "nodes\[0\].adapters: too small" -o "$t/r" "$t/base.cfg" nodes[0].adapters=0
check "no adapter at all as well"
refused "nodes\[1\].adapter_sockets: adapter 1 on socket 2: the node has the sockets 0 to 1" -o "$t/r" "$t/base.cfg" 'nodes[1].adapter_sockets=[0, 2]'
check "and one on a socket that is not there"
refused "nodes\[1\].adapter_sockets: 3 values, but such a node has 2 adapters" -o "$t/r" "$t/base.cfg" 'nodes[1].adapter_sockets=[0, 1, 1]'
check "and sockets of more adapters than there are"
sed 's/adapters = 3; //' "$t/base.cfg" >"$t/c.cfg"
refused "adapters" -o "$t/r" "$t/c.cfg"
check "without several adapters the key means nothing"
