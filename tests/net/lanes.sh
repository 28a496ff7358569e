#!/bin/bash
# switch.lanes = "vl": tests/net/lanes.sh
#
# InfiniBand's VL arbitration: shares of a link whose lanes are all full, by hand; at an adapter, too; equal on 1, 2, 3, 5 ranks, in every order of
# cells, saved and resumed with a weight half used; what is wrong is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

# LANES [PACKET]: source i sends 20 MB on lane i to one node, over one link of 1 GB/s; the output holds one packet.
system() {
    local lanes=$1 packet=${2:-2048} bytes=20000000 i
    { echo "topology: { kind = \"star\"; nodes = $((lanes + 1)); bandwidth = \"1 GB/s\"; latency = \"50 ns\"; };"
      echo "switch: { channels = 1; classes = $lanes; lanes = \"vl\"; output_queue = \"$packet B\"; };"
      echo "adapter: { packet_size = \"$packet B\"; header = \"0 B\"; }; mpi: { eager_limit = \"1 GB\"; }; node: { cores = 16; };"
      echo 'jobs = ('
      for ((i = 0; i < lanes; i++)); do
          [ $i -eq 0 ] || echo ,
          echo "{ program = \"trace\"; format = \"goal\"; trace = \"$t/app.goal\"; placement = \"file\"; placement_file = \"$t/$i.nodes\"; priority = $i; }"
          printf '%s\n' $i "$lanes" >"$t/$i.nodes"
      done
      echo '); output: { period = "1 ms"; series: { channels = "periods"; }; };'; } >"$t/c.cfg"
    messages_goal "$t/app.goal" 2 "0 1 $bytes"
}
# NAME SHARES FROM TO WORD...: what the lanes have of the link to the last node between these milliseconds, within 0.5 % of the link
shares() {
    local name=$1 wanted=$2 from=$3 to=$4
    shift 4
    end=switch link_shares "$name" "$wanted" "$from" "$to" "$@"
}
link_shares() { # of links from the kind $end
    local name=$1 wanted=$2 from=$3 to=$4
    shift 4
    run -o "$t/hand" "$t/c.cfg" run.end="$to.5ms" "$@" && awk -F, -v end="$end" -v wanted="$wanted" -v from="$from" -v to="$to" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["from_kind"] == end && $at["time_ps"] > from * 1e9 && $at["time_ps"] <= to * 1e9 { of[$at["channel"]] += $at["bytes"]; all += $at["bytes"] }
        END { n = split(wanted, w, " ")
              for (i = 1; i <= n; i++) { d = of[i - 1] / all - w[i]; if (d > 0.005 || d < -0.005) bad = 1; printf "%s ", of[i - 1] / all }
              exit bad || all < (to - from) * 0.99e6 }' "$t/hand/channel_series.csv" >"$t/err"
    check "$name"
}

# ---- shares ----

system 2
shares "low 64 and 192" "0.25 0.75" 1 20 switch.vl_low=0:64,1:192
# 100 units are 3 packets of 32 and 4 units more, which are enough for a fourth; 200 are six and 8 units: seven.
shares "low 100 and 200: the last packet overdraws" "0.363636 0.636364" 1 20 switch.vl_low=0:100,1:200
shares "low 1 and 255" "0.111111 0.888889" 1 20 switch.vl_low=0:1,1:255
shares "high, limit 0: one packet each" "0.5 0.5" 1 20 switch.vl_high=1:32 switch.vl_low=0:32 switch.vl_limit=0
shares "high, limit 1: 4,096 B" "0.333333 0.666667" 1 20 switch.vl_high=1:32 switch.vl_low=0:32 switch.vl_limit=1
shares "high, limit 6" "0.076923 0.923077" 1 19 switch.vl_high=1:64 switch.vl_low=0:32 switch.vl_limit=6
shares "high, no limit" "0 1" 1 19 switch.vl_high=1:64 switch.vl_low=0:32 switch.vl_limit=255
shares "a lane twice" "0.666667 0.333333" 1 20 switch.vl_low=0:64,1:64,0:64
shares "by default all alike" "0.5 0.5" 1 20
# Lane 0 has 3/4 and so ends after 26.7 ms; then lane 1 has all, and what it could not use before gives it nothing.
shares "the rest goes to who is left" "0 1" 28 38 switch.vl_low=0:192,1:64
system 4
# Of 5 packets 4 are high: 3 of lane 2, 1 of lane 3.
shares "two tables of two lanes" "0.1 0.1 0.6 0.2" 1 20 switch.vl_high=2:192,3:64 switch.vl_low=0:64,1:64 switch.vl_limit=2
shares "when lane 2 has ended" "0.1 0.1 0 0.8" 35 48 switch.vl_high=2:192,3:64 switch.vl_low=0:64,1:64 switch.vl_limit=2
system 2 200
# 200 B are 4 units: 10 are three packets, 20 are five.
shares "packets of 200 B" "0.375 0.625" 1 20 switch.vl_low=0:10,1:20

# ---- adapters ----

# Both jobs begin at node 0; its link is full, and those behind the switch are not.
system 2
printf '0\n1\n' >"$t/0.nodes"
printf '0\n2\n' >"$t/1.nodes"
end=node
link_shares "an adapter has the switch's tables" "0.25 0.75" 1 20 switch.vl_low=0:64,1:192
link_shares "or its own" "0.333333 0.666667" 1 20 switch.vl_low=0:64,1:192 adapter.vl_low=0:1,1:64
# Two of lane 1, one of low, where both lanes have the same: of 6 packets one is of lane 0.
link_shares "also of high priority" "0.166667 0.833333" 1 20 adapter.vl_high=1:32 adapter.vl_limit=1

# ---- an options file of OpenSM ----

# Lanes that are not there are left out; what is for switches, or for adapters, goes before what is for all.
cat >"$t/opensm.conf" <<'END'
# QoS OPTIONS
qos TRUE
qos_max_vls 15
qos_high_limit 1
qos_vlarb_high 1:32,9:4
qos_vlarb_low 0:64,1:0,2:4
qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7
qos_ca_max_vls 0
qos_ca_high_limit (null)
qos_ca_vlarb_high 1:0
qos_ca_vlarb_low 0:64,1:192
END
link_shares "tables of adapters from opensm.conf" "0.25 0.75" 1 20 switch.vl_file="$t/opensm.conf"
link_shares "a key replaces them" "0.5 0.5" 1 20 switch.vl_file="$t/opensm.conf" adapter.vl_low=0:64,1:64
system 2
shares "tables of switches from opensm.conf" "0.333333 0.666667" 1 20 switch.vl_file="$t/opensm.conf"
broken() { # LINE WORDS
    echo "$1" >"$t/bad.conf"
    refused "bad.conf:1: $2" -o "$t/hand" "$t/c.cfg" switch.vl_file="$t/bad.conf"
    check "opensm.conf: $2"
}
broken 'qos_vlarb_low 0:300' 'the weight of lane 0 is 300; at most 255'
broken 'qos_high_limit 256' '"256" is no limit of high priority, 0 to 255'
broken 'qos_sl2vl 0,1,2,3,x' '"0,1,2,3,x" is no list of the lanes of service levels 0 to 15'

# ---- the same bits ----

system 4
same_bits "four lanes, two tables" run.end="1 ms" output.series.channels=total switch.vl_high=2:100,3:64 switch.vl_low=0:64,1:250,3:7 switch.vl_limit=2
same_bits "packets of 3,000 B, adapters with tables of their own" run.end="1 ms" output.series.channels=total adapter.packet_size="3000 B" switch.output_queue="8 KiB" \
    switch.vl_low=0:255,1:100,2:100,3:100,0:255 adapter.vl_low=0:1,1:1,2:1,3:1
same_bits_run

# ---- what is refused ----

wrong() { # WORDS WORD...
    refused "$1" -o "$t/hand" "$t/c.cfg" "${@:2}"
    check "$1"
}
wrong 'switch.vl_high: there is no lane 4: switch.channels x switch.classes makes 4, from 0 on' switch.vl_high=4:10
wrong 'switch.vl_low: there is no lane 15 for data; they go from 0 to 14' switch.vl_low=0:1,15:10
wrong 'switch.vl_low: the weight of lane 1 is 256; at most 255 (units of 64 bytes)' switch.vl_low=0:1,1:256
wrong 'switch.vl_low: packets of lane 3 would never leave: it has no weight there, nor in vl_high; give "3:64", for example' switch.vl_low=0:1,1:2,2:3,3:0
wrong 'adapter.vl_low: packets of lane 0 would never leave' adapter.vl_low=1:64,2:64,3:64
wrong '"0-64" is no LANE:WEIGHT, such as 0:64' switch.vl_low=0-64
wrong 'entries are separated by commas' "switch.vl_low=0:64 1:64"
wrong 'switch.vl_high: has more than 64 entries' switch.vl_high="$(printf '1:1,%.0s' {1..65})"
wrong 'switch.vl_limit: too large: must be 0 to 255' switch.vl_limit=256
wrong 'switch.lanes: switch.channels x switch.classes makes 16 lanes; InfiniBand has 15 for data' switch.channels=4
wrong 'switch.vl_low: means nothing with switch.lanes = "strict"' switch.lanes=strict switch.vl_low=0:64
