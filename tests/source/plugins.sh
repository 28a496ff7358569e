#!/bin/bash
# Kinds from outside the tree: tests/source/plugins.sh
#
# The program is installed into a scratch folder, and tests/source/plugin/mine.c is built against it by pkg-config alone, elsewhere. Its
# topology, routing algorithm, traffic pattern and service run on 1 and 3 ranks with equal results; what is no plugin is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
program=$(readlink -f "${MARSSIM:-./marssim}")
command -v pkg-config >/dev/null || { echo "SKIP: pkg-config is missing"; exit 0; }
case $program in *sanitize*) echo "SKIP: a library without sanitisers"; exit 0 ;; esac
. tests/lib-script.sh
shown=$work/log

env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u OPTIMISE -u BUILD -u ARCH -u CFLAGS -u CC -u EXTRA \
    make install-files PROGRAM="$program" PREFIX="$work/usr" >"$work/log" 2>&1
check "installed"
cp tests/source/plugin/mine.c "$work"
cd "$work" || exit 2
export PKG_CONFIG_PATH=$work/usr/share/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
marssim=$work/usr/bin/marssim
build() { cc -shared -fPIC $(pkg-config --cflags marssim) "$@" >log 2>&1; }
build mine.c -o libmine.so
check "a plugin is built against the installed headers"
hot=$(cd usr/include/marssim && ls net/{adapter,switch,congestion}/ kernel/engine/exchange.h net/network.h net/packet.h 2>/dev/null | tr '\n' ' ')
[ -z "${hot//kernel\/engine\/exchange.h /}" ]
check "headers of the hot path are not installed"

cat >line.cfg <<'END'
plugins = ["libmine.so"];
topology: { kind = "line"; length = 11; bandwidth = "10 GB/s"; latency = "50 ns"; };
routing: { algorithm = "minimal"; };
traffic: { pattern = "every"; every = 3; load = 0.3; };
run: { end = "20 us"; };
END
equal() { # FILE NAME: 1 and 3 ranks
    "$marssim" -q -o one "$1" >log 2>&1 &&
        mpirun -n 3 "$marssim" -q -o three "$1" partition.oversubscribe=true >log 2>&1 &&
        [ "$(jq -S .result one/summary.json)" = "$(jq -S .result three/summary.json)" ] && cmp -s one/links.csv three/links.csv &&
        [ "$(jq .result.packets_delivered one/summary.json)" -gt 100 ]
    check "$2"
}
equal line.cfg "a topology with its routing and a pattern of a plugin: 1 and 3 ranks"
"$marssim" --check line.cfg >log 2>&1 && grep -q "deadlock *none" log
check "its routing is proved free of deadlock"
for algorithm in adaptive valiant ugal par; do
    sed "s/\"minimal\"/\"$algorithm\"/; s/length = 11/length = 5/; s/every = 3/every = 2/" line.cfg >general.cfg
    "$marssim" --check general.cfg >log 2>&1 && grep -q "deadlock *none" log && equal general.cfg "it has $algorithm of any graph: 1 and 3 ranks"
done
sed 's/kind = "line"; length = 11/kind = "star"; nodes = 9/; s/"minimal"/"straight_out"/' line.cfg >star.cfg
equal star.cfg "a routing algorithm of a plugin for a topology that is there: 1 and 3 ranks"
cat >ask.cfg <<'END'
plugins = ["libmine.so"];
topology: { kind = "line"; length = 11; bandwidth = "10 GB/s"; latency = "50 ns"; };
routing: { algorithm = "minimal"; };
traffic: { pattern = "every"; every = 3; load = 0.2; };
jobs = ( { program = "stencil"; extents = [11]; steps = 20; compute_time = "1 us"; background = true; } );
services = ( { kind = "ask"; }, { kind = "ask"; name = "few"; every = 4; gap = "1 us"; open = 1; }, { kind = "heartbeat"; } );
run: { end = "40 us"; };
END
equal ask.cfg "a service of a plugin beside another one, MPI and traffic: 1 and 3 ranks"
jq -c .result.services one/summary.json >log; jq -e '.result.services | length == 3 and .[0].nodes == 11 and .[0].answers > 100 and .[1].answers > 10 and .[1].skipped > 5' one/summary.json >>log &&
    cmp one/service_ask.csv three/service_ask.csv && cmp one/service_few.csv three/service_few.csv
check "what it has counted"
mpirun -n 3 "$marssim" -q -o saved ask.cfg partition.oversubscribe=true run.checkpoint.at="17 us" run.checkpoint.dir=dir >log 2>&1 &&
    mpirun -n 2 "$marssim" -q -o resumed --resume dir partition.oversubscribe=true >log 2>&1 && [ "$(jq -S .result one/summary.json)" = "$(jq -S .result resumed/summary.json)" ] &&
    cmp one/service_ask.csv resumed/service_ask.csv && cmp one/links.csv resumed/links.csv
check "saved by 3 ranks, resumed by 2"
"$marssim" -q -o bad --resume dir 'services[0].gap=1 us' >log 2>&1
[ $? -eq 2 ] && grep -q 'services\[0\].gap: is fixed once a run has begun' log
check "its keys are fixed then"
# Two nodes of a line that are k switches apart: k + 2 links of 100 ns; the last arrives after a message of 1,000 B at 1 GB/s.
cp "$top/tests/source/plugin/carrier.c" . && build carrier.c -o libcarrier.so
check "a carrier of messages is built"
sed -e 's/"libmine.so"/"libmine.so", "libcarrier.so"/' -e 's/^run/network: { model = "by_distance"; link_latency = "100 ns"; rate = "1 GB\/s"; };\nrun/' ask.cfg >carrier.cfg
carried() { # FOLDER FOLDER: nothing but what is told of them
    [ "$(jq -S .result "$1/summary.json")" = "$(jq -S .result "$2/summary.json")" ] && cmp "$1/tasks.csv" "$2/tasks.csv" && cmp "$1/service_ask.csv" "$2/service_ask.csv"
}
"$marssim" -q -o one carrier.cfg >log 2>&1 && mpirun -n 3 "$marssim" -q -o three carrier.cfg partition.oversubscribe=true >log 2>&1 &&
    carried one three && [ "$(jq .result.messages_delivered one/summary.json)" -gt 1000 ]
check "a carrier of a plugin below MPI, traffic and services of another: 1 and 3 ranks"
mpirun -n 3 "$marssim" -q -o saved carrier.cfg partition.oversubscribe=true run.checkpoint.at="17 us" run.checkpoint.dir=carried >log 2>&1 &&
    mpirun -n 2 "$marssim" -q -o resumed --resume carried partition.oversubscribe=true >log 2>&1 && carried one resumed
check "and saved by 3 ranks, resumed by 2"
"$marssim" -q -o hand carrier.cfg 'services=()' 'jobs=()' 'traffic.pattern="every"' traffic.size="1000 B" traffic.load=0.01 >log 2>&1 &&
    jq -e '.result.message_latency_ps.max <= 2300000 and .result.message_latency_ps.min >= 1300000' hand/summary.json >log
check "its times, by hand"
# Clerks, 1 us a question, and customers on some of three nodes. 64 B to another node take 314 ns (tests/nodes/services.sh), within a node 206.4 ns.
cp "$top/tests/source/plugin/counter.c" . && build counter.c -o libcounter.so
check "two services that know each other are built"
cat >counter.cfg <<'END'
plugins = ["libcounter.so"];
topology: { kind = "star"; nodes = 3; bandwidth = "1 GB/s"; latency = "100 ns"; };
switch: { delay = "50 ns"; };
adapter: { header = "0 B"; };
services = ( { kind = "customer"; clerks = "staff"; desks = "0,2"; }, { kind = "clerk"; name = "staff"; list = "0,2"; } );
run: { end = "23 us"; };
END
counted() { jq -c '.result.services | [.[0].nodes, .[0].asked, .[0].answers, .[0].longest_ps, .[1].nodes]' one/summary.json >log && [ "$(cat log)" = "$1" ]; }
"$marssim" -q -o one counter.cfg 'services[0].list="0"' 'services[0].desks="0"' >log 2>&1 && counted "[1,5,5,1412800,2]"
check "from service to service within a node, to the picosecond"
# Both nodes ask the clerk of node 0 at once: node 1's question waits until 1,206.4 ns, its answer is there after 1,206.4 + 1,000 + 314 ns.
"$marssim" -q -o one counter.cfg 'services[0].list="0-1"' 'services[0].desks="0"' 'services[1].list="0"' >log 2>&1 && counted "[2,10,10,2520400,1]"
check "between nodes, to the picosecond; nodes by a list"
"$marssim" -q -o one counter.cfg >log 2>&1 && counted "[3,15,15,$(jq '.result.services[0].longest_ps' one/summary.json),2]"
check "to other nodes and within, every question is answered"
for ranks in 2 3; do
    mpirun -n $ranks "$marssim" -q -o three counter.cfg partition.oversubscribe=true partition.adapt=false run.checkpoint.at="10900 ns" run.checkpoint.dir=counted$ranks >log 2>&1 &&
        [ "$(jq -S .result one/summary.json)" = "$(jq -S .result three/summary.json)" ] && cmp one/service_customer.csv three/service_customer.csv &&
        "$marssim" -q -o resumed --resume counted$ranks >log 2>&1 && [ "$(jq -S .result one/summary.json)" = "$(jq -S .result resumed/summary.json)" ]
    check "$ranks ranks, saved while questions wait, and resumed by one"
done
# A trace format. Task 1 has the first 64 B after 1,000 + 314 ns, task 2 the next ones after 1,628 ns. Then a barrier in two rounds: task 2's message, of one
# byte in a packet, is with task 0 after 1,879 ns, whose answer is there after 2,130 ns.
cp "$top/tests/source/plugin/format.c" . && build format.c -o libformat.so
check "a trace format is built"
printf '#calls 3\n0 compute 1000\n0 send 1 64\n1 recv 0\n1 send 2 64\n2 recv 1\n0 barrier\n1 barrier\n2 barrier\n' >three.txt
sed -e 's/libcounter/libformat/' -e 's/^services.*/jobs = ( { program = "trace"; trace = "three.txt"; } );/' -e '/^run/d' counter.cfg >format.cfg
"$marssim" -q -o one format.cfg >log 2>&1 && [ "$(cut -d, -f5 one/tasks.csv | tr '\n' ' ')" = "finish_ps 1880000 1880000 2130000 " ]
check "found by its first line, and replayed to the picosecond"
mpirun -n 3 "$marssim" -q -o three format.cfg partition.oversubscribe=true partition.adapt=false run.checkpoint.at="1500 ns" run.checkpoint.dir=calls >log 2>&1 &&
    cmp one/tasks.csv three/tasks.csv && "$marssim" -q -o resumed --resume calls >log 2>&1 && cmp one/tasks.csv resumed/tasks.csv
check "3 ranks, saved, and resumed by one"
"$marssim" --list plugins=libmine.so >log && grep -q "line .*switches in a row" log && grep -q "star .*straight_out" log
check "--list has them"
"$marssim" --help-config topology.length plugins=libmine.so >log && grep -q "only with topology.kind = line" log
check "--help-config has their keys"
has='(.properties.topology.properties.kind.enum | index("line")) and .properties.topology.properties.length.type == "integer"'
"$marssim" --schema plugins=libmine.so >log && jq -e "$has" log >/dev/null && "$marssim" --schema line.cfg | cmp - log
check "--schema has them, named or from a configuration"

bad() { # MESSAGE WORDS...: refused on 1 and 3 ranks, with status 2
    local message=$1 status
    shift
    "$marssim" -q -o bad "$@" >log 2>&1; status=$?
    [ $status -eq 2 ] && grep -q -F -- "$message" log
    check "refused: $message"
    timeout 60 mpirun -n 3 "$marssim" -q -o bad "$@" >log 2>&1; status=$?
    [ $status -eq 2 ] && [ "$(grep -c -F -- "$message" log)" -eq 1 ]
    check "and told once on 3 ranks"
}
sed 's/send 2/send 7/' three.txt >seven.txt
bad 'seven.txt:5: there is no task 7: they are 0 to 2' format.cfg 'jobs[0].trace=seven.txt'
bad 'counter.cfg:1: the first line says "#calls TASKS"' format.cfg 'jobs[0].trace=counter.cfg' 'jobs[0].format=calls'
bad 'services[0].clerks: no service of services[] is called "clerk"' counter.cfg 'services[0].clerks="clerk"'
bad 'services[0].desks: services[0] does not run on node 2' counter.cfg 'services[0].nodes=2'
bad 'services[1].list: node 2 is listed twice' counter.cfg 'services[1].list="2,0-2:2"'
bad 'services[1].every: give services[1].list or services[1].every, not both' counter.cfg 'services[1].every=2'
sed 's/libmine.so/missing.so/' line.cfg >missing.cfg
bad 'missing.cfg:1: plugins: missing.so' missing.cfg
bad 'topology.length: means nothing with topology.kind = "star"' star.cfg topology.length=3
bad 'none of: fat_tree' line.cfg 'plugins=[]'
echo "no library" >text.so
bad 'text.so: cannot be loaded' line.cfg plugins=text.so
echo 'int nothing;' >none.c && build none.c -o none.so
bad 'does not export marssim_plugin' line.cfg plugins=none.so
build -DNAME_TAKEN mine.c -o taken.so
bad 'topology.kind = "torus" is taken by marssim itself' line.cfg plugins=taken.so
# These two have the number of another name: 24 bits of a hash.
build -DPURPOSE='"mine.n24619445"' mine.c -o fork.so
bad 'fork.so: its random purpose "mine.n24619445" has the number of "traffic.fork", which is one of marssim itself' line.cfg plugins=fork.so
build -DPURPOSE='"routing"' mine.c -o routing.so
bad 'routing.so: its random purpose "routing" is taken by marssim itself' line.cfg plugins=routing.so
cat >purpose.c <<'END'
#include <marssim/plugin.h>
static const char *const purposes[] = {"mine.n34082807", NULL};
static const struct ker_kind *const none[] = {NULL};
MARSSIM_PLUGIN_WITH(purposes, MARSSIM_BRINGS("traffic.pattern", struct task_traffic_pattern, none));
END
build purpose.c -o purpose.so
bad 'purpose.so: its random purpose "mine.n34082807" has the number of "mine.ask", which is one of libmine.so' line.cfg plugins=libmine.so,purpose.so
"$marssim" --list plugins=purpose.so >log 2>&1
check "and alone it may have it"
build -DPURPOSE='"again"' mine.c -o again.so
bad 'topology.kind = "line" is taken by libmine.so' line.cfg plugins=libmine.so,again.so
sed -i 's/^#define KER_PLUGIN_ABI .*/#define KER_PLUGIN_ABI 77/' usr/include/marssim/kernel/config/plugin.h
build mine.c -o old.so
bad 'was built for ABI 77' line.cfg plugins=old.so
sed -i 's/^#define KER_PLUGIN_ABI .*/#define KER_PLUGIN_ABI 1/' usr/include/marssim/kernel/config/plugin.h
sed -i 's/^struct route_algorithm {/&\n    long more;/' usr/include/marssim/routing/topology.h
build mine.c -o size.so
bad 'was built with a struct route_algorithm of' line.cfg plugins=size.so
