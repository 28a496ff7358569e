#!/bin/bash
# Tables of single ports, and service levels that share lanes: tests/net/vl-ports.sh
#
# switch.vl_file with what smpquery prints, from a simulated subnet (tests/routing/fabrics) and by hand: each port has its own table and limit, which
# the link's shares show; switch.sl2vl and qos_sl2vl; equal on 1, 2, 3, 5 ranks, in every order of cells, saved and resumed; what is wrong is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

# Three nodes at one switch (LIDs 1 to 3 and 9), links of 1 GB/s.
{ printf 'Switch\t4 "S-0000000000200000"\t\t# "S" base port 0 lid 9 lmc 0\n'
  for i in 1 2 3; do printf '[%d]\t"H-000000000010000%d"[1](1%d) \t\t# "N%d" lid %d 4xSDR\n' $i $i $i $i $i; done
  for i in 1 2 3; do printf '\nCa\t1 "H-000000000010000%d"\t\t# "N%d"\n[1](1%d) \t"S-0000000000200000"[%d]\t\t# lid %d lmc 0 "S" lid 9 4xSDR\n' $i $i $i $i $i; done; } >"$t/net"
table() { # LID PORT LANES-LOW WEIGHTS-LOW LANES-HIGH WEIGHTS-HIGH, each "0x0 0x1"
    local row='s/[^ ][^ ]*/|&/g; s/ *$/ |/'
    printf '# VLArbitration tables: Lid %s port %s LowCap %d HighCap %d\n# Low priority VL Arbitration Table:\n' "$1" "$2" "$(wc -w <<<"$3")" "$(wc -w <<<"${5:-0x0}")"
    printf 'VL    : %s\nWEIGHT: %s\n' "$(sed "$row" <<<"$3")" "$(sed "$row" <<<"$4")"
    printf '# High priority VL Arbitration Table:\nVL    : %s\nWEIGHT: %s\n' "$(sed "$row" <<<"${5:-0x0}")" "$(sed "$row" <<<"${6:-0x0}")"
}
limit() { printf '# Port info: Lid %s port %s\nLid:.............................%s\nVLHighLimit:.....................%s\nVLArbHighCap:....................8\n' "$1" "$2" "$1" "$3"; }

# FROM TO FROM TO [PRIORITY PRIORITY]: two jobs, each sends 40 MB; of level 0 and 1
system() {
    { echo "topology: { kind = \"fabric\"; file = \"$t/net\"; latency = \"50 ns\"; };"
      echo 'switch: { channels = 1; classes = 2; lanes = "vl"; output_queue = "2048 B"; };'
      echo 'adapter: { packet_size = "2048 B"; header = "0 B"; }; mpi: { eager_limit = "1 GB"; }; node: { cores = 16; };'
      echo 'jobs = ('
      for i in 0 1; do
          [ $i -eq 0 ] || echo ,
          printf '%d\n' "${@:1 + 2 * i:2}" >"$t/$i.nodes"
          [ $# -le 4 ] || priority=("${@:5}")
          echo "{ program = \"trace\"; format = \"goal\"; trace = \"$t/app.goal\"; placement = \"file\"; placement_file = \"$t/$i.nodes\"; priority = ${priority[i]}; }"
      done
      echo '); output: { period = "1 ms"; series: { channels = "periods"; }; };'; } >"$t/c.cfg"
    messages_goal "$t/app.goal" 2 "0 1 40000000"
}
priority=(0 1)
# NAME SHARE END WORD...: lane 1 has this of what leaves this kind of end, within 0.5 %, between 1 and 19 ms
share() {
    run -o "$t/hand" "$t/c.cfg" run.end=19.5ms "${@:4}" && awk -F, -v end="$3" -v wanted="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["from_kind"] == end && $at["time_ps"] > 1e9 && $at["time_ps"] <= 19e9 { of[$at["channel"]] += $at["bytes"]; all += $at["bytes"] }
        END { d = all ? of[1] / all - wanted : 9; print of[1] / all; exit d > 0.005 || d < -0.005 }' "$t/hand/channel_series.csv" >"$t/err"
    check "$1"
}

# ---- tables of ports ----

table 9 3 "0x0 0x1" "0x1 0x40" >"$t/ports"
system 0 2 1 2
share "the port of a switch has its own table" 0.666667 switch switch.vl_file="$t/ports"
share "whatever the keys say of others" 0.666667 switch switch.vl_file="$t/ports" switch.vl_low=0:192,1:64
table 9 2 "0x0 0x1" "0x1 0x40" >"$t/ports"
share "another port has that of the keys" 0.25 switch switch.vl_file="$t/ports" switch.vl_low=0:192,1:64
{ table 9 3 "0x0" "0x20" "0x1" "0x20"; limit 9 3 1; } >"$t/ports"
share "high priority, and the port's limit of 4,096 B" 0.666667 switch switch.vl_file="$t/ports"
limit 9 3 1 >"$t/ports"
share "a limit alone, with the keys' tables" 0.666667 switch switch.vl_file="$t/ports" switch.vl_low=0:32 switch.vl_high=1:32
{ table 9 3 "0x0 0x9 0x1" "0x20 0x4 0x0" "0x1 0xF" "0x40 0x1"; limit 9 1 9; } >"$t/ports"
share "lanes that are not there are left out; the limit is the keys'" 0.923077 switch switch.vl_file="$t/ports" switch.vl_limit=6
{ echo 'qos_vlarb_low 0:192,1:64'; table 9 2 "0x0 0x1" "0x1 0x40"; } >"$t/ports"
share "an options file and ports in one text" 0.25 switch switch.vl_file="$t/ports"
# More than 32 entries are further pairs of lines: 33 of lane 1, one of lane 0, a packet each.
{ table 9 3 "$(printf '0x1 %.0s' {1..32})" "$(printf '0x20 %.0s' {1..32})" | sed 's/LowCap 32 HighCap 1/LowCap 34 HighCap 0/; 4q'; printf 'VL    : |0x1 |0x0 |\nWEIGHT: |0x20|0x20|\n'; } >"$t/ports"
share "a long table" 0.970588 switch switch.vl_file="$t/ports"
system 0 1 0 2
table 1 1 "0x0 0x1" "0x1 0x40" >"$t/ports"
share "an adapter's own" 0.666667 node switch.vl_file="$t/ports"
table 1 0 "0x0 0x1" "0x1 0x40" >"$t/ports" # smpquery vlarb 1
share "or asked for without a port" 0.666667 node switch.vl_file="$t/ports"
share "in each plane" 0.666667 node switch.vl_file="$t/ports" node.adapters=2 topology.rails=plane node.rail=stripe

# An adapter of two ports, a node each: any of its LIDs answers for both.
cp "$t/net" "$t/one"
sed -i 's/^Ca\t1 "H-0000000000100001"/Ca\t2 "H-0000000000100001"/
    s/^\[1\](11).*/&\n[2](15) \t"S-0000000000200000"[4]\t\t# lid 4 lmc 0 "S" lid 9 4xSDR/
    s/^\[3\]\t"H.*/&\n[4]\t"H-0000000000100001"[2](15) \t\t# "N1" lid 4 4xSDR/' "$t/net"
system 1 2 1 3
table 1 2 "0x0 0x1" "0x1 0x40" >"$t/ports"
share "the second port of an adapter, by the LID of the first" 0.666667 node switch.vl_file="$t/ports"
table 4 1 "0x0 0x1" "0x1 0x40" >"$t/ports"
share "and its first, by the second's: not this one" 0.5 node switch.vl_file="$t/ports"
mv "$t/one" "$t/net"

# A real text: all switches have one table, all adapters another, as the options file gives them that OpenSM had (the simulator keeps limits at 0).
fabric=tests/routing/fabrics/ring-lash
printf '%s\n' 'qos_high_limit 0' 'qos_vlarb_high 1:32,2:16' 'qos_vlarb_low 0:64,1:32,2:48,3:10' 'qos_ca_vlarb_high 3:4' 'qos_ca_vlarb_low 0:16,1:255,2:48,3:10' >"$t/opensm.conf"
cat >"$t/ring.cfg" <<END
topology: { kind = "fabric"; file = "$PWD/$fabric.ibnetdiscover"; latency = "100 ns"; };
routing: { algorithm = "table"; table = "$PWD/$fabric.lfts"; path_sl = "$PWD/$fabric.path-sl"; sl2vl = "$PWD/$fabric.sl2vl"; };
switch: { lanes = "vl"; buffer = "8 KiB"; }; traffic: { pattern = "uniform"; load = 0.9; }; run: { end = "200 us"; };
END
run -o "$t/options" "$t/ring.cfg" switch.vl_file="$t/opensm.conf" && run -o "$t/ports-real" "$t/ring.cfg" switch.vl_file="$PWD/$fabric.vlarb" &&
    cmp "$t/options/links.csv" "$t/ports-real/links.csv" && run -o "$t/none" "$t/ring.cfg" && ! cmp -s "$t/options/links.csv" "$t/none/links.csv"
check "smpquery's text of a real subnet manager is as its options file"

# ---- service levels ----

system 0 2 1 2 2 5
share "two levels, two lanes, by a key" 0.75 switch switch.sl2vl=1,1,0,0,1,1 switch.vl_low=0:64,1:192
share "both on one lane" 1 switch switch.sl2vl=0,0,1,0,0,1
printf '%s\n' 'qos_sl2vl 0,1,0,0,0,1,0,0,0,0,0,0,0,0,0,15' 'qos_vlarb_low 0:64,1:192' >"$t/opensm.conf"
share "two levels, two lanes, by an options file" 0.75 switch switch.vl_file="$t/opensm.conf"
share "a key replaces it" 0 switch switch.vl_file="$t/opensm.conf" switch.sl2vl=0,0,0,0,0,0
printf '%s\n' 'qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7' 'qos_vlarb_low 2:64,7:192' 'max_op_vls 2' >"$t/opensm.conf"
share "lanes are modulo those of the ports, as OpenSM makes them" 0.75 switch switch.vl_file="$t/opensm.conf"
# What opensm -c writes, with QoS: lane 0 is of high priority, and one packet of lane 1 follows each of it; without QoS nothing is said.
printf '%s\n' 'qos TRUE' 'qos_high_limit -1' 'qos_vlarb_high (null)' 'qos_vlarb_low (null)' 'qos_sl2vl (null)' >"$t/opensm.conf"
system 0 2 1 2 0 1
share "OpenSM's own tables" 0.5 switch switch.vl_file="$t/opensm.conf"
share "of which the limit is 0" 0.333333 switch switch.vl_file="$t/opensm.conf" switch.vl_limit=1
sed -i 's/TRUE/FALSE/' "$t/opensm.conf"
share "no tables: those of the keys" 0.75 switch switch.vl_file="$t/opensm.conf" switch.vl_low=0:64,1:192
system 0 2 1 2 0 0
share "of one level there is one lane" 1 switch switch.sl2vl=1

# ---- the same bits ----

system 0 1 1 2 3 1
{ table 1 1 "0x0 0x1" "0xFF 0x40"; table 9 3 "0x0 0x1" "0x7 0x40" "0x1" "0x9"; limit 9 2 3; limit 9 3 1; } >"$t/ports"
same_bits "ports with tables of their own" run.end="1 ms" output.series.channels=total adapter.packet_size="3000 B" switch.output_queue="8 KiB" \
    switch.vl_file="$t/ports" switch.sl2vl=1,0,1,1
same_bits_run

# ---- what is refused ----

wrong() { # WORDS WORD...
    refused "$1" -o "$t/hand" "$t/c.cfg" "${@:2}"
    check "$1"
}
broken() { # WORDS SED-SCRIPT
    table 9 3 "0x0 0x1" "0x1 0x40" | sed "$2" >"$t/bad"
    wrong "bad:$1" switch.vl_file="$t/bad"
}
system 0 1 1 2 0 1
broken '1: a port is named by its LID' '1s/Lid 9/DR path slid 65535; dlid 65535; 0,1/'
broken '1: the fabric has no device of LID 77: dumps of different times?' '1s/Lid 9/Lid 77/'
broken '1: port 5 of switch "S" (LID 9), which has 4' '1s/port 3/port 5/'
broken '2: which table is this?' 2d
broken '3: which table is this?' 's/VLArb/VL-Arb/'
broken '3: no WEIGHT line follows these lanes; was the text cut off?' 4d
broken '3: no WEIGHT line follows' '4,$d'
broken '1: the port has 2 entries of low and 1 of high priority, here are 2 and 0: was the text cut off?' '5,$d'
broken '1: the port has 2 entries of low and 1 of high priority, here are 0 and 0' '2,$d'
broken '1: it ends with how many entries the port has' '1s/ LowCap.*//'
broken '4: 1 weights of 2 lanes' '4s/|0x40//'
broken '3: "0y1 |": a row is' '3s/0x1/0y1/'
broken '4: " |": a row is' '4s/0x40/0x100/'
broken '1: packets of lane 1 would never leave this port' '4s/0x40/0x0/'
{ table 9 3 "0x0 0x1" "0x1 0x40"; table 9 3 "0x0 0x1" "0x1 0x41"; } >"$t/bad"
wrong 'bad:8: another table of this port than in line 1' switch.vl_file="$t/bad"
limit 9 3 256 >"$t/bad"
wrong 'bad:3: a limit of high priority is a number from 0 to 255' switch.vl_file="$t/bad"
echo nothing >"$t/bad"
wrong 'bad: has no line that begins with qos_.* nor a table as smpquery vlarb' switch.vl_file="$t/bad"
table 9 3 "0x0 0x1" "0x1 0x40" >"$t/ports"
sed 's/^topology.*/topology: { kind = "star"; nodes = 3; bandwidth = "1 GB\/s"; latency = "50 ns"; };/' "$t/c.cfg" >"$t/star.cfg"
refused 'ports:1: ports are known by their LIDs with topology.kind = "fabric" only' -o "$t/hand" "$t/star.cfg" switch.vl_file="$t/ports"
check "ports of a star"
system 0 1 1 2 3 1
wrong 'jobs\[0\].priority: class 3 of 2: classes count from 0'
wrong 'jobs\[0\].priority: service level 3 has lane 2 (switch.sl2vl, switch.vl_file), and switch.classes makes 2' switch.sl2vl=0,0,0,2
wrong 'jobs\[0\].priority: service level 3 has no lane' switch.sl2vl=0,0
wrong 'switch.sl2vl: "0,x" is no list of the lanes of service levels 0 to 15, such as 0,0,1,1' switch.sl2vl=0,x
wrong 'switch.sl2vl: "0,16" is no list' switch.sl2vl=0,16
wrong 'switch.sl2vl: means nothing with switch.lanes = "strict"' switch.lanes=strict switch.sl2vl=0
printf '%s\n' 'qos_swe_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1' >"$t/bad"
wrong 'service level 3 has lane 1 at switches and lane 3 at adapters' switch.vl_file="$t/bad"
echo 'qos_ca_sl2vl=0,1,2' >"$t/bad"
wrong 'bad:1: "qos_ca_sl2vl=0,1,2": a blank is between name and value' switch.vl_file="$t/bad"
printf '%s\n' 'qos TRUE' 'qos_sl2vl 0,1,0,1,' 'max_op_vls 6' >"$t/bad"
wrong 'bad:3: "6" is no code of operational lanes, 1 to 5' switch.vl_file="$t/bad"
