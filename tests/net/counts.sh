#!/bin/bash
# What links have counted beyond 32 bits: tests/net/counts.sh
#
# A port keeps the lower halves of its counts; what is carried over lies with the switch. More than 4 GB, 4.29 ms of transmission and
# 4.29 ms of waiting, by hand; equal on 1, 2, 3, 5 ranks, in every order of cells, saved and resumed.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

{ echo 'topology: { kind = "star"; nodes = 4; bandwidth = "25 GB/s"; latency = "1 us"; };'
  echo 'switch: { buffer = "256 KiB"; output_queue = "256 KiB"; speedup = 4.0; }; adapter: { packet_size = "65000 B"; header = "0 B"; };'
  echo 'traffic: { pattern = "uniform"; load = 0.9; size = "65000 B"; }; run: { end = "210 ms"; }; output: { links = true; period = "50 ms"; series: { links = "periods"; }; };'; } >"$t/c.cfg"

# Of both directions of each link: whole packets of 65,000 B, which take 2.6 us, of which the last may be on the link at the end.
run -o "$t/hand" "$t/c.cfg" && awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { rows++; bytes = $at["bytes"]; late = bytes * 40 - $at["busy_ps"] }
    bytes < 2 ^ 32 || $at["packets"] * 65000 != bytes || late < 0 || late > 2600000 { print; bad = 1 }
    END { exit bad || rows != 8 }' "$t/hand/links.csv" >>"$t/err"
check "more than 4 GB and 4.29 ms of transmission"
same_bits "4 GB" run.end=180ms

# All send to node 0 at 100 MB/s: up to 1 MB of packets that take 0.65 ms waits for its link, 10 ms.
slow=(topology.bandwidth="100 MB/s" switch.output_queue=1MiB switch.buffer=1MiB traffic.pattern=hotspot traffic.hotspot_fraction=1.0)
run -o "$t/hand" "$t/c.cfg" "${slow[@]}" && awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["queue_max_bytes"] > most { most = $at["queue_max_bytes"] }
    END { print most; exit most < 900000 || most > 1048576 }' "$t/hand/links.csv" >>"$t/err"
check "more than 4.29 ms of waiting"
same_bits "10 ms of waiting" "${slow[@]}"
same_bits_run
