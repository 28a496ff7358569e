#!/bin/bash
# Beside a public flit model of InfiniBand's link layer: tests/net/flit-model.sh
#
# garyson/ib_flit_sim (Mellanox 2004-2013, commit fce9e79) simulates every flit of 64 B and every flow-control packet: links of 4 B/ns and 20 ns, 200 slots for
# each lane at inputs, credits looked at every 256 ns, packets of 2,048 B, switches of 100 ns. Rates of sources in GB/s from 100 to 600 us, without congestion
# control; the model's figures are below. Here a source's rate is what its link has carried. Its inputs read packets of several lanes at once: switch.reads.
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

# The tail of one packet.
system "$star" "0 7 0"
for packet in "64 156" "128 172" "256 204" "512 268" "1024 396" "2048 652" "4096 1164"; do
    read -r bytes ns <<<"$packet"
    messages_goal "$t/app.goal" 2 "0 1 $bytes"
    run -o "$t/hand" "$t/c.cfg" adapter.packet_size=4KiB switch.vl_overhead=0 && [ "$(jq .result.message_latency_ps.max "$t/hand/summary.json")" = "${ns}000" ]
    check "a packet of $bytes B"
done
# What flow control leaves: of m lanes in use it takes 2 m ns every 256 ns, or behind a packet that is longer.
system "$star" "0 7 0"
rates "packets of 4,096 B" 0.1 "0 3.99219" -- adapter.packet_size=4KiB switch.vl_overhead=0.001949
rates "packets of 256 B" 0.1 "0 3.96877" -- adapter.packet_size=256B switch.vl_overhead=0.007752
system "$star" "0 7 0" "0 7 1" "0 7 2" "0 7 3"
rates "on four lanes" 0.1 "0 3.87878" -- adapter.packet_size=256B switch.vl_overhead=0.030303 switch.vl_low=0:4,1:4,2:4,3:4
system "$star" "0 7 0" "7 0 0"
rates "both directions" 0.1 "0 3.98438" "7 3.98438"
system "$star" "0 7 0" "1 7 1"
rates "lanes of 32 and 32" 0.8 "0 1.99280" "1 1.99168" -- switch.vl_low=0:32,1:32,2:1,3:1
system "$star" "0 7 0" "1 7 1"
rates "lanes of 64 and 192" 0.8 "0 0.99776" "1 2.98672" -- switch.vl_low=0:64,1:192,2:1,3:1
system "$star" "0 7 0" "1 7 1" "2 7 2"
rates "lanes of 32, 64 and 128" 0.8 "0 0.57008" "1 1.13664" "2 2.27776" -- switch.vl_low=0:32,1:64,2:128,3:1
system "$star" "0 7 0" "1 7 1" "2 7 1"
rates "lanes of 64 and 192, two sources on one" 0.8 "0 0.99328" "1 1.49504" "2 1.49616" -- switch.vl_low=0:64,1:192,2:1,3:1
# Limit 1: two packets of 2,112 B of the high lane for one of the other.
system "$star" "0 7 0" "1 7 1"
rates "a lane of high priority" 0.8 "0 1.32792" "1 2.65696" -- switch.vl_high=1:33 switch.vl_low=0:33,2:1,3:1 switch.vl_limit=1 adapter.packet_size=2112B
system "$star" "0 7 0" "1 7 0"
rates "incast of two" 0.5 "0 1.99373" "1 1.99078"
system "$star" "0 7 0" "1 7 0" "2 7 0" "3 7 0"
rates "incast of four" 0.5 "0 0.9961" "1 0.9961" "2 0.9961" "3 0.9961"
# Sources of packets of 2,048, 1,024 and 512 B, each a message: shares as the sizes.
system "$star" "0 7 0" "1 7 0" "2 7 0"
for i in 0 1 2; do
    awk -v bytes=$((2048 >> i)) 'BEGIN { print "num_ranks 2\nrank 0 {"; for (i = 0; i < 900; i++) print "send " bytes "b to 1"; print "}\nrank 1 {"
        for (i = 0; i < 900; i++) print "recv " bytes "b from 0"; print "}" }' >"$t/$i.goal"
    sed -i "0,/app.goal/s//$i.goal/" "$t/c.cfg"
done
rates "packets of three sizes" 0.5 "0 2.27328" "1 1.13613" "2 0.56832"
# 0, 4 and 5 send to 2, where all is hot; 1 to 3, which is not.
system "$(line 2 4)" "0 2 0" "1 3 0" "4 2 0" "5 2 0"
rates "a victim behind the hot link" 1 "0 1.33018" "1 1.32723" "4 1.32723" "5 1.3271"
system "$(line 2 4)" "1 3 0"
rates "the victim alone" 0.5 "1 3.98438"
system "$(line 2 4)" "0 2 0" "1 3 1" "4 2 0" "5 2 0"
rates "the victim on a lane of its own" 0.5 "0 1.33018" "1 2.65728" "4 1.32723" "5 1.3271" -- switch.vl_low=0:32,1:32,2:1,3:1 switch.reads=flits
system "$(line 1 1 2)" "0 3 0" "1 3 0" "2 3 0"
rates "a parking lot of three switches" 1 "0 0.995456" "1 0.995328" "2 1.99373"

# ---- with congestion control ----

# kelvinleong0529/Infiniband-Simulation (commit 94c103c): packets of 2,048 B, 32 at an input, one waiting packet is the threshold, every r-th packet of an output may
# be marked, notifications of 2,048 B; behind a packet of 512 ns a source waits index^2 x 3300/6889 ns. What waits is counted when a packet comes, without those
# that are first of their input, and on their way to the output's arbiter there. Timers of 30 and 10 us are 29 and 10 x 1.024 us here.
cct=$(awk 'BEGIN { for (i = 0; i < 128; i++) { v = i * i * 3300 / 6889 / 512; for (s = 15; int(v * 2 ^ s + 0.5) > 16383; s--); printf "%s\"%d/2^%d\"", i ? ", " : "", v * 2 ^ s + 0.5, s } }')
controlled() { # NETWORK TIMER RATE: who sends what is in $t/app.goal
    echo "$1"
    echo 'switch: { channels = 1; buffer = "64 KiB"; delay = "100 ns"; output_queue = "10 KiB"; speedup = 7.2; }; adapter: { packet_size = "2 KiB"; header = "0 B"; };'
    echo "mpi: { eager_limit = \"1 GB\"; }; output: { links = true; }; jobs = ( { program = \"trace\"; format = \"goal\"; trace = \"$t/app.goal\"; } );"
    echo 'congestion: { control = "infiniband"; sw_packets = 1; seen = "arrival"; marking = "counted"; ccti_begin = "first_packet"; cnp_size = "2 KiB";'
    echo "marking_rate = $3; ccti_timer = $2; cct = [$cct]; };"
}

# When the first notification reaches each source: there one of 2 ns of flow control goes ahead every 4,096 ns, here none does. The time is found by runs that
# end before it and with it.
first() { # NAME TIMER RATE NS...: of sources 0, 1, ..., all sending to 7
    local name=$1 timer=$2 rate=$3 s low high middle messages=() found=""
    shift 3
    for ((s = 0; s < $#; s++)); do messages+=("$s 7 4000000"); done
    messages_goal "$t/app.goal" 8 "${messages[@]}"
    controlled "$star" "$timer" "$rate" >"$t/c.cfg"
    for ((s = 0; s < $#; s++)); do
        low=0 high=16384
        while [ $((high - low)) -gt 1 ]; do
            middle=$(((low + high) / 2))
            run -o "$t/hand" "$t/c.cfg" run.end=${middle}ns
            if grep -q "^$s,7," "$t/hand/congestion.csv"; then high=$middle; else low=$middle; fi
        done
        found="$found $((low + low / 4096 * 2))"
    done
    echo "$found, there $*" >"$t/err"
    [ "$found" = " $*" ]
    check "$name"
}
first "the first notifications of two sources, to the nanosecond" 29 0 8476 7962
first "of four" 29 0 7450 7962 8476 6938
first "of four, every third packet marked" 10 2 7450 12060 10524 8988

# Control amplifies small differences: rates from 3 to 6 ms of five starts (source s begins s x 0, 0.1, 0.237, 0.411, 0.77 us later) lie in a range there, and
# their mean here must be in it, widened by 5 %.
ranges() { # NAME NETWORK NODES TIMER RATE "FROM TO LOW HIGH"...: of each source
    local name=$1 network=$2 nodes=$3 timer=$4 rate=$5 start flow from to rest messages
    shift 5
    for start in 0 100 237 411 770; do
        messages=()
        for flow in "$@"; do
            read -r from to rest <<<"$flow"
            messages+=("$from $to 40000000 $((from * start))")
        done
        messages_goal "$t/app.goal" "$nodes" "${messages[@]}"
        controlled "$network" "$timer" "$rate" >"$t/c.cfg"
        run -o "$t/hand" "$t/c.cfg" run.warmup=3ms run.end=6ms && tail -n +2 "$t/hand/links.csv" | awk -F, '$1 == "node" && $9 { print "rate", $2, $9 / 3e6 }'
    done >"$t/rates"
    printf '%s\n' "$@" | awk 'FILENAME == "-" { low[$1] = $3; high[$1] = $4; next } $2 in low { sum[$2] += $3; n++ }
        END { for (s in low) { r = sum[s] / 5; printf "%s %.4f (%s to %s) ", s, r, low[s], high[s]; if (r < low[s] * 0.95 || r > high[s] * 1.05) bad = 1 }
              print ""; exit bad || !n }' - "$t/rates" >"$t/err"
    check "$name"
}
ranges "two sources, every packet marked" "$star" 8 29 0 "0 7 1.59812 2.08213" "1 7 1.58515 2.01796"
ranges "four sources, every third" "$star" 8 10 2 "0 7 0.975531 1.00762" "1 7 0.959829 0.996693" "2 7 0.982357 1.00215" "3 7 0.976896 0.989184"
# There ten packets wait behind what holds a source back, and five in its output: with a switch for each node in place of that all four are in their ranges,
# and the highest index is 127, as there; without it 122, and source 3 is 1 % outside.
{ echo "switch s"
  for i in {0..7}; do printf '%s\n' "switch h$i" "node n$i h$i 1ns 4GB/s" "link h$i s 20ns 4GB/s"; done; } >"$t/queues.net"
ranges "four sources, every packet marked" "topology: { kind = \"file\"; file = \"$t/queues.net\"; };" 8 29 0 \
    "0 7 0.884053 1.05404" "1 7 0.882005 1.08407" "2 7 0.856064 1.0793" "3 7 0.882005 0.899072"
ranges "a victim behind the hot link" "$(line 2 4)" 6 29 0 "0 2 0.893611 0.9216" "1 3 2.63373 2.73886" "4 2 1.26635 1.60085" "5 2 1.21378 1.46842"
ranges "a parking lot" "$(line 1 1 2)" 4 29 0 "0 3 1.22266 1.30389" "1 3 1.21583 1.27932" "2 3 1.16326 1.23631"

# The second of two sources ends after 2 MiB: then the first has the link, and its index is 0 again.
messages_goal "$t/app.goal" 8 "0 7 40000000" "1 7 2097152"
controlled "$star" 29 0 >"$t/c.cfg"
rates "a source whose rival has ended" 0.5 "0 3.99872" -- run.warmup=6ms run.end=6.5ms
cut -d, -f6 "$t/hand/congestion.csv" | tail -n +2 >"$t/err"
! grep -v '^0.000000$' "$t/err"
check "its index is 0 again"

# ---- a fat tree, random destinations ----

# Four leaves of two hosts, two spines; messages of 8,192 B; means of three seeds within 5 % of theirs. There as here a source begins the next message when it has
# made the one before: of half the link's rate, no faster than that behind a wait.
tree='topology: { kind = "fat_tree"; down = [2, 4]; up = [1, 2]; bandwidth = "4 GB/s"; latency = "20 ns"; };'
flits='switch: { channels = 1; buffer = "12800 B"; credit_unit = "64 B"; credit_interval = "256 ns"; delay = "100 ns"; output_queue = "8 KiB"; vl_overhead = 0.003891; speedup = 1.5; reads = "flits"; };'
packets='switch: { channels = 1; buffer = "64 KiB"; delay = "100 ns"; output_queue = "10 KiB"; speedup = 7.2; reads = "flits"; };'
source='adapter: { packet_size = "2 KiB"; header = "0 B"; queues = "fifo";'
uniform() { # NAME RATE SWITCH FROM TO: every host sends all it can
    local seed
    echo "$tree $3 $source }; traffic: { pattern = \"uniform\"; load = 1.25; arrival = \"periodic\"; size = \"8 KiB\"; };" >"$t/c.cfg"
    for seed in 0 1 2; do
        run -o "$t/hand" "$t/c.cfg" run.warmup="$4" run.end="$5" run.seed=$seed && jq .result.accepted_load "$t/hand/summary.json"
    done | awk -v wanted="$2" '{ sum += $1 * 4 } END { r = sum / 3; print r, "there", wanted; exit !(NR == 3 && r > 0.95 * wanted && r < 1.05 * wanted) }' >"$t/err"
    check "$1"
}
uniform "uniform, flits" 3.28707 "$flits" 100us 400us
uniform "uniform, packets" 3.83812 "$packets" 1ms 4ms

# Hosts 1, 2, 4 and 6 send all they can to 0; 3, 5 and 7 at half the rate to all but that.
printf '%s\n' 0 1 2 4 6 >"$t/hot.nodes"
printf '%s 1\n' {0..7} >"$t/background.nodes"
background() { # SEED MESSAGES
    awk -v seed="$1" -v n="$2" 'BEGIN {
        srand(seed); print "num_ranks 8"
        for (h = 3; h < 8; h += 2) for (k = 0; k < n; k++) { do to = 1 + int(7 * rand()); while (to == h); d[h, k] = to }
        for (h = 0; h < 8; h++) {
            print "rank", h, "{"
            for (k = 0; h > 1 && h % 2 && k < n; k++) {
                print "s" k ": send 8192b to", d[h, k], "tag", h * 100000 + k "\nc" k ": calc 4096"
                if (k) print "c" k " requires c" k - 1 "\ns" k " requires c" k - 1
            }
            for (g = 3; g < 8; g += 2) for (k = 0; k < n; k++) if (d[g, k] == h) print "recv 8192b from", g, "tag", g * 100000 + k
            print "}"
        } }' >"$t/background.goal"
}
hot() { # NAME SWITCH CONGESTION FROM TO MESSAGES "WHAT RATE"...: all of all hosts, link, background, least, most of contributors
    local name=$1 from=$4 to=$5 seed
    messages_goal "$t/hot.goal" 5 "1 0 40000000" "2 0 40000000" "3 0 40000000" "4 0 40000000"
    { echo "$tree $2 $source injection_rate = [\"2 GB/s\", \"5 GB/s:1MB\"]; }; $3 output: { links_by_job = true; }; mpi: { eager_limit = \"1 GB\"; }; node: { cores = 2; };"
      echo "jobs = ( { name = \"hot\"; program = \"trace\"; format = \"goal\"; trace = \"$t/hot.goal\"; placement = \"file\"; placement_file = \"$t/hot.nodes\"; },"
      echo "{ name = \"background\"; program = \"trace\"; format = \"goal\"; trace = \"$t/background.goal\"; placement = \"file\"; placement_file = \"$t/background.nodes\"; } );"; } >"$t/c.cfg"
    for seed in 0 1 2; do
        background $seed "$6"
        run -o "$t/hand" "$t/c.cfg" run.warmup="${from}us" run.end="${to}us" && tail -n +2 "$t/hand/links_by_job.csv" | awk -F, -v ns=$((1000 * (to - from))) '
            $1 == "node" && $2 { r = $9 / ns; all += r / 8; if ($8 == "hot") { link += r; if (!least || r < least) least = r; if (r > most) most = r } else back += r / 3 }
            END { print "all", all "\nlink", link "\nbackground", back "\nleast", least "\nmost", most }'
    done >"$t/rates"
    printf '%s\n' "${@:7}" | awk 'FILENAME == "-" { wanted[$1] = $2; next } { sum[$1] += $2 / 3; n++ }
        END { for (w in wanted) { r = sum[w]; printf "%s %.4f (%s) ", w, r, wanted[w]; if (r < 0.95 * wanted[w] || r > 1.05 * wanted[w]) bad = 1 } print ""; exit bad || n != 15 }' - "$t/rates" >"$t/err"
    check "$name"
}
hot "a hot spot and background, flits" "$flits" "" 100 400 120 "all 1.11105" "link 3.98443" "background 1.63465" "least 0.662187" "most 1.99168"
hot "packets, no control" "$packets" "" 3000 6000 1500 "all 1.22294" "link 3.9977" "background 1.92861" "least 0.666283" "most 1.99885"
hot "packets, with control" "$packets" "$(controlled "" 29 0 | grep -A1 '^congestion')" 3000 6000 1500 \
    "all 1.22291" "link 3.78402" "background 1.99976" "least 0.916594" "most 0.967794"
