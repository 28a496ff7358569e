#!/bin/bash
# Tasks that call services of their nodes: tests/nodes/service-calls.sh
#
# tests/source/plugin/echo.c is built against the installed headers: an echo server, a desk that asks servers on other nodes, and a program
# whose tasks call them. Times by hand, to the picosecond; what tables say of calls; the same bits on 1, 2, 3 and 5 ranks, in every order of
# cells and after a resume in mid-call, above packets and above network.model = "simple"; what is wrong is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v pkg-config >/dev/null || { echo "SKIP: pkg-config is missing"; exit 0; }
case $(readlink -f "${MARSSIM:-./marssim}") in *sanitize*) echo "SKIP: a library without sanitisers"; exit 0 ;; esac
. tests/lib-runs.sh
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u OPTIMISE -u BUILD -u ARCH -u CFLAGS -u CC -u EXTRA \
    make install-files PROGRAM="$marssim" PREFIX="$t/usr" >"$t/err" 2>&1 &&
    export PKG_CONFIG_PATH=$t/usr/share/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} &&
    cc -shared -fPIC $(pkg-config --cflags marssim) tests/source/plugin/echo.c -o "$t/libecho.so" 2>"$t/err"
check "services and a program are built against the installed headers"

# Within a node 64 B take 200 ns and 64 B at 10 GB/s: 206.4 ns. To another node: 64 ns onto the link, 100 ns, 50 ns through the switch, 100 ns:
# 314 ns. The server takes 1 us for a call, and so do tasks between their calls.
cat >"$t/echo.cfg" <<END
plugins = ["$t/libecho.so"];
topology: { kind = "star"; nodes = 3; bandwidth = "1 GB/s"; latency = "100 ns"; };
switch: { delay = "50 ns"; };
adapter: { header = "0 B"; };
node: { cores = 2; };
services = ( { kind = "echo"; }, { kind = "desk"; } );
jobs = ( { program = "callers"; tasks = 1; rounds = 3; } );
END
by_hand() { # NAME FINISH WAIT KEYS...: of task 0
    local got
    run -o "$t/hand" "$t/echo.cfg" "${@:4}" && got=$(awk -F, 'NR == 2 { print $5, $7 }' "$t/hand/tasks.csv") && [ "$got" = "$2 $3" ]
    check "$1: finish and wait are ${got:-none}, by hand $2 $3"
}
by_hand "3 x (1,000 + 206.4 + 1,000 + 206.4)" 7238400 4238400
by_hand "overheads at both ends" 7688400 4238400 node.send_overhead="100 ns" node.receive_overhead="50 ns"
by_hand "with a request, 1 us computed beside" 7238400 1238400 'jobs[0].beside="1 us"'
by_hand "with a request, 2 us computed beside" 9000000 0 'jobs[0].beside="2 us"'
by_hand "to another node: 206.4 + 314 + 1,000 + 314 + 206.4" 9122400 6122400 'jobs[0].whom="desk"' 'services[0].list="2"'
# Two tasks of a node: the second waits a round's microsecond for the first, then they alternate. The last answer comes after 8,238.4 ns, and
# a barrier's message 200 ns later. Task 0 has its own after 7,238.4 ns, with 3 x 1,412.8 ns of waits, and waits for the barrier until then.
by_hand "two tasks at one server" 8438400 5438400 'jobs[0].tasks=2' 'jobs[0].tasks_per_node=2'

run -o "$t/waits" "$t/echo.cfg" output.waits=true output.calls=true output.critical_path="1 MB" &&
    jq -e '.result.jobs[0] | .waits.service_ps == 4238400 and .waits.other_ps == 0 and .critical_path.kinds.service_ps == 4238400 and
        .critical_path.kinds.computation_ps == 3000000 and .critical_path.complete' "$t/waits/summary.json" >>"$t/err" &&
    grep -q '^0,echo,3,192,,4238,4238$' "$t/waits/calls.csv" && grep -q '^job0,echo,3,4238400,.*,4238400,0,0,0$' "$t/waits/wait_functions.csv"
check "waits, calls and the critical path know them"
run -o "$t/waits" "$t/echo.cfg" output.waits=true output.critical_path="1 MB" 'jobs[0].beside="1 us"' &&
    jq -e '.result.jobs[0] | .waits.service_ps == 1238400 and .critical_path.kinds == {computation_ps: 3000000, call_ps: 0, transfer_ps: 0, in_node_ps: 0,
        contention_ps: 0, handshake_ps: 0, sending_ps: 0, matching_ps: 0, service_ps: 4238400, other_ps: 0}' "$t/waits/summary.json" >>"$t/err"
check "with requests: the path goes by the service, from the call on"
run -o "$t/plain" configs/star-pingpong.cfg output.waits=true && ! grep -q service_ps "$t/plain/waits.csv" "$t/plain/summary.json"
check "where nobody calls any, no column says so"
ends 1 "service echo on node 0, called at 3.413 us" "$m" -q -o "$t/stuck" "$t/echo.cfg" 'services[0].answers=1'
check "a call that is never answered is reported as a deadlock"
ends 1 "echo_wait .* service echo on node 0, called at 3.41[23] us" "$m" -q -o "$t/stuck" "$t/echo.cfg" 'services[0].answers=1' 'jobs[0].beside="1 us"'
check "with a request, too"

# Everything together; each task calls its own node's server, or by its desk those of nodes 1, 6, 11 and 16.
cat >"$t/all.cfg" <<END
plugins = ["$t/libecho.so"];
topology: { kind = "fat_tree"; down = [4, 5]; up = [1, 2]; bandwidth = "10 GB/s"; latency = "500 ns"; };
adapter: { packet_size = "1 KiB"; resequence = true; };
node: { cores = 4; send_overhead = "80 ns"; noise: { kind = "random"; gap = "30 us"; length = "2 us"; }; };
services = ( { kind = "echo"; }, { kind = "echo"; name = "far"; list = "1,6,11,16"; time = "700 ns"; }, { kind = "desk"; servers = "far"; },
             { kind = "heartbeat"; period = "7 us"; bytes = "3 KiB"; } );
jobs = ( { name = "near"; first_node = 0; program = "callers"; tasks = 20; rounds = 30; call_bytes = "2 KiB"; compute_jitter = "500 ns"; },
         { name = "far"; first_node = 0; program = "callers"; tasks = 20; whom = "desk"; rounds = 40; call_bytes = "9000 B"; beside = "3 us"; },
         { name = "ring"; first_node = 0; program = "stencil"; extents = [40]; tasks_per_node = 2; steps = 20; bytes = "12 KiB"; compute_time = "2 us"; } );
traffic: { pattern = "uniform"; load = 0.1; size = "1500 B"; };
output: { period = "10 us"; waits = true; calls = true; critical_path = "8 MB"; matrix = true; timeline = ["perfetto"];
          series: { jobs = "periods"; tasks = "periods"; functions = "periods"; links = "periods"; adapters = "periods"; }; };
END
all_alike "near and far, MPI, traffic, a heartbeat, noise and series" "$t/all.cfg"
# 20 tasks x 30 calls; 20 x 40 to the four servers.
jq -e '.result.services | .[0].answered == 600 and .[1].answered == 800' "$t/one/summary.json" >"$t/err"
check "every call is answered"
all_alike "more than simple nodes, two adapters" "$t/all.cfg" node.adapters=2 node.rail=nearest node.sockets=2 node.core_bandwidth="5 GB/s" \
    node.controller_bandwidth="20 GB/s" node.socket_latency="90 ns" node.lane_bandwidth="1 GB/s" node.bus_latency="300 ns" 'jobs[2].memory_bandwidth="3 GB/s"'
sed 's/^adapter.*/network: { model = "simple"; latency = "900 ns"; bandwidth = "5 GB\/s"; };/; s/links = "periods"; adapters = "periods";//; s/matrix = true;//' "$t/all.cfg" >"$t/simple.cfg"
all_alike "above network.model = simple" "$t/simple.cfg"

# A file server. A write of 2,000 B to two stripes: 400 ns to the client, both requests there after 2,250 ns, 10 us of seek and 10 us of
# disk, an answer without payload (1 ns on each link, as packets have a byte at least) after 251 ns, 200 ns to the task: 23,101 ns. Read: 200 ns to the client,
# 251 ns, 20 us as well (it goes back), two answers of 1,000 B on one link 2,250 ns, 400 ns: 23,101 ns.
cc -shared -fPIC $(pkg-config --cflags marssim) tests/source/plugin/files.c -o "$t/libfiles.so" 2>"$t/err"
check "a file server and its clients are built"
sed -e 's/libecho.so/libfiles.so/' -e 's/^services.*/services = ( { kind = "file_server"; list = "2"; seek = "10 us"; rate = "100 MB\/s"; },/' -e \
    's/^jobs.*/{ kind = "file_client"; list = "0-1"; stripe = "1000 B"; } ); jobs = ( { program = "file_writers"; tasks = 1; record = "2000 B"; } );/' \
    -e 's/nodes = 3/nodes = 4/' "$t/echo.cfg" >"$t/files.cfg"
mv "$t/echo.cfg" "$t/kept.cfg"; mv "$t/files.cfg" "$t/echo.cfg"
by_hand "write and read over two servers" 46202000 46202000 'services[0].list="2-3"'
# On to the end, 1,500 B at a time. The first read: 200 ns, 251 ns, 20 us for stripe 0, 1,250 ns for its 1,000 B, and 350 ns for 1,500 B to the
# task; the other server is done before. The second one finds 500 B, which its disk reads without a seek in 5 us: 200 + 251 + 5,000 + 750 + 250 ns.
by_hand "a read that is short: the program sees the end" 51603000 51603000 'services[0].list="2-3"' 'jobs[0].read="1500 B"'
mv "$t/kept.cfg" "$t/echo.cfg"
sed -n '/^topology/p; /^adapter/p; /^node:/p; /^traffic/p; /^output/,$p' "$t/all.cfg" | sed 's/latency = "500 ns"/latency = "5 us"/' >"$t/files.cfg" # ranks meet as often as the latency is short
cat >>"$t/files.cfg" <<END
plugins = ["$t/libfiles.so"];
services = ( { kind = "file_server"; list = "3,9,17"; seek = "20 us"; rate = "2 GB/s"; }, { kind = "file_client"; stripe = "10000 B"; } );
jobs = ( { name = "writers"; first_node = 0; program = "file_writers"; tasks = 40; tasks_per_node = 2; records = 4; record = "25000 B"; },
         { name = "ring"; first_node = 0; program = "stencil"; extents = [20]; steps = 100; bytes = "12 KiB"; compute_time = "2 us"; background = true; } );
END
all_alike "a file server beside MPI, traffic, noise and series" "$t/files.cfg"
# 40 x 4 x 25,000 B, twice.
jq -e '.result.services[0].bytes == 8000000' "$t/one/summary.json" >"$t/err"
check "all that was written and read was at a disk"
all_alike "tasks that read until a read is short" "$t/files.cfg" 'jobs[0].tasks=20' 'jobs[0].records=2' 'jobs[0].read="40000 B"'
# 1,000,000 B are written, of which task i reads all but the first i x 50,000 B: with those written 21 x 1,000,000 - 190 x 50,000 B.
jq -e '.result.services[0].bytes == 11500000' "$t/one/summary.json" >"$t/err"
check "each has read up to the end, and no further"

refused 'jobs\[0\].whom: no service of services\[\] is called "ecko": .*; did you mean "echo"?' "$t/echo.cfg" 'jobs[0].whom="ecko"'
check "refused: a service that there is not, with the nearest"
refused 'jobs\[0\].whom: task 2 of job .job0. runs on node 2, where the service "echo" does not: services\[0\] has 2 nodes' "$t/echo.cfg" \
    'jobs[0].tasks=3' 'services[0].list="0-1"'
check "refused: a service that does not run on the task's node"
refused 'jobs\[0\].whom: the service "heartbeat" answers no calls of tasks' "$t/echo.cfg" 'jobs[0].whom="heartbeat"' 'services=({kind="heartbeat";})' run.end="1 ms"
check "refused: a service that answers none"
grep -v '^switch\|^adapter\|^services' "$t/echo.cfg" >"$t/loggops.cfg"
refused 'jobs\[0\].whom: tasks cannot call the service "echo" with network.model = "loggops"' "$t/loggops.cfg" network.model=loggops
check "refused: LogGOPS"
