#!/bin/bash
# File servers and an ior: tests/storage/storage.sh
#
# Against PIOsimHD's own results (its set-up is tests/storage/piosimhd.cfg; seconds below are of its golden runs), against the rates that
# bound a stream, and counts by hand; equal on any number of ranks, saved and resumed in the middle of operations; wrong keys are refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

# NAME SECONDS WITHIN CONFIGURATION WORDS...: of the job's first phase
takes() {
    local name=$1 wanted=$2 within=$3 found
    shift 3
    run -o "$t/out" "$@" && found=$(jq ".result.jobs[0].measured.sizes[0].min_ps / 1e12" "$t/out/summary.json") &&
        { awk -v a="$found" -v b="$wanted" -v w="$within" 'BEGIN { d = a / b - 1; exit !(d <= w && d >= -w) }' ||
            { echo "$found s, not $wanted" >>"$t/err"; false; }; }
    check "$name"
}
cell() { awk -F, -v row="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == row + 2 { print $at[column] }' "$t/out/storage.csv"; }

pio=tests/storage/piosimhd.cfg
one=($pio topology.nodes=2 storage.servers.nodes=1 'jobs[0].tasks=1')
takes "PIOsimHD, 1 and 1: 10 x 1 MiB written without a cache" 0.172560 0.03 "${one[@]}" storage.servers.cache_policy=none 'jobs[0].transfer=1MiB'
takes "... read" 0.271988 0.03 "${one[@]}" storage.servers.cache_policy=none 'jobs[0].transfer=1MiB' 'jobs[0].mode=read'
takes "... 10 x 10 MiB written through a cache" 1.407430 0.03 "${one[@]}" 'jobs[0].transfer=10MiB'
takes "... read" 2.461373 0.03 "${one[@]}" 'jobs[0].transfer=10MiB' 'jobs[0].mode=read'
takes "PIOsimHD, 8 and 8: level 0 written" 13.455391 0.12 $pio
takes "... read" 14.316064 0.12 $pio 'jobs[0].mode=read'
takes "... level 2 written" 13.417285 0.12 $pio 'jobs[0].strided=true'
takes "... read" 13.520677 0.12 $pio 'jobs[0].strided=true' 'jobs[0].mode=read'

# Servers on nodes of their clients: the last answer to a read is smaller, is copied faster, and comes before others.
run -o "$t/out" $pio 'jobs[0].transfer=1MiB' 'jobs[0].mode=read' storage.servers.cache_policy=write_behind &&
    jq -e '.result.storage.read_bytes == 83886080' "$t/out/summary.json" >/dev/null
check "answers that overtake each other"

# 8 clients write 1 GiB each to 4 servers: the least of what devices, servers' links, clients' links take bounds it.
cat >"$t/stream.cfg" <<'END'
topology: { kind = "star"; nodes = 12; bandwidth = "10 GB/s"; latency = "100 ns"; };
adapter: { packet_size = "32 KiB"; header = "0 B"; };
switch: { buffer = "256 KiB"; output_queue = "64 KiB"; };
storage: { servers: { nodes = "8-11"; }; device: { kind = "memory"; rate = "100 MB/s"; }; };
jobs = ( { program = "ior"; tasks = 8; transfer = "16 MiB"; block = "1 GiB"; } );
END
takes "devices bound a stream" 21.474836 0.01 "$t/stream.cfg" storage.servers.cache_bytes=64MiB
tr -s ' \n' ' ' <"$t/out/summary.txt" >"$t/said" && grep -q "bottleneck devices of file servers are up to 100.0 % busy; job job0 waits .* spends [0-9]* % in calls on files" "$t/said" &&
    grep -q "files written: 8 GiB in [0-9.]* s, [0-9.]* MiB/s" "$t/said"
check "the summary says what limits, and bandwidths"
takes "links of servers bound a stream" 2.147484 0.01 "$t/stream.cfg" storage.device.rate="100 GB/s" topology.bandwidth="1 GB/s"
takes "links of clients bound a stream" 1.073742 0.01 "$t/stream.cfg" storage.device.rate="100 GB/s" topology.bandwidth="1 GB/s" \
    storage.servers.nodes=2-11 'jobs[0].tasks=2' 'jobs[0].placement="random"'
takes "disks bound a stream: one writer each" 5.381876 0.0001 "$t/stream.cfg" storage.device.kind=disk 'jobs[0].tasks=4' 'jobs[0].block=512 MiB' \
    storage.servers.cache_bytes=64MiB storage.layout.stripe_count=1 'jobs[0].file=task'

# Two tasks write overlapping pieces of one file, and read it: what was written is on the devices once.
run -o "$t/out" "$t/stream.cfg" 'jobs[0].tasks=2' 'jobs[0].transfer=100kB' 'jobs[0].block=1MB' 'jobs[0].segments=3' 'jobs[0].mode=both' \
    storage.layout.stripe_size=64KiB &&
    jq -e '.result.storage | .written_bytes == 6000000 and .read_bytes == 6000000 and .held_bytes == 0 and
        .device_written_bytes + .overlapped_bytes == 6000000' "$t/out/summary.json" >/dev/null
check "bytes written are those on devices, and are read"
[ "$(cell 0 server),$(cell 0 node),$(cell 3 node)" = 0,8,11 ]
check "storage.csv names servers and their nodes"

# Everything at once: servers on nodes of tasks, a trace of messages beside it, traffic, noise of the network; any ranks, saved, resumed.
cat >"$t/c.cfg" <<'END'
topology: { kind = "torus"; extents = [3, 4]; bandwidth = "10 GB/s"; latency = "1 us"; };
node: { cores = 4; };
storage: { servers: { count = 3; every = 4; cache_bytes = "3 MiB"; request_time = "3 us"; threads = 2; };
           device: { kind = "disk"; rate = "400 MB/s"; }; chunk = "200 kB"; window = 2; open_time = "10 us"; };
jobs = ( { program = "ior"; tasks = 12; tasks_per_node = 2; transfer = "150 kB"; block = "450 kB"; segments = 2; mode = "both"; reorder = true; },
         { program = "stencil"; extents = [4]; steps = 40; bytes = "20 kB"; compute_time = "20 us"; share = true; first_node = 4; nodes = 4; } );
traffic: { pattern = "uniform"; load = 0.01; size = "1500 B"; };
run: { end = "60 ms"; };
END
same_bits "an ior beside other jobs"
same_bits "... collective" 'jobs[0].collective_io=true' storage.collective.buffer=100kB
same_bits "... strided and collective, some aggregators" 'jobs[0].collective_io=true' 'jobs[0].strided=true' storage.collective.aggregators=3
same_bits "... without a cache" storage.servers.cache_policy=none output.requests=true
same_bits "... on flash, first come" storage.servers.cache_policy=write_behind storage.device.kind=ssd
same_bits "... own files, aggregated" 'jobs[0].file=task' storage.servers.cache_policy=aggregate storage.layout.stripe_count=2
same_bits "... beside checkpoints of a stencil" 'jobs[1].checkpoint_every=20' 'jobs[1].checkpoint_bytes=700kB'
same_bits "... strided" 'jobs[0].strided=true' storage.layout.stripe_size=10kB

same_bits "... in periods" output.series.storage=periods output.period="1 ms" storage.servers.cache_policy=write_behind 'jobs[1].checkpoint_every=20'

# A job that comes with a fork has files of its own; the same on three ranks.
late=('jobs[2].program=ior' 'jobs[2].tasks=4' 'jobs[2].transfer=100 kB' 'jobs[2].block=300 kB' 'jobs[2].share=true')
run -o "$t/saved" "$t/c.cfg" run.checkpoint.at="20 ms" && run --resume "$t/saved" -o "$t/fork" "${late[@]}" &&
    ranks 3 --resume "$t/saved" -o "$t/fork3" "${late[@]}" && jq -e '.result.jobs[2].io.write.bytes == 1200000' "$t/fork/summary.json" >>"$t/err" &&
    cmp <(jq -S .result "$t/fork/summary.json") <(jq -S .result "$t/fork3/summary.json") && cmp "$t/fork/storage.csv" "$t/fork3/storage.csv"
check "a job with files that comes with a fork"

# What periods have counted is what there was in all, and so is what jobs have.
run -o "$t/out" "$t/c.cfg" output.series.storage=periods output.period="2 ms" 'jobs[1].checkpoint_every=20' run.end=1s traffic.stop="20 ms" &&
    awk -F, 'NR > 1 { w += $5; r += $6; n += $4 } END { print w, r, n }' "$t/out/storage_series.csv" >"$t/sums" &&
    jq -r '.result | [.storage.written_bytes, .storage.read_bytes, .storage.requests] | map(tostring) | join(" ")' "$t/out/summary.json" | cmp - "$t/sums" &&
    jq -e '.result | (.jobs | map(.io.write.bytes) | add) == .storage.written_bytes and .jobs[0].io.read.bytes == .storage.read_bytes and
        .jobs[0].io.open.calls == 24 and .jobs[1].io.open.calls == 8 and (.jobs[0].io.read | .bytes_per_s == (.bytes * 1e12 / .span_ps | floor))' \
        "$t/out/summary.json" >>"$t/err"
check "periods and jobs add up to what servers have counted"
"$(dirname "$marssim")/marsreport" -o "$t/page.html" "$t/out" >"$t/err" 2>&1 && grep -q '"storage_series":{"keys":\["server"\],"objects":\[\[' "$t/page.html" &&
    grep -q '"storage":{"columns":\["server",' "$t/page.html"
check "the page has servers, and their periods"

# The node of a server goes down, and all wait for it.
cat >"$t/down.cfg" <<END
@include "$t/stream.cfg"
faults: { list = ( { node = 9; at = "2 ms"; } ); unreachable = "drop"; };
END
"$marssim" -q -o "$t/bad" "$t/down.cfg" switch.channels=2 >"$t/err" 2>&1
[ $? -eq 1 ] && grep -q 'service storage_client on node 0, called at .* us, which waits for server 1 on node 9$' "$t/err"
check "who waits for a server says which"

bad() { # MESSAGE WORDS...
    local message=$1
    shift
    "$marssim" -q -o "$t/bad" "$t/c.cfg" "$@" >"$t/err" 2>&1
    [ $? -eq 2 ] && grep -q -F -- "$message" "$t/err"
    check "refused: $message"
}
bad "3 servers, one every 9 nodes, want 19 nodes; there are 12" storage.servers.every=9
bad "give storage.servers.nodes or storage.servers.count, not both" storage.servers.nodes=0
bad "holds less than a chunk" storage.servers.cache_bytes=1kB
bad "4 servers for each file, but there are only 3" storage.layout.stripe_count=4
bad "13 of 12 tasks" 'jobs[0].collective_io=true' storage.collective.aggregators=13
bad "is no multiple of jobs[].transfer" 'jobs[0].block=200kB'
bad "is for a file that all tasks share" 'jobs[0].collective_io=true' 'jobs[0].file=task'
sed '/^storage/,/^  *device/d' "$t/c.cfg" >"$t/none.cfg"
"$marssim" -q -o "$t/bad" "$t/none.cfg" >"$t/err" 2>&1; [ $? -eq 2 ] && grep -q -F '"ior" needs file servers' "$t/err"
check "refused: no servers"
sed 's/rate = "400 MB.s";//' "$t/c.cfg" >"$t/none.cfg"
"$marssim" -q -o "$t/bad" "$t/none.cfg" >"$t/err" 2>&1; [ $? -eq 2 ] && grep -q -F 'storage.device.rate: is missing' "$t/err"
check "refused: a device of no rate"
sed 's/count = 3; every = 4;//' "$t/c.cfg" >"$t/none.cfg"
"$marssim" -q -o "$t/bad" "$t/none.cfg" >"$t/err" 2>&1; [ $? -eq 2 ] && grep -q -F 'means nothing without' "$t/err"
check "refused: keys of storage without servers"
"$marssim" -q -o "$t/bad" "$t/stream.cfg" storage.servers.nodes=3,3 >"$t/err" 2>&1; [ $? -eq 2 ] && grep -q -F 'node 3 is listed twice' "$t/err"
check "refused: a server named twice"
