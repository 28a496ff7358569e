#!/bin/bash
# Congestion control of InfiniBand's annex A10, and that by round-trip times: tests/net/infiniband.sh
#
# Rates, marks and indices by hand; fair shares and the queue of windows; beside an independent flit model; equal on 1, 2, 3, 5 ranks, in every order of
# cells, saved and resumed; what is wrong is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

# NODES TEXT...: a star of links of 4 GB/s and 20 ns, packets of 2,048 B, the schedule $t/app.goal
star() {
    { echo "topology: { kind = \"star\"; nodes = $1; bandwidth = \"4 GB/s\"; latency = \"20 ns\"; }; mpi: { eager_limit = \"1 GB\"; };"
      echo 'switch: { channels = 1; buffer = "32 KiB"; delay = "100 ns"; output_queue = "2 KiB"; }; adapter: { packet_size = "2 KiB"; header = "0 B"; };'
      printf '%s\n' "${@:2}"
      echo "jobs = ( { program = \"trace\"; format = \"goal\"; trace = \"$t/app.goal\"; } );"; } >"$t/c.cfg"
}
control='congestion: { control = "infiniband"; };'
of() { jq -r "$1" "$t/hand/summary.json"; }
is() { # NAME FOUND WANTED
    echo "$2" >"$t/err"
    [ "$2" = "$3" ]
    check "$1"
}

# ---- rates ----

# 100 packets of 512 ns: the last begins 99 x 512 x (1 + m/2^s) after the first, has left after 512 ns, and is there 140 ns later.
star 2 "$control"
messages_goal "$t/app.goal" 2 "0 1 204800"
finish_times "entry 0: as fast as the link" "51200000 51340000" 1 "$t/c.cfg" congestion.cct=0 congestion.ccti_limit=0
finish_times "entry (1, 0): half" "101888000 102028000" 1 "$t/c.cfg" congestion.cct=1 congestion.ccti_limit=0
finish_times "entry (3, 1): two fifths" "127232000 127372000" 1 "$t/c.cfg" congestion.cct=3/2^1 congestion.ccti_limit=0
finish_times "entry (127, 0): 1/128" "6488576000 6488716000" 1 "$t/c.cfg" congestion.ccti_min=127

# ---- marks ----

# N packets come to a switch at one time, for one output: the first to leave sees N of 2,048 B, the last but one two, the last itself.
planted() { # N: as many nodes send a packet each to the last
    local i messages=()
    for ((i = 0; i < $1; i++)); do messages+=("$i $1 2048"); done
    messages_goal "$t/app.goal" $(($1 + 1)) "${messages[@]}"
    star $(($1 + 1)) "$control"
}
marked() { # NAME NUMBER WORD...
    run -o "$t/hand" "$t/c.cfg" "${@:3}"
    is "$1" "$(of .result.congestion.marked_packets)" "$2"
}
planted 7
marked "threshold 15 of 32 KiB: above 2,048 B" 6 congestion.sw_threshold=15
marked "threshold 14: above 4,096 B" 5 congestion.sw_threshold=14
marked "threshold 0: none" 0 congestion.sw_threshold=0
marked "one other packet" 6 congestion.sw_packets=1
marked "four others" 3 congestion.sw_packets=4
marked "of the output's packets 0, 1, ... 6 every third, but the last has none behind it" 2 congestion.marking=counted congestion.marking_rate=2
marked "packets of at least 32 blocks" 6 congestion.packet_size=32
marked "packets of at least 33 blocks: none" 0 congestion.packet_size=33
planted 16
marked "threshold 1: above 30,720 B, 16 packets" 1 congestion.sw_threshold=1
planted 15
marked "not 15" 0 congestion.sw_threshold=1
# One source, and an adapter that takes half of what the link brings: what waits at the switch waits for credits, so that it is no root.
messages_goal "$t/app.goal" 2 "0 1 409600"
star 2 "$control"
slow="adapter.ejection_rate=2GB/s adapter.buffer=4KiB congestion.ccti_limit=0 congestion.cct=0"
marked "an output that lacks credits is no root" 0 $slow
run -o "$t/hand" "$t/c.cfg" $slow congestion.victim_mask=adapters
is "but marks by the victim mask" "$(of '.result.congestion.marked_packets > 150')" true
run -o "$t/hand" "$t/c.cfg" $slow congestion.victim_mask=0x2
is "of ports" "$(of '.result.congestion.marked_packets > 150')" true
marked "and not by that of others" 0 $slow congestion.victim_mask=0xfffffffffffffffffd

# ---- the index ----

# Five packets each of two sources: all but the last to leave are marked, so that one source has five notifications and the other four. The timer ends every
# 153.6 us: four steps later, at 614.4 us, the index of the latter is 0 again. The sum of the index over time (its mean times the span) says until when.
messages_goal "$t/app.goal" 3 "0 2 10240" "1 2 10240" "2 1 8 900000"
star 3 "$control"
sum_until() { # TIME: of the flow with four, in us x index; and its BECNs and highest index
    run -o "$t/hand" "$t/c.cfg" run.end="$1us" congestion.cct=0,0,0,0,0,0 congestion.ccti_limit=5 &&
        awk -F, -v us="$1" '$4 == 4 { printf "%d %d %.3f\n", $4, $5, $6 * us }' "$t/hand/congestion.csv"
}
all=$(sum_until 800) end=$(sum_until 614.4) before=$(sum_until 614.3)
is "four notifications" "${all% *}" "4 4"
is "the index is 0 from 614.4 us on, not before" "$(echo "$all ${end##* } ${before##* }" | awk '{ d = $3 - $4; e = $4 - $5; print (d < 0.002 && d > -0.002 && e > 0.097 && e < 0.103) }')" 1
# In periods as long as the timer: 4 in the first, then from each end on one less, for all of the period, until it is 0.
run -o "$t/hand" "$t/c.cfg" run.end=900us congestion.cct=0,0,0,0,0,0 congestion.ccti_limit=5 output.period="153600 ns" output.series.congestion=periods
is "in periods" "$(awk -F, -v flow="$(awk -F, '$4 == 4 { print $1 }' "$t/hand/congestion.csv")" 'NR > 1 && $2 == flow { printf "%s %s %s %s %s; ", $1 / 153600000, $3, $5, $6, ($1 == 153600000 ? ($7 > 3.8) : $7 + 0) }' \
    "$t/hand/congestion_series.csv")" "1 2 4 4 1; 2 2 0 3 3; 3 2 0 2 2; 4 2 0 1 1; "
is "and together as in all" "$(awk -F, 'NR > 1 { n += $5 } END { print n }' "$t/hand/congestion_series.csv")" "$(awk -F, 'NR > 1 { n += $4 } END { print n }' "$t/hand/congestion.csv")"
# A lower limit, and a class in place of the flow.
run -o "$t/hand" "$t/c.cfg" congestion.ccti_limit=2 congestion.by=sl
is "the index is at most ccti_limit; of a class" "$(awk -F, 'NR > 1 { printf "%s ", $1 "," $2 "," $3 "," $5 }' "$t/hand/congestion.csv")" "0,,0,2 1,,0,2 "

# ---- round-trip times ----

fair() { # N: as many send 8 MB to one; all end within 5 %, the link is full, and round trips are near the target
    local i messages=()
    for ((i = 0; i < $1; i++)); do messages+=("$i $1 8000000"); done
    messages_goal "$t/app.goal" $(($1 + 1)) "${messages[@]}"
    star $(($1 + 1)) 'congestion: { control = "rtt"; target = "40 us"; window_first = "16 KiB"; cnp_size = "8 B"; };'
    run -o "$t/hand" "$t/c.cfg" switch.buffer="1 MiB" output.period="500 us" output.series.links=periods &&
        awk -F, -v n="$1" 'NR > 1 && $2 < n { at = $5; if (!low || at < low) low = at; if (at > high) high = at }
            END { print n, low, high; exit !(low > 0.95 * high && high < n * 2e9 * 1.02) }' "$t/hand/tasks.csv" >"$t/err"
    check "$1 flows with round-trip windows: alike within 5 %, the link full"
    is "$1 flows: round trips at the target of 40 us" "$(of '.result.packet_latency_ps.p50 / 1e6 | . > 32 and . < 44')" true
}
fair 2
fair 4
fair 8

# ---- the same bits ----

cat >"$t/c.cfg" <<'END'
topology: { kind = "fat_tree"; down = [4, 4]; up = [1, 2]; bandwidth = "4 GB/s"; latency = "50 ns"; };
switch: { buffer = "8 KiB"; output_queue = "4 KiB"; classes = 2; lanes = "vl"; channels = 1; credit_unit = "64 B"; };
adapter: { packet_size = "1 KiB"; headers = "infiniband"; };
traffic: { pattern = "hotspot"; hotspots = [5]; hotspot_fraction = 0.4; load = 0.6; size = "8 KiB"; };
run: { warmup = "50 us"; end = "400 us"; };
congestion: { control = "infiniband"; ccti_timer = 20; };
output: { period = "30 us"; series: { congestion = "periods"; }; };
END
same_bits "drawn marks, by flow"
same_bits "counted marks, by class, timers from the first packet" congestion.marking=counted congestion.marking_rate=3 congestion.by=sl congestion.ccti_begin=first_packet congestion.cnp_lane=flow
same_bits "marks by what waits on arrival, inputs that read flits" congestion.seen=arrival congestion.sw_packets=1 congestion.marking=counted congestion.marking_rate=2 switch.reads=flits
same_bits "an index above its minimum, victims" congestion.ccti_min=1 congestion.victim_mask=adapters congestion.cnp_size=1050B "congestion.cct=0,1/2^2,1/2,1,3/2,2,3,4" congestion.ccti_limit=7 congestion.sw_packets=2
sed -i 's/^congestion.*/congestion: { control = "rtt"; target = "6 us"; window_first = "4 KiB"; growth = "300 B"; };/; /^output/d' "$t/c.cfg"
same_bits "windows"
same_bits_run

# ---- what is refused ----

wrong() { # WORDS WORD...
    refused "$1" -o "$t/hand" "$t/c.cfg" "${@:2}"
    check "$1"
}
wrong '"rtt" is not possible where packets may be lost' switch.head_life=3
wrong 'congestion.window_first: must lie between a packet (1050 bytes) and congestion.window_most' congestion.window_first=1000B
sed -i 's/^congestion.*/congestion: { control = "infiniband"; };/' "$t/c.cfg"
wrong 'congestion.cct: entry 1, "3/3", is no multiplier/2^shift, such as 3/2^1: a multiplier of at most 16383' congestion.cct=0,3/3
wrong 'entry 2 is less than the one before it: they must ascend' congestion.cct=0,3/2,1
wrong 'congestion.ccti_limit: 127 lies behind the end of congestion.cct, which has 2 entries' congestion.cct=0,1
wrong 'congestion.cct: has 8193 entries; at most 8192 (128 blocks of 64)' congestion.cct="$(printf '1,%.0s' {1..8192})1"
wrong 'congestion.ccti_min: 9 is more than congestion.ccti_limit (8)' congestion.ccti_min=9 congestion.ccti_limit=8
wrong 'congestion.victim_mask: "0xg" is neither "adapters" nor a mask of at most 256 ports, such as 0x3e' congestion.victim_mask=0xg
wrong 'congestion.sw_threshold: too large: must be 0 to 15' congestion.sw_threshold=16
