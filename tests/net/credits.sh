#!/bin/bash
# How credits are counted and when they are sent, what headers and flow control take of a link: tests/net/credits.sh
#
# Times by hand, to the picosecond; equal on 1, 2, 3, 5 ranks, in every order of cells, saved and resumed; what is wrong is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

# BYTES RATE LATENCY PACKET: a message of these bytes from node 0 to node 1 of a star; the switch takes 100 ns.
system() {
    { echo "topology: { kind = \"star\"; nodes = 2; bandwidth = \"$2\"; latency = \"$3\"; }; switch: { channels = 1; delay = \"100 ns\"; };"
      echo "adapter: { packet_size = \"$4 B\"; header = \"0 B\"; }; mpi: { eager_limit = \"1 GB\"; };"
      echo "jobs = ( { program = \"trace\"; format = \"goal\"; trace = \"$t/app.goal\"; } );"; } >"$t/c.cfg"
    messages_goal "$t/app.goal" 2 "0 1 $1"
}
# NAME PS WORD...: when all of it has arrived
arrives() {
    local name=$1 wanted=$2
    shift 2
    run -o "$t/hand" "$t/c.cfg" "$@" && [ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } END { print $at["finish_ps"] }' "$t/hand/tasks.csv" | tee -a "$t/err")" = "$wanted" ]
    check "$name"
}

# A packet of 136 B takes 68 ns, and its credit is back 100 + 100 + 68 + 100 = 368 ns after it began: three in 512 B, one round of three every 368 ns. Of 1,000
# the last is the first of round 333: 333 x 368 + 68 + 300 ns. In blocks of 64 B a packet takes 192 B, so that two fit: packet 999 is the second of round 499:
# 499 x 368 + 68 + 68 + 300.
system 136000 "2 GB/s" "100 ns" 136
arrives "bytes: 122,912 ns" 122912000 switch.buffer=512B
# The places of credits hold times up to 2^43 ps, which are 8,796,093 us: from then on they are records, as between ranks.
arrives "before and behind 8.8 s" 8796122912000 switch.buffer=512B jobs[0].start=8796ms
arrives "blocks of 64 B: 184,068 ns" 184068000 switch.buffer=512B switch.credit_unit=64B
arrives "a buffer of two blocks and a bit holds no more than two" 184068000 switch.buffer=575B switch.credit_unit=64B
# Of the flit model (credits looked at every 256 ns): buffers of 32 flits and links of 20 ns give 0.667 of the link, 64 flits and 500 ns 0.572. The credit of a
# packet of 2,048 B is back after 512 + 20 + 100 + 20 = 652 ns, so it is known at 768: 512 / 768. Packet 999 begins at 999 x 768 and takes 652 ns.
system 2048000 "4 GB/s" "20 ns" 2048
arrives "one packet in the buffer" 652000000 switch.buffer=2048B
arrives "credits at intervals: 0.667 of the link" 767884000 switch.buffer=2048B switch.credit_interval=256ns
# Two packets: credits after 512 + 1,100 = 1,612 ns, known at 1,792: 1,024 / 1,792 = 0.571. The last is the second of round 499.
system 2048000 "4 GB/s" "500 ns" 2048
arrives "0.571 of the link" 896332000 switch.buffer=4096B switch.credit_interval=256ns
# 2,048 + 26 B at 2 GB/s are 1,037 ns, then 300.
system 2048 "2 GB/s" "100 ns" 2048
arrives "InfiniBand's headers" 1337000 adapter.headers=infiniband
# Half of the link is left.
arrives "flow control takes half" 2348000 switch.vl_overhead=0.5

system 136000 "2 GB/s" "100 ns" 256
same_bits "blocks at intervals" switch.buffer=512B switch.credit_unit=64B switch.credit_interval=300ns adapter.headers=infiniband switch.vl_overhead=0.01
same_bits "and a limited sink" switch.buffer=1KiB switch.credit_unit=128B switch.credit_interval=1us adapter.ejection_rate="1 GB/s" adapter.buffer="700 B"
same_bits "before and behind 8.8 s" switch.buffer=512B jobs[0].start=8796ms
same_bits_run

wrong() { # WORDS WORD...
    refused "$1" -o "$t/hand" "$t/c.cfg" "${@:2}"
    check "$1"
}
wrong 'switch.credit_unit: 48 bytes are not a power of two, such as 64' switch.credit_unit=48B
wrong '511 bytes hold' switch.buffer=511B adapter.packet_size=512B
wrong 'switch.buffer: 256 bytes hold no packet of 300 bytes (adapter.packet_size + adapter.header), which takes whole blocks of 256 B: give at least "512 B"' \
    adapter.packet_size=300B switch.credit_unit=256B switch.buffer=511B
wrong 'adapter.packet_size: 136 bytes are no MTU of InfiniBand: 256, 512, 1024, 2048 or 4096' adapter.packet_size=136B adapter.headers=infiniband
wrong 'adapter.packet_size: 8192 bytes are no MTU' adapter.packet_size=8KiB adapter.headers=infiniband
wrong 'a packet of 65535 bytes takes 65536 in blocks of 64; at most 65535 are possible' adapter.packet_size=65535B switch.credit_unit=64B
wrong 'switch.vl_overhead: too large: must be 0 to 0.9' switch.vl_overhead=1
printf '%s\n' 'topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "9 ns"; }; adapter: { header = "8 B"; headers = "infiniband"; };' \
    'traffic: { pattern = "uniform"; load = 0.1; size = "64 B"; messages = 1; };' >"$t/c.cfg"
wrong 'adapter.header: means nothing with adapter.headers = "infiniband"'

# ---- limits of life ----

# Three packets of 2,000 B; the adapter has room for one and takes 1 us a byte. The second is at the switch at 2,000 + 50 + 50 ns, the third at 4,100 ns. With
# 2^8 x 4,096 ns the second is dropped at 2,100 + 1,048,576 ns; as the first of its queue the third is so then, and is dropped as long after that.
lives() {
    { echo 'topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "50 ns"; }; switch: { channels = 1; delay = "50 ns"; };'
      echo 'adapter: { packet_size = "2000 B"; header = "0 B"; ejection_rate = "1 MB/s"; buffer = "2000 B"; }; mpi: { eager_limit = "1 GB"; };'
      echo "jobs = ( { program = \"trace\"; format = \"goal\"; trace = \"$t/app.goal\"; } );"; } >"$t/c.cfg"
    messages_goal "$t/app.goal" 2 "0 1 6000"
}
# NAME HEAD PACKET NS WORD...: until then this many have been dropped, by either limit
dropped() {
    run -o "$t/hand" "$t/c.cfg" run.end="$4ns" "${@:5}" && [ "$(jq -c '.result | [.lost_head_life, .lost_packet_life]' "$t/hand/summary.json" | tee -a "$t/err")" = "[$2,$3]" ]
    check "$1"
}
lives
dropped "not yet" 0 0 1050675 switch.head_life=8
dropped "the second as first of its queue for 1,048,576 ns" 1 0 1050677 switch.head_life=8
dropped "the third not at 1,052,676" 1 0 1052677 switch.head_life=8
dropped "but 1,048,576 ns after the second; by then the first is worked off, and it is not" 1 0 2099253 switch.head_life=8
dropped "by the limit of the switch: the second" 0 1 1050677 switch.packet_life=8
dropped "and the third, as long after it came" 0 2 1052677 switch.packet_life=8
dropped "none at 1,052,675" 0 1 1052675 switch.packet_life=8
dropped "the third as first of its queue" 2 0 2099253 switch.head_life=8 adapter.ejection_rate=1kB/s
dropped "not before" 1 0 2099251 switch.head_life=8 adapter.ejection_rate=1kB/s
ends 1 'messages or partners that never come (2 packets were lost by waiting too long in switches)' "$marssim" -q -o "$t/hand" "$t/c.cfg" switch.packet_life=8 partition.bind=no
check "who waits for what has been dropped"
wrong 'adapter.resequence: is not possible with switch.head_life or switch.packet_life below 20' adapter.resequence=true switch.head_life=19
wrong 'switch.packet_life: too large: must be 0 to' switch.packet_life=64
run -o "$t/hand" "$t/c.cfg" switch.head_life=20
check "20: no limit"
