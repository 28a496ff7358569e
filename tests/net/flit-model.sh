#!/bin/bash
# Beside a public flit model of InfiniBand's link layer: tests/net/flit-model.sh
#
# garyson/ib_flit_sim (Mellanox 2004-2013, commit fce9e79) simulates every flit of 64 B and every flow-control packet: links of 4 B/ns and 20 ns, 200 slots for
# each lane at inputs, credits looked at every 256 ns, packets of 2,048 B, switches of 100 ns. Rates of sources in GB/s from 100 to 600 us, without congestion
# control; the model's figures are below. Here a source's rate is what its link has carried.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

# TEXT "FROM TO LANE"...: the network, and who sends all it can to whom
system() {
    local i=0 from to lane
    { echo "$1"
      echo 'switch: { channels = 1; classes = 4; lanes = "vl"; buffer = "12800 B"; credit_unit = "64 B"; credit_interval = "256 ns"; delay = "100 ns"; output_queue = "8 KiB";'
      echo '  vl_overhead = 0.003891; }; adapter: { packet_size = "2 KiB"; header = "0 B"; }; mpi: { eager_limit = "1 GB"; }; node: { cores = 16; };'
      echo 'output: { links = true; }; jobs = ('
      for flow in "${@:2}"; do
          read -r from to lane <<<"$flow"
          [ $i -eq 0 ] || echo ,
          printf '%s\n' "$from" "$to" >"$t/$i.nodes"
          echo "{ program = \"trace\"; format = \"goal\"; trace = \"$t/app.goal\"; placement = \"file\"; placement_file = \"$t/$i.nodes\"; priority = $lane; }"
          i=$((i + 1))
      done
      echo ');'; } >"$t/c.cfg"
    messages_goal "$t/app.goal" 2 "0 1 4000000"
}
# NAME PERCENT "NODE RATE"... [-- WORD...]: the rates of these sources, within this
rates() {
    local name=$1 within=$2 wanted=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do wanted+=("$1"); shift; done
    run -o "$t/hand" "$t/c.cfg" run.warmup=100us run.end=600us "${@:2}" && printf '%s\n' "${wanted[@]}" | awk -F, -v within="$within" '
        NR == FNR { split($0, w, " "); rate[w[1]] = w[2]; next }
        FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["from_kind"] == "node" && $at["from"] in rate { r = $at["bytes"] / 500000; d = r / rate[$at["from"]] - 1; printf "%s %.5f (%s) ", $at["from"], r, rate[$at["from"]]
            n++; if (d > within / 100 || d < -within / 100) bad = 1 }
        END { print ""; exit bad || !n }' - "$t/hand/links.csv" >"$t/err"
    check "$name"
}

star='topology: { kind = "star"; nodes = 8; bandwidth = "4 GB/s"; latency = "20 ns"; };'
line() { # NODES...: a switch for each, in a row
    local n i k node=0
    { i=0
      for n in "$@"; do echo "switch s$i"; i=$((i + 1)); done
      i=0
      for n in "$@"; do
          for ((k = 0; k < n; k++)); do echo "node n$node s$i 20ns 4GB/s"; node=$((node + 1)); done
          i=$((i + 1))
      done
      for ((k = 0; k + 1 < i; k++)); do echo "link s$k s$((k + 1)) 20ns 4GB/s"; done; } >"$t/line.net"
    echo "topology: { kind = \"file\"; file = \"$t/line.net\"; };"
}

system "$star" "0 7 0" "1 7 1"
rates "lanes of 64 and 192" 0.8 "0 0.99776" "1 2.98672" -- switch.vl_low=0:64,1:192,2:1,3:1
system "$star" "0 7 0" "1 7 1" "2 7 2"
rates "lanes of 32, 64 and 128" 0.8 "0 0.57008" "1 1.13664" "2 2.27776" -- switch.vl_low=0:32,1:64,2:128,3:1
system "$star" "0 7 0" "1 7 0" "2 7 0" "3 7 0"
rates "incast of four" 0.5 "0 0.9961" "1 0.9961" "2 0.9961" "3 0.9961"
# 0, 4 and 5 send to 2, where all is hot; 1 to 3, which is not.
system "$(line 2 4)" "0 2 0" "1 3 0" "4 2 0" "5 2 0"
rates "a victim behind the hot link" 1 "0 1.33018" "1 1.32723" "4 1.32723" "5 1.3271"
# With the victim on a lane of its own the two differ: that model has 1.33 for 0 and 2.66 for 1, we 0.79 and 3.20, as an input here reads one packet at a time,
# and is held by that of 1 when 0 could have its turn.
system "$(line 1 1 2)" "0 3 0" "1 3 0" "2 3 0"
rates "a parking lot of three switches" 1 "0 0.995456" "1 0.995328" "2 1.99373"

# ---- with congestion control ----

# kelvinleong0529/Infiniband-Simulation (commit 94c103c): packets of 2,048 B, 32 at an input, one waiting packet is the threshold, every r-th packet of an output may
# be marked, notifications of 2,048 B; behind a packet of 512 ns a source waits index^2 x 3300/6889 ns. Rates from 3 to 6 ms must lie in the range of five starts,
# widened by 5 %. Timers of 30 and 10 us are 29 and 10 x 1.024 us here.
cct=$(awk 'BEGIN { for (i = 0; i < 128; i++) { v = i * i * 3300 / 6889 / 512; for (s = 15; int(v * 2 ^ s + 0.5) > 16383; s--); printf "%s\"%d/2^%d\"", i ? ", " : "", v * 2 ^ s + 0.5, s } }')
controlled() { # NAME N TIMER RATE "LOW HIGH"...: of each source
    local i messages=() name=$1 n=$2
    for ((i = 0; i < n; i++)); do messages+=("$i 7 40000000"); done
    { echo "$star"
      echo 'switch: { channels = 1; buffer = "64 KiB"; delay = "100 ns"; output_queue = "10 KiB"; speedup = 7; }; adapter: { packet_size = "2 KiB"; header = "0 B"; };'
      echo "mpi: { eager_limit = \"1 GB\"; }; output: { links = true; }; jobs = ( { program = \"trace\"; format = \"goal\"; trace = \"$t/app.goal\"; } );"
      echo "congestion: { control = \"infiniband\"; sw_packets = 1; marking = \"counted\"; marking_rate = $4; ccti_timer = $3; ccti_begin = \"first_packet\"; cnp_size = \"2 KiB\"; cct = [$cct]; };"; } >"$t/c.cfg"
    messages_goal "$t/app.goal" 8 "${messages[@]}"
    shift 4
    run -o "$t/hand" "$t/c.cfg" run.warmup=3ms run.end=6ms && printf '%s\n' "$@" | awk -F, '
        NR == FNR { split($0, w, " "); low[NR - 1] = w[1]; high[NR - 1] = w[2]; next }
        FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["from_kind"] == "node" && $at["from"] in low { r = $at["bytes"] / 3e6; printf "%s %.4f (%s to %s) ", $at["from"], r, low[$at["from"]], high[$at["from"]]
            n++; if (r < low[$at["from"]] * 0.95 || r > high[$at["from"]] * 1.05) bad = 1 }
        END { print ""; exit bad || !n }' - "$t/hand/links.csv" >"$t/err"
    check "$name"
}
controlled "two sources, every packet marked" 2 29 0 "1.59812 2.08213" "1.58515 2.01796"
controlled "four sources, every third" 4 10 2 "0.975531 1.00762" "0.959829 0.996693" "0.982357 1.00215" "0.976896 0.989184"
