#!/bin/bash
# What links carry by job (output.links_by_job): by hand; it adds up to links.csv and link_series.csv, whatever nodes jobs share; the same on any
# number of ranks, in any order of the cells and after a checkpoint; it changes nothing else.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

# The rows of a link add up to the link's. FOLDER
adds_up() {
    awk -F, 'FNR == 1 { split("", at); for (i = 1; i <= NF; i++) at[$i] = i; file++; next }
        { link = $at["from_kind"] " " $at["from"] " " $at["from_port"]; sign = file == 1 ? 1 : -1
          if ($at["time_ps"] && at["time_ps"]) link = $at["time_ps"] " " link
          bytes[link] += sign * $at["bytes"]; busy[link] += sign * $at["busy_ps"]; rows[file]++ }
        END { for (l in bytes) if (bytes[l] || busy[l]) { print l, bytes[l], busy[l]; bad = 1 } exit bad || !rows[1] || !rows[2] }' "$1" "$2" >"$t/err"
}
both_add_up() { adds_up "$1/links.csv" "$1/links_by_job.csv" && { [ ! -e "$1/link_series.csv" ] || adds_up "$1/link_series.csv" "$1/links_by_job_series.csv"; }; }

# ---- by hand ----

# 2 round trips of 24 bytes, of each job's two messages to node 1 one packet of 24 and one of 8 bytes of header: 32 bytes, 32 ns at 1 GB/s; job b
# sends 3 of 40 bytes, from the same nodes. Each direction has 2 x 32 of a and 3 x 48 of b.
cat >"$t/hand.cfg" <<'END_CFG'
topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "10 ns"; };
switch: { channels = 1; };
adapter: { header = "8 B"; };
node: { cores = 2; };
output: { links_by_job = true; };
jobs = ( { program = "pingpong"; name = "a"; steps = 2; bytes = "24 B"; share = true; },
         { program = "pingpong"; name = "b"; steps = 3; bytes = "40 B"; share = true; } );
END_CFG
run -o "$t/a" "$t/hand.cfg" && diff <(tail -n +2 "$t/a/links_by_job.csv") - <<'END_CSV'
switch,0,0,node,0,0,node,a,64,64000
switch,0,0,node,0,0,node,b,144,144000
switch,0,1,node,1,0,node,a,64,64000
switch,0,1,node,1,0,node,b,144,144000
node,0,0,switch,0,0,node,a,64,64000
node,0,0,switch,0,0,node,b,144,144000
node,1,0,switch,0,1,node,a,64,64000
node,1,0,switch,0,1,node,b,144,144000
END_CSV
check "two jobs on the same two nodes"

# ---- sums, and the same bits ----

cat >"$t/c.cfg" <<'END_CFG'
topology: { kind = "torus"; extents = [3, 3, 2]; bandwidth = "10 GB/s"; latency = "40 ns"; };
traffic: { pattern = "uniform"; load = 0.2; size = "700 B"; };
switch: { buffer = "8 KiB"; };
adapter: { packet_size = "512 B"; };
node: { cores = 8; };
run: { seed = 3; warmup = "1 us"; end = "25 us"; };
output: { links_by_job = true; series: { links = "periods"; }; period = "700 ns"; };
jobs = ( { name = "a"; program = "stencil"; extents = [4, 4]; steps = 20; bytes = "4 KiB"; placement = "random"; share = true; },
         { name = "b, c"; program = "pingpong"; steps = 300; bytes = "3 kB"; share = true; },
         { name = "d"; program = "stencil"; extents = [3, 3, 3]; steps = 20; bytes = "3 kB"; allreduce_every = 1; placement = "random"; tasks_per_node = 2; share = true; } );
services = ( { kind = "heartbeat"; period = "800 ns"; bytes = "200 B"; } );
END_CFG
cut_name() { sed 's/"b, c"/b/' "$1" >"$1.cut" && mv "$1.cut" "$1"; }
run -o "$t/a" "$t/c.cfg" && cut_name "$t/a/links_by_job.csv" && cut_name "$t/a/links_by_job_series.csv" && both_add_up "$t/a" &&
    [ "$(awk -F, 'NR > 1 { print $8 }' "$t/a/links_by_job.csv" | sort -u | tr '\n' ' ')" = "(others) a b d " ]
check "shared nodes, traffic and a service: they add up to the links, and periods to their periods"
run -o "$t/b" "$t/c.cfg" output.links_by_job=false && rm "$t/a"/links_by_job* && alike "$t/a" "$t/b"
check "nothing else changes"
run -o "$t/a" "$t/c.cfg" routing.pinning=message adapter.resequence=true && run -o "$t/b" "$t/c.cfg" routing.pinning=message adapter.resequence=true output.links_by_job=false &&
    rm "$t/a"/links_by_job* && alike "$t/a" "$t/b"
check "nor where messages' numbers choose their paths and are put in order"

same_bits "a torus, with series"
same_bits "put in order, paths by message" adapter.resequence=true routing.pinning=message routing.algorithm=adaptive
same_bits "several adapters" node.adapters=2 node.rail=round_robin
same_bits "messages in parts" node.adapters=2 node.rail=stripe "node.stripe_size=1 kB"
same_bits "channels, detours, congestion control" output.series.channels=periods routing.algorithm=valiant congestion.control=ecn
same_bits "a buffer at the node" "adapter.ejection_rate=8 GB/s" "adapter.buffer=4 KiB"
same_bits "faults" faults.link_rate=0.1 "faults.spread=20 us"

# ---- many jobs ----

{ sed '/^jobs/,$d' "$t/c.cfg"
  echo "jobs = ("
  for ((i = 0; i < 18; i++)); do
      [ $i = 0 ] || echo ,
      echo "{ name = \"j$i\"; program = \"pingpong\"; steps = 20; bytes = \"$((100 * (i + 1))) B\"; share = true; placement = \"random\"; placement_seed = $i; }"
  done
  echo ");"; } >"$t/many.cfg"
run -o "$t/a" "$t/many.cfg" traffic.load=0.01 && both_add_up "$t/a" &&
    [ "$(awk -F, 'NR > 1 { print $8 }' "$t/a/links_by_job.csv" | sort -u | wc -l)" = 16 ] && grep -q ',j14,' "$t/a/links_by_job.csv" && ! grep -q ',j15,' "$t/a/links_by_job.csv"
check "of eighteen jobs fifteen by themselves"

# ---- a fork that adds a job ----

new=('jobs[3].name=new' 'jobs[3].program=pingpong' 'jobs[3].steps=30' 'jobs[3].bytes=5 kB' 'jobs[3].share=true')
run -o "$t/a" "$t/c.cfg" "run.checkpoint.at=9 us" && run -o "$t/b" "${new[@]}" --resume "$t/a" && cut_name "$t/b/links_by_job.csv" && cut_name "$t/b/links_by_job_series.csv" &&
    both_add_up "$t/b" && grep -q ',new,' "$t/b/links_by_job.csv"
check "a fork brings a job of its own"

# ---- refused ----

refused() { # NAME TEXT KEYS...
    local name=$1 text=$2
    shift 2
    ! run -o "$t/a" "$t/off.cfg" "$@" && grep -q "$text" "$t/err"
    check "$name"
}
sed '/^output/d' "$t/hand.cfg" >"$t/off.cfg"
for model in simple links flow loggops; do
    refused "not with network.model = \"$model\"" "output.links_by_job: means nothing with network.model = \"$model\"" network.model=$model output.links_by_job=true
done
sed '/^jobs/,$d; /^output/d; /^node/d' "$t/c.cfg" >"$t/off.cfg"
refused "not without jobs" 'output.links_by_job: means nothing without jobs' output.links_by_job=true
