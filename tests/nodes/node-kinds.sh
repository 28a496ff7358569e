#!/bin/bash
# Kinds of nodes in one system: the same results on 1, 2, 3 and 5 ranks and after a checkpoint; each node holds as many tasks as
# its own kind can; jobs on one kind; a kind that is like the others changes nothing; what cannot be is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/k.cfg" <<'END'
topology = { kind = "torus"; extents = [5, 4]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { adapters = 2; cores = 4; sockets = 2; controller_bandwidth = "12 GB/s"; socket_bandwidth = "5 GB/s"; };
nodes = ( { name = "thin"; count = 9; },
          { name = "fat"; list = "3,10-18:4"; cores = 10; domains = 4; threads = 2; adapter_sockets = [1, 1]; map_by = "socket"; },
          { name = "rest"; sockets = 1; cores = 3; core_speeds = [2.0, 1.0, 0.5]; } );
jobs = ( { program = "stencil"; extents = [11, 7]; steps = 5; compute_time = "20 us"; bytes = "3 kB"; kind = "fat"; fill = "threads";
           compute_jitter = "9 us"; allreduce_every = 2; allreduce_bytes = "800 B"; memory_bandwidth = "4 GB/s"; },
         { program = "stencil"; extents = [3, 2, 3]; steps = 4; compute_time = "31 us"; bytes = "20 kB"; kind = "rest"; fill = "cores";
           placement = "random"; memory_bandwidth = "3 GB/s"; },
         { program = "stencil"; extents = [4, 4]; steps = 4; compute_time = "17 us"; bytes = "9 kB"; kind = "thin"; tasks_per_node = 3; placement = "strided"; stride = 2; } );
END

all_alike "kinds" "$t/k.cfg"

# Fat are 3, 10, 14 and 18, of 20 threads each: 77 tasks fill three and 17 of the last. By sockets: tasks 0 and 1 on threads 0 and 5.
[ "$(awk -F, '$1 == "job0" { n[$3]++ } END { print n[3], n[10], n[14], n[18] }' "$t/one/tasks.csv")" = "20 20 20 17" ]
check "a job fills the nodes of its kind"
[ "$(awk -F, '$1 == "job0" && $2 < 4 { printf "%s ", $4 }' "$t/one/tasks.csv")" = "0 5 1 6 " ]
check "tasks take the sockets in turn"
# Thin are 0 to 2 and 4 to 9; every second of them: 0, 2, 5, 7, 9, and then 1: 3 tasks each, 1 on the last.
[ "$(awk -F, '$1 == "job2" && n[$3]++ == 0 { printf "%s ", $3 }' "$t/one/tasks.csv")" = "0 2 5 7 9 1 " ]
check "strided among the nodes of a kind"

sed '/^nodes/,/^ *{ name = "rest"/d; /program/s/kind = "[a-z]*"; *//; s/fill = "[a-z]*"/tasks_per_node = 4/; s/cores = 4/cores = 12/; s/tasks_per_node/first_node = 0; &/' "$t/k.cfg" >"$t/one.cfg"
run -o "$t/alike" "$t/one.cfg" && run -o "$t/named" "$t/one.cfg" 'nodes[0].list=1-19:3' 'nodes[1].name=others' && equal "$t/alike" "$t/named"
check "kinds that are alike are as one"

# ---- rates of kinds ----

# Two tasks on each of two nodes, each 1 us at 10 GB/s. Controllers of 10 GB/s let each have 5: 2 us; of 20: 1 us; with cores that draw 4: 2.5 us.
cat >"$t/r.cfg" <<'END'
topology = { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 2; controller_bandwidth = "10 GB/s"; core_bandwidth = "40 GB/s"; };
nodes = ( { name = "slow"; count = 1; }, { name = "wide"; count = 1; controller_bandwidth = "20 GB/s"; }, { name = "weak"; controller_bandwidth = "20 GB/s"; core_bandwidth = "4 GB/s"; } );
END
for i in 0 0 1 1 2 2; do
    echo "{ program = \"stencil\"; extents = [1]; steps = 1; compute_time = \"1 us\"; memory_bandwidth = \"10 GB/s\"; first_node = $i; }"
done | paste -sd, | sed 's/.*/jobs = ( & );/' >>"$t/r.cfg"
run -o "$t/r1" "$t/r.cfg" output.cores=true && [ "$(jq -c '[.result.jobs[].finish_ps / 1000]' "$t/r1/summary.json")" = "[2000,2000,1000,1000,2500,2500]" ]
check "controllers and cores of kinds"
# 20 kB each: over 2 us at 10 GB/s, 20 and 20.
awk -F, '$2 == "controller" && $1 < 3 { print $4, $5 }' "$t/r1/memory.csv" | xargs | grep -q '^20000 0.8[0-9]* 20000 0.4[0-9]* 20000 0.4[0-9]*$'
check "utilisation is of the kind's own rate"
# A rate of all nodes by their kind, or by node, is the same.
sed 's/^nodes = .*/nodes = ( { name = "all"; } );/; /name = "fat"/,/name = "rest"/d; s/kind = "[a-z]*"; fill = "[a-z]*"/tasks_per_node = 4/; s/fill = "cores"/tasks_per_node = 4/; /program/s/kind = "[a-z]*"; *//; s/cores = 4/cores = 12/; s/tasks_per_node/first_node = 0; &/' "$t/k.cfg" | sed '/^ *$/d' >"$t/all.cfg"
both=(node.lane_bandwidth="1 GB/s")
run -o "$t/by-node" "$t/all.cfg" node.lane_bandwidth="250 MB/s" node.bus_lanes=3 node.socket_bandwidth="2 GB/s" node.core_bandwidth="3 GB/s" &&
    run -o "$t/by-kind" "$t/all.cfg" "${both[@]}" node.core_bandwidth="1 TB/s" 'nodes[0].lane_bandwidth=250 MB/s' 'nodes[0].bus_lanes=3' 'nodes[0].socket_bandwidth=2 GB/s' \
        'nodes[0].core_bandwidth=3 GB/s' && equal "$t/by-node" "$t/by-kind" && run -o "$t/else" "$t/all.cfg" "${both[@]}" node.core_bandwidth="1 TB/s" && ! equal "$t/by-kind" "$t/else" >/dev/null
check "lanes, links and cores of a kind are as those of node"
refused 'nodes\[0\].lane_bandwidth: means nothing without node.lane_bandwidth' -o "$t/r" "$t/all.cfg" 'nodes[0].lane_bandwidth=1 GB/s'
check "lanes of a kind where node has none"
refused 'nodes\[0\].controller_bandwidth: too small' -o "$t/r" "$t/all.cfg" 'nodes[0].controller_bandwidth=0 GB/s'
check "a kind without bandwidth"

refused "5 tasks on node 0, but kind 'thin' has 4 cores (nodes\[0\].cores)" -o "$t/r" "$t/k.cfg" 'jobs[2].tasks_per_node=5'
check "more tasks than a kind holds"
refused "there is no kind of node \"thick\"; there are thin, fat, rest" -o "$t/r" "$t/k.cfg" 'jobs[0].kind=thick'
check "a kind that is not there"
refused 'jobs\[0\].placement: 1001 tasks do not fit on the 4 free nodes of its range or kind' -o "$t/r" "$t/k.cfg" 'jobs[0].extents=13,77'
check "more tasks than nodes to fill"
refused 'not both' -o "$t/r" "$t/k.cfg" 'jobs[0].tasks_per_node=2'
check "fill and tasks_per_node"
refused 'the kind has the nodes 0 to 8' -o "$t/r" "$t/k.cfg" 'jobs[2].first_node=9'
check "behind the last node of a kind"
refused "jobs\[0\].kind: means nothing" -o "$t/r" "$t/one.cfg" 'jobs[0].kind=thin'
check "a kind where there are none"

# ---- descriptions of machines ----

sed 's/^node = .*/node = { adapters = 2; hwloc = "server.xml"; controller_bandwidth = "12 GB\/s"; socket_latency = "40 ns"; };/; s/name = "thin"; count = 9;/name = "thin"; count = 9; core_speeds = [1.0, 0.8];/; s/cores = 10;/cores = 10; sockets = 2;/' "$t/k.cfg" >"$t/h.cfg"
cp configs/nodes/server.xml "$t"
run -o "$t/h1" "$t/h.cfg" || { cat "$t/err"; exit 1; }
for n in 2 3; do
    ranks $n -o "$t/h$n" "$t/h.cfg" && equal "$t/h1" "$t/h$n"
    check "described nodes: equal on $n ranks"
done
sed 's/hwloc = "server.xml"/cores = 16; sockets = 2; threads = 2/; s/name = "rest";/name = "rest"; threads = 1;/' "$t/h.cfg" >"$t/s.cfg"
run -o "$t/keys" "$t/s.cfg" && equal "$t/h1" "$t/keys"
check "a description is as good as keys that say the same"
refused 'node.cores: is beside node.hwloc' -o "$t/r" "$t/h.cfg" node.cores=16
check "a description, and a key that says what it says"
refused 'node.adapter_sockets: is beside node.hwloc' -o "$t/r" "$t/h.cfg" node.adapter_sockets=0,0
check "a description that has adapters, and a key for their sockets"
refused 'server.xml has 2 network adapters (mlx5_0, mlx5_1), but node.adapters is 3' -o "$t/r" "$t/h.cfg" node.adapters=3
check "another number of adapters"
refused 'four-gpus.xml has "cuda0", which is no network adapter: give adapter_devices that are' -o "$t/r" "$t/h.cfg" node.hwloc="$PWD/configs/nodes/four-gpus.xml" 'node.adapter_devices=["mlx5_0","cuda0"]'
check "a GPU as an adapter"
refused 'node.hwloc: .*k.cfg is no description of a machine' -o "$t/r" "$t/h.cfg" node.hwloc="$t/k.cfg"
check "no description"
refused 'cannot be read' -o "$t/r" "$t/h.cfg" node.hwloc=none.xml
check "a file that is not there"
ranks 2 -o "$t/r" "$t/h.cfg" node.hwloc=none.xml
[ $? -eq 2 ]
check "a file that is not there, on two ranks"
