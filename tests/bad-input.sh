#!/bin/bash
# Bad input, as a user meets it: tests/bad-input.sh
#
# Every refusal ends with exit status 2 and exactly one message, "marssim: error: ...", that names the file and line, the
# key or the option, and says what would be right; nothing else is on standard output or standard error, and nothing hangs.
# The first argument of bad() is a part of that message. All cases run on one rank, those marked by bad_ranks on 2 and 3, too.
# There each rank writes to the files out and err itself, and what mpirun says on its own account goes to the file launcher:
# a note about the exit status always, warnings of libevent on a machine under load.
#
# A run that deadlocks ends with status 1 and the table of who waits for whom, and what was measured is written.
set -u
cd "$(dirname "$0")/.." || exit 2
top=$PWD
. tests/libcsv.sh
marssim=${MARSSIM:-$top/marssim}
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_odls_base_sigkill_timeout=0 # mpirun sleeps two seconds after each refusal otherwise
number=0
seconds=120 # a run takes some hundredths; more than a hundred times that on a machine that is very busy

# ---- what is asked of a refusal ----

verdict() { # WHY-NOT NAME: one line of the report
    number=$((number + 1))
    if [ -z "$1" ]; then
        echo "ok $number $2"
    else
        echo "not ok $number $2: $1"
        sed 's/^/    /' err | cut -c1-300 | head -20
    fi
}

launch() { # RANKS WORD...: the same words on so many ranks; only what the ranks themselves say is in out and err
    local ranks=$1 status
    shift
    rm -f out err
    timeout -k 5 $seconds mpirun -n "$ranks" sh -c 'exec "$0" "$@" >>out 2>>err' "$marssim" -q -o results "$@" >launcher 2>&1 </dev/null
    status=$?
    # MPI libraries speak inside a rank, too: libevent with a word in brackets, Open MPI with host and process. And that a small
    # machine will be slow may be said as well.
    sed -i -e '/^\[[^]]*\] /d' -e '/^marssim: warning: [0-9]* ranks /d' err
    leave_out_warnings
    touch out
    return $status
}

refused() { # STATUS PART: why this is no good refusal, or nothing
    [ "$1" -eq 124 ] && echo "no end within $seconds s" && return
    [ "$1" -ne 2 ] && echo "exit status $1" && return
    [ -s out ] && echo "something on standard output" && return
    [ "$(grep -c '' err)" -ne 1 ] && echo "$(grep -c '' err) lines instead of one" && return
    grep -q '^marssim: error: ' err || { echo "no 'marssim: error: '" && return; }
    LC_ALL=C grep -q '[[:cntrl:]]' err && echo "control characters in the message" && return
    grep -qF -- "$2" err || echo "the message does not say: $2"
}

leave_out_warnings() { # a case that overrides a choice of its file leaves keys without a meaning; see "keys that mean nothing"
    sed -i '/^marssim: warning: .* is left out: /d' err
}

bad() { # PART WORD...: marssim refuses these words with a message of which PART is a part
    local part=$1
    shift
    timeout -k 5 $seconds "$marssim" -q -o results "$@" >out 2>err </dev/null
    verdict "$(status=$?; leave_out_warnings; refused $status "$part")" "$*"
}

bad_ranks() { # the same on 1, 2 and 3 ranks
    local ranks part=$1
    bad "$@"
    shift
    for ranks in 2 3; do
        launch $ranks "$@"
        verdict "$(refused $? "$part")" "$ranks ranks: $*"
    done
}

stuck() { # PART CONFIG: deadlocks on 1, 2 and 3 ranks, says who waits, and writes what was measured
    local ranks status why
    for ranks in 1 2 3; do
        rm -rf results
        launch $ranks "$2" partition.oversubscribe=true
        status=$?
        why=""
        [ $status -ne 1 ] && why="exit status $status"
        [ "$(grep -c '^marssim: error: ' err)" -eq 1 ] || why="not one message"
        grep -q 'waits for$' err || why="no table of who waits"
        grep -qF "$1" err || why="the table does not say: $1"
        grep -q '"end_reason": "deadlock"' results/summary.json || why="summary.json does not say deadlock"
        [ -s results/tasks.csv ] || why="no tasks.csv"
        verdict "$why" "$ranks ranks: $2"
    done
}

# ---- good input, to be spoilt ----

star='topology: { kind = "star"; nodes = 4; bandwidth = "1 GB/s"; latency = "10 ns"; };'
links='bandwidth = "1 GB/s"; latency = "10 ns";'
traffic='traffic: { pattern = "uniform"; load = 0.1; size = "64 B"; messages = 3; };'
header="# htor's PMPI Tracer 1.0 Output File"
world=7000000
{ echo "$star"; echo "$traffic"; } >star.cfg
{ echo "topology: { kind = \"torus\"; extents = [4, 4]; $links };"; echo "$traffic"; } >torus.cfg
{ echo "topology: { kind = \"fat_tree\"; down = [2, 2]; up = [1, 2]; $links };"; echo "$traffic"; } >tree.cfg
{ echo "topology: { kind = \"hierarchical\"; groups = [2, 2]; $links };"; echo "$traffic"; } >groups.cfg
{ echo "topology: { kind = \"hierarchical\"; groups = [2, 4]; $links }; switch: { channels = 6; };"; echo "$traffic"; } >dragonfly.cfg
{ echo "$star"; echo 'jobs = ( { program = "stencil"; extents = [4]; bytes = "64 B"; steps = 2; } );'; } >stencil.cfg
{ echo "$star"; echo 'jobs = ( { program = "pingpong"; bytes = "64 B"; steps = 2; } );'; } >pingpong.cfg
{ echo "$star"; echo 'jobs = ( { program = "trace"; trace = "trace"; } );'; } >trace.cfg
{ echo 'topology: { kind = "file"; file = "net.txt"; };'; echo "$traffic"; } >file.cfg
printf 'switch s\nnode a s 10ns 1GB/s\nnode b s 10ns 1GB/s\n' >net.txt
printf 'switch s\nnode a t 10ns 1GB/s\n' >dangling.txt
printf 'switch s\nswitch t\nnode a s 10ns 1GB/s\nnode b t 10ns 1GB/s\n' >apart.txt
printf 'switch s\nnode a s 0ns 1GB/s\n' >zero.txt
printf 'switch s\nswitch t\nlink s t 1ns 1GB/s\nnode a s 1ns 1GB/s\nnode b s 1ns 1GB/s\nnode c t 1ns 1GB/s\n' >uneven.txt
mkdir folder
: >empty
head -c 300 /bin/sh >binary

task() { # FOLDER NUMBER [CALL...]: one task's trace
    mkdir -p "$1"
    { echo "$header"; echo "MPI_Init:-:1:2:100"; printf '%s\n' "${@:3}"; echo "MPI_Finalize:9000:-"; } >"$1/pmpi-trace-rank-$2.txt"
}
send() { echo "MPI_Send:$1:1:$2:1,1,1:$3:$4:$world,$((1 - $3)),2:$1"; } # TIME BYTES TO TAG
receive() { echo "MPI_Recv:$1:1:$2:1,1,1:$3:$4:$world,$((1 - $3)),2:9:$1"; }
good_trace() {
    rm -rf trace
    task trace 0 "$(send 200 8 1 5)"
    task trace 1 "$(receive 200 8 0 5)"
}

# ---- the starting point is good ----

good_trace
for config in star torus tree groups stencil pingpong trace file; do
    timeout -k 5 $seconds "$marssim" -q -o results $config.cfg >out 2>err </dev/null
    status=$?
    verdict "$([ $status -ne 0 ] || [ -s err ] && echo "exit status $status")" "$config.cfg is good"
done

# ---- what the launcher says is not ours ----

mkdir noisy
printf '#!/bin/sh\necho "[warn] Epoll MOD(1) on fd 25 failed. Old events were 6" >&2\nexec "%s" "$@"\n' "$(command -v mpirun)" >noisy/mpirun
chmod +x noisy/mpirun
quiet_path=$PATH PATH=$work/noisy:$PATH
bad_ranks 'no configuration file given'
PATH=$quiet_path

# ---- command line ----

bad_ranks 'no configuration file given'
bad_ranks "--nonsense: there is no such option; marssim --help lists them" --nonsense star.cfg
bad "invalid option -- 'x'" -x
bad "requires an argument -- 'o'" star.cfg -o
bad 'empty name' ''
bad '"star.cfg": one configuration is read' star.cfg star.cfg
bad 'KEY=VALUE is expected, as in' star.cfg =3
bad 'KEY=VALUE is expected, as in' star.cfg 'jobs[-1].tasks=3'
bad 'did you mean topology.nodes?' star.cfg topology.node=3
bad 'did you mean topology.nodes?' star.cfg topolgy.nodes=3
bad '--help-config lists all keys' star.cfg gibberish.of.mine=3
bad 'topology: is a value, but a group of keys is expected' star.cfg topology=3
bad 'as in jobs[0].KEY=VALUE' star.cfg jobs=stencil
bad 'jobs: a list of groups is expected' star.cfg jobs=3

# What a newcomer types.
bad 'traffic.x: unknown key; marssim --help-config lists all keys' star.cfg traffic.x=3
bad 'one configuration is read, and "star.cfg" is it' star.cfg torus.cfg
bad '--load: there is no such option; a configuration key is set by traffic.load=VALUE' star.cfg --load 0.3
bad '--load=0.3: there is no such option; a configuration key is set by traffic.load=VALUE' --load=0.3 star.cfg
bad '-load: there is no such option; a configuration key is set by traffic.load=VALUE' -load 3 star.cfg
bad '--help-config traffc: there is no such group or key; did you mean traffic?' --help-config traffc
bad 'a dragonfly is "hierarchical"' star.cfg topology.kind=dragonfly
bad 'dimension-order routing is "minimal" on a torus' torus.cfg routing.algorithm=dor
bad 'random destinations are "uniform"' star.cfg traffic.pattern=random
bad 'output.dir: unknown key; the folder of the results is given by -o DIR' star.cfg output.dir=x
bad 'threads: unknown key; the number of processes is given by mpirun -n N' star.cfg threads=4
bad 'traffic.load: too small: must be at least 0, not -1' star.cfg traffic.load=-1
bad 'give at least "4128 B", or a smaller adapter.packet_size' star.cfg switch.buffer=10B
bad 'value 1 is 1000000000000000000; it must be 1 to 2147483647' torus.cfg topology.extents=1000000000000000000
bad 'output.period: would be done 1000000000000 times' star.cfg run.end=1s output.period=1ps
bad 'run.batch: would be done 1000000000 times before the run ends; at most 100000000 times are possible: give 10 ns or more' star.cfg \
    run.end=1s run.confidence=0.1 run.batch=1ns
bad 'run.check_interval: would be done' star.cfg run.measure=1s run.packets=10 run.check_interval=1ps
sed 's/"1 GB\/s"/1 GB\/s/' star.cfg >unit.cfg && bad 'unit.cfg:1: 1 GB/s: a value with a unit stands in quotes: "1 GB/s"' unit.cfg
sed 's/"10 ns"/1.5ns/' star.cfg >unit.cfg && bad 'unit.cfg:1: 1.5ns: a value with a unit stands in quotes' unit.cfg
printf 'switch: {\n  channels = 4;\n  channels = 5;\n};\n' >twice.cfg && bad 'twice.cfg:3: channels is given twice in its group' twice.cfg
good() { # WORD...
    "$marssim" "$@" >out 2>err </dev/null
    verdict "$([ $? -eq 0 ] || echo refused)" "$*"
}
good -q -o results run.seed=2 star.cfg
good -h
good --help-config switch
grep -q '^  switch.buffer: ' out || verdict 'switch.buffer is missing' '--help-config switch'
good --help-config switch.buffer
verdict "$([ "$(grep -c '^  [a-z]' out)" -eq 1 ] || echo 'not one key')" '--help-config switch.buffer'
good -q -o results star.cfg run.warmup=1s
verdict "$(grep -q '^marssim: warning: run.warmup: nothing was measured' err || echo 'no warning')" 'a warm-up beyond the end'
for words in --help --help-config --list --version '--check star.cfg' '-o results star.cfg'; do
    # shellcheck disable=SC2086
    "$marssim" $words >/dev/full 2>err </dev/null
    verdict "$([ $? -eq 1 ] || echo "exit status"; grep -q '^marssim: error: standard output cannot be written: No space left' err || echo text)" "$words >/dev/full"
done

# ---- the file ----

bad_ranks 'nowhere.cfg: cannot be read: No such file or directory' nowhere.cfg
bad 'folder: is a directory' folder
bad 'empty: holds no settings' empty
bad 'binary: holds a zero byte' binary
printf 'topology: {\n  kind = "star";\n  nodes = ;\n};\n' >syntax.cfg
bad_ranks 'syntax.cfg:3: syntax error' syntax.cfg
printf 'topology: {\n  kind = "star;\n};\n' >string.cfg
bad 'string.cfg:2: the string that begins here is never closed' string.cfg
printf 'topology: {\n  latency = 10 ns;\n};\n' >unquoted.cfg
bad 'a value with a unit stands in quotes' unquoted.cfg
printf 'topology: { kind = "star"; };\ntopology: { nodes = 4; };\n' >twice.cfg
bad 'twice.cfg:2: one of topology, nodes is given twice in its group' twice.cfg
echo '@include "nowhere.cfg"' >include.cfg
bad 'include.cfg:1: included file nowhere.cfg: cannot be read' include.cfg
echo '@include "round.cfg"' >round.cfg
bad 'round.cfg:1: files include each other' round.cfg
yes '((((((((' | head -10000 | { echo 'jobs ='; cat; } >deep.cfg
bad 'brackets are nested deeper than' deep.cfg
{ echo "$star"; echo 'jobs: { program = "stencil"; };'; } >group.cfg
bad 'group.cfg:2: jobs: a list of groups is expected' group.cfg
printf '%s\nswitch: {\n  bufer = "4 KiB";\n};\n' "$star" >key.cfg
bad_ranks 'key.cfg:3: switch.bufer: unknown key; did you mean switch.buffer?' key.cfg
echo "$star" >idle.cfg
bad 'nobody sends anything' idle.cfg

# ---- values and units ----

bad 'a whole number is expected, not the text "many"' star.cfg topology.nodes=many
bad 'a whole number is expected, not 4.5' star.cfg topology.nodes=4.5
bad 'must be 1 to 65535' star.cfg topology.nodes=-4
bad 'must be 1 to 65535' star.cfg topology.nodes=0
bad 'a whole number is expected' star.cfg topology.nodes=9223372036854775808
bad 'a whole number is expected' star.cfg topology.nodes=
bad 'is none of: fat_tree' star.cfg topology.kind=ring
bad 'true or false is expected' star.cfg run.measure=1us run.drain=perhaps
bad_ranks 'topology.bandwidth[0]: too small: must be at least' star.cfg topology.bandwidth=0GB/s
bad 'must not be negative' star.cfg topology.bandwidth=-1GB/s
bad 'give a unit, as in "25 GB/s"' star.cfg topology.bandwidth=25
bad 'unknown unit of rate' star.cfg topology.bandwidth=25gbps
bad 'too large' star.cfg topology.bandwidth=1e300GB/s
bad 'takes less than 1 ps' pingpong.cfg topology.bandwidth=1e10GB/s
bad 'a number is expected' star.cfg topology.bandwidth=nanGB/s
bad_ranks 'topology.latency[0]: too small: must be 1 ps to 1 s' torus.cfg topology.latency=0ns
bad 'give a unit, as in "100 ns"' star.cfg topology.latency=1
bad 'unknown unit of time' star.cfg topology.latency=10GB/s
bad 'less than half a picosecond' star.cfg topology.latency=0.1ps
bad '"1e30 s": too large' star.cfg 'topology.latency=1e30 s'
bad 'too large' star.cfg run.end=9300000s
bad 'unknown unit of size' star.cfg traffic.size=64ns
bad 'must be at most 1 TiB' star.cfg traffic.size=1e19B
bad 'the number is too large' star.cfg traffic.load=1e400
bad 'a number is expected' star.cfg traffic.load=nan
bad 'a whole number is expected' star.cfg run.seed=18446744073709551616

# ---- keys that mean nothing ----

# Each belongs to a choice that these files do not make. (That all keys of the tables are right is asserted by --help-config.)
for word in topology.radix=4 topology.nodes=4 topology.groups=2,2 topology.file=none routing.table=none routing.weight_file=none \
    routing.weights=latency routing.root=1 routing.ways=one routing.valiant=any routing.bias=1us routing.candidates=2 routing.detours=2 \
    routing.via=1 routing.indirect=adaptive routing.weight=even routing.watch_high=1us routing.watch_low=1us routing.lmc_path=1 \
    routing.allow_deadlock=true routing.hop_bytes=2 routing.selection=random routing.threshold=1us routing.credits=port \
    faults.unreachable=drop faults.seed=2 faults.at=1us faults.spread=1us adapter.buffer=8KiB congestion.increase=0.1 \
    traffic.hotspots=1 traffic.hotspot_fraction=0.2 traffic.hotspot_senders=2 traffic.target=1 traffic.senders=2 traffic.shift=2 \
    traffic.burst_length=2 traffic.burst_load=2 traffic.sizes=1,2 traffic.size_weights=1,1 traffic.size_minimum=1 traffic.size_maximum=2 \
    traffic.reply=8 mpi.eager_limit=1KiB mpi.collectives.barrier=auto node.cores=2 node.doorbell=1us node.memory_latency=1us \
    output.tasks=false partition.file=none run.drain=false run.batch=1us run.confidence_level=0.9; do
    bad "${word%%=*}: means nothing with" torus.cfg "$word"
done
bad 'topology.bandwidth: means nothing with topology.kind = "file"' file.cfg topology.bandwidth=1GB/s
bad 'routing.valiant: means nothing with topology.kind = "torus"' torus.cfg routing.algorithm=valiant routing.valiant=any
bad 'routing.hysteresis: means nothing with routing.pinning = "flow"' tree.cfg routing.algorithm=adaptive routing.pinning=flow \
    routing.hysteresis=1us
bad 'traffic.interval: means nothing with traffic.pattern = "all_to_all"' star.cfg traffic.pattern=all_to_all traffic.interval=1us
bad 'adapter.scheduling: means nothing with adapter.queues = "fifo"' star.cfg adapter.queues=fifo adapter.scheduling=fifo
bad 'partition.seed: means nothing with partition.method = "natural"' star.cfg partition.method=natural partition.seed=2
bad 'partition.contract: means nothing with' star.cfg partition.method=random partition.contract=false
for word in grid=2,2 halo_bytes=1 transpose_bytes=1 trace=trace mpi_library=mpich unlisted_bytes=1 allreduce_bytes=8 stride=2 \
    placement_file=none; do
    bad "jobs[0].${word%%=*}: means nothing with" stencil.cfg "jobs[0].$word"
done
for word in extents=2 periodic=false neighbours=all compute_time=1us allreduce_every=2 processor_factor=2; do
    bad "jobs[0].${word%%=*}: means nothing with" pingpong.cfg "jobs[0].$word"
done
for word in steps=2 bytes=8; do
    bad "jobs[0].${word%%=*}: means nothing with" trace.cfg "jobs[0].$word"
done
bad 'jobs[0].tasks_per_node: means nothing with jobs[0].placement = "file"' stencil.cfg 'jobs[0].placement=file' 'jobs[0].tasks_per_node=2'
echo "$star jobs = ( { steps = 2; } );" >spoilt.cfg
bad_ranks 'spoilt.cfg:1: jobs[0].steps: means nothing without jobs[0].program = "pingpong", "stencil"' spoilt.cfg

# A choice of the file that the command line overrides: one warning for each key that went with it, and what is left out is left out.
{
    sed 's/topology: {/topology: { taper = 0.5;/' tree.cfg
    echo 'routing: { algorithm = "adaptive"; selection = "queue"; threshold = "1 us"; };'
    echo 'jobs = ( { program = "stencil"; extents = [2]; allreduce_every = 1; allreduce_bytes = 8; start = "1 us"; nodes = 2; },'
    echo '         { program = "stencil"; extents = [2]; allreduce_every = 1; allreduce_bytes = 8; first_node = 2; } );'
} >choices.cfg
left_out() { # KEYS WORD...: warnings for these keys, each once, and the run goes on
    local keys=$1 status found
    shift
    "$marssim" -q -o results "$@" >out 2>err </dev/null
    status=$?
    found=$(sed -n 's/^marssim: warning: [^ ]*:[0-9]*: \([^ ]*\): is left out: .*/\1/p' err | tr '\n' ' ')
    verdict "$([ $status -eq 0 ] || echo "exit status $status"; [ "$found" = "${keys:+$keys }" ] || echo "left out: $found")" "$*"
}
left_out '' choices.cfg
left_out 'routing.selection routing.threshold' choices.cfg routing.algorithm=minimal
left_out 'routing.threshold' choices.cfg routing.selection=random
left_out 'jobs[0].allreduce_bytes' choices.cfg 'jobs[0].allreduce_every=0' 'jobs[1].allreduce_every=0'
left_out 'traffic.load traffic.size' choices.cfg traffic.pattern=all_to_all traffic.size_law=uniform
launch 2 choices.cfg routing.algorithm=minimal partition.oversubscribe=true
verdict "$([ $? -eq 0 ] || echo failed)" '2 ranks: choices.cfg routing.algorithm=minimal'

# All that is wrong is said at once, up to ten.
cat >wrong.cfg <<'END'
topology: { kind = "torus"; extents = [4, 0]; bandwidth = 5; latency = "10 ns"; taper = 0.5; };
routing: { algorithm = "fastest"; sped = 5; };
END
"$marssim" wrong.cfg >out 2>err
verdict "$([ $? -eq 2 ] || echo 'exit status'; [ "$(grep -c '^marssim: error: wrong.cfg:[12]: ' err)" -eq 5 ] || echo "not five messages")" wrong.cfg
{ echo 'switch: {'; seq -f 'x%g = 1;' 13; echo '};'; } >many.cfg
"$marssim" many.cfg >out 2>err
verdict "$([ "$(grep -c '^marssim: error: many.cfg:' err)" -eq 10 ] && grep -q '^marssim: error: and 3 more$' err || echo "not ten")" many.cfg

# ---- sizes of the system ----

bad 'topology.extents: make more than 2^32 - 1 nodes' torus.cfg topology.extents=65536,65536,65536,65536,65536,65536,65536,65536
bad 'need more than' torus.cfg topology.extents=65535,65535
bad_ranks 'need more than' --check torus.cfg topology.extents=65535,65535
bad 'has 9 values; between 1 and 8 are possible' torus.cfg topology.extents=1,1,1,1,1,1,1,1,1
bad 'topology.extents[1]: too small' torus.cfg topology.extents=4,0
bad 'has 3 values, but there are 2 dimensions' torus.cfg topology.wrap=true,true,true
bad 'topology.nodes: means nothing with topology.kind = "torus"; it is for "star"; remove it' torus.cfg topology.nodes=4
bad 'more than 65535 ports per switch' torus.cfg topology.nodes_per_switch=65535
bad 'needs 2 virtual channels' torus.cfg switch.channels=1
bad_ranks 'the tree does not close' tree.cfg topology.up=1
bad 'a node on 2 switches' tree.cfg topology.up=2,2
bad 'topology.down: makes more than 2^32 - 1 nodes' tree.cfg topology.down=70000,70000
bad 'it must be above 0 and at most 1' tree.cfg topology.taper=0
bad 'it must be above 0 and at most 1' tree.cfg topology.taper=2
bad 'leaves no bandwidth' tree.cfg topology.taper=1e-12
bad 'has 3 values' groups.cfg topology.links=1,1,1
bad 'topology.groups' groups.cfg topology.groups=2,2,2,2,2
bad 'net.missing: cannot be read' file.cfg topology.file=net.missing
bad 'folder' file.cfg topology.file=folder
bad 'empty:1: there are 0 switches' file.cfg topology.file=empty
bad 'binary:1: this is no text file' file.cfg topology.file=binary
bad_ranks 'dangling.txt:2: there is no switch t' file.cfg topology.file=dangling.txt
bad 'apart.txt:2: no links lead from the first switch' file.cfg topology.file=apart.txt
bad 'zero.txt:2: the latency must be at least 1ps' file.cfg topology.file=zero.txt

# A fabric of two switches and two hosts, and its tables (tests/test_fabric.c and test_fabric_tables.c have the many ways in which they can be wrong).
cat >good.fabric <<'END'
Switch 4 "S-a0" # "left" enhanced port 0 lid 1 lmc 0
[1] "H-10"[1](11) # "node1 HCA-1" lid 3 4xQDR
[4] "S-b0"[4] # "right" lid 2 4xQDR
Switch 4 "S-b0" # "right" enhanced port 0 lid 2 lmc 0
[1] "H-20"[1](21) # "node2 HCA-1" lid 4 4xQDR
[4] "S-a0"[4] # "left" lid 1 4xQDR
Ca 1 "H-10" # "node1 HCA-1"
[1](11) "S-a0"[1] # lid 3 lmc 0 "left" lid 1 4xQDR
Ca 1 "H-20" # "node2 HCA-1"
[1](21) "S-b0"[1] # lid 4 lmc 0 "right" lid 2 4xQDR
END
cat >good.lfts <<'END'
Unicast lids [0x0-0x4] of switch Lid 1 guid 0x00000000000000a0 (left):
0x0003 001
0x0004 004
2 valid lids dumped
Unicast lids [0x0-0x4] of switch Lid 2 guid 0x00000000000000b0 (right):
0x0003 004
0x0004 001
2 valid lids dumped
END
fabric='topology: { kind = "fabric"; file = "good.fabric"; latency = "100 ns"; }; traffic: { pattern = "uniform"; load = 0.1; }; run: { end = "1 us"; };'
echo "$fabric" >fabric.cfg
echo "$fabric routing: { algorithm = \"table\"; table = \"good.lfts\"; };" >lfts.cfg
for file in fabric.cfg lfts.cfg; do
    timeout -k 5 $seconds "$marssim" -q -o results $file >out 2>err </dev/null
    verdict "$([ $? -eq 0 ] || echo refused)" "$file as it is"
done
head -n 8 good.fabric >cut.fabric
sed 's/0x0004 001/0x0004 004/' good.lfts >loop.lfts
head -n 6 good.lfts >cut.lfts
bad 'cut.fabric:5: the dump has no block of "H-0000000000000020", to which this cable leads: was it cut off?' fabric.cfg topology.file=cut.fabric
bad_ranks 'good.lfts:1: "Unicast lids' fabric.cfg topology.file=good.lfts
bad_ranks 'loop.lfts:1: LID 0x0004, of "node2 HCA-1", goes in a circle' lfts.cfg routing.table=loop.lfts
bad 'cut.lfts:6: the table of switch "right", begun in line 5, ends without' lfts.cfg routing.table=cut.lfts
bad 'routing.lmc_path' lfts.cfg routing.lmc_path=128
bad 'is a file of OpenSM' file.cfg routing.algorithm=table routing.table=good.lfts

# ---- switch and adapter ----

bad_ranks 'hold no packet of 4128 bytes' star.cfg switch.buffer=64B
bad 'hold no packet of 4128 bytes' star.cfg switch.output_queue=64B
bad 'hold no packet of 4128 bytes' star.cfg adapter.ejection_rate=1GB/s adapter.buffer=1B
bad 'must be 1 to 16' star.cfg switch.channels=17
bad 'class 1 of 1: classes count from 0; more of them by switch.classes' pingpong.cfg mpi.control_priority=1
bad '4 classes of 8 channels are 32; at most 16' star.cfg switch.channels=8 switch.classes=4
bad 'must be 1 to 64' star.cfg switch.speedup=0.5
bad 'switch.delay: too large' star.cfg switch.delay=5s
bad 'must be 1 to 65535' star.cfg adapter.packet_size=64KiB
bad 'at most 65535 are possible' star.cfg adapter.packet_size=65535
bad 'adapter.ejection_rate: too small' star.cfg adapter.ejection_rate=0B/s

# ---- faults ----

bad "faults.list[0].link: there is no switch 99; they go from 0 to 15" torus.cfg 'faults.list[0].link=0,99'
bad "faults.list[0].link: no link joins switches 0 and 5; switch 0 is linked to 1, 3, 4, 12" torus.cfg 'faults.list[0].link=0,5'
bad 'names 3 switches; a link joins two' torus.cfg 'faults.list[0].link=0,1,2'
bad 'faults.list[0].switch: there is no switch 16; they go from 0 to 15' torus.cfg 'faults.list[0].switch=16'
bad 'switch 3 has the ports 0 to 4, no port 5' torus.cfg 'faults.list[0].switch=3' 'faults.list[0].port=5'
bad 'nothing is connected to port' torus.cfg topology.wrap=false 'faults.list[0].switch=0' 'faults.list[0].port=2'
bad 'faults.list[0].node: there is no node 16; they go from 0 to 15' torus.cfg 'faults.list[0].node=16'
bad 'faults.list[0].port: means nothing without faults.list[0].switch; give that, too' torus.cfg 'faults.list[0].node=1' 'faults.list[0].port=0'
bad 'faults.list[0]: names several things; give one of' torus.cfg 'faults.list[0].node=1' 'faults.list[0].switch=0'
bad 'faults.list[0]: names nothing that could fail' torus.cfg 'faults.list[0].at=1us'
bad 'faults.list[0].at: "-1us": must not be negative' torus.cfg 'faults.list[0].node=1' 'faults.list[0].at=-1us'
bad 'faults.link_rate: too large: must be 0 to 1' torus.cfg faults.link_rate=2
bad 'faults.at: means nothing without faults.link_rate or faults.switch_rate' torus.cfg faults.at=1us
bad 'needs 2 virtual channels on this torus to be free of deadlock, and paths around faults one more, but switch.channels is 2' torus.cfg faults.link_rate=0.01 switch.channels=2
bad_ranks 'from the start there is no path between some nodes, in the end for 30 of 240 pairs, for example from node 0 to node 7' torus.cfg 'faults.list[0].node=7'
bad 'from 2 us on there is no path between some nodes, in the end for 58 of 240 pairs' torus.cfg 'faults.list[0].switch=7' 'faults.list[0].at=3us' 'faults.list[1].switch=2' 'faults.list[1].at=2us'
bad 'are possible on networks of at most 16777215 switches' torus.cfg topology.extents=65535,65535 faults.link_rate=0.1

# ---- routing tables ----

# The network: torus.cfg, 16 switches with a node each at port 0 and neighbours at ports 1 to 4. tests/test_table_text.c has more of what a file
# may get wrong; here it is whether a user is told.
table() { # PART LINE...: a table of these lines is refused
    local part=$1
    shift
    printf '%s\n' "$@" >table.txt
    bad "$part" torus.cfg routing.algorithm=table routing.table=table.txt
}
bad 'routing.table: is missing; algorithm = "table" needs it' torus.cfg routing.algorithm=table
bad_ranks 'missing.txt: cannot be read: No such file or directory' torus.cfg routing.algorithm=table routing.table=missing.txt
bad '.: is a folder; a file is expected' torus.cfg routing.algorithm=table routing.table=.
timeout -k 5 $seconds "$marssim" --write-table good.txt torus.cfg routing.algorithm=updown routing.ways=one >out 2>err </dev/null
verdict "$([ $? -eq 0 ] && grep -q '^switch 15' good.txt || echo "not written")" "--write-table"
head -c 700 good.txt >cut.txt
bad_ranks 'cut off?' torus.cfg routing.algorithm=table routing.table=cut.txt
sed 's/^nodes 16/nodes 17/' good.txt >table.txt
bad_ranks 'table.txt:4: the table is for 17 nodes, but this torus has 16' torus.cfg routing.algorithm=table routing.table=table.txt
sed 's/^switch 7/switch 16/' good.txt >table.txt
bad 'there is no switch 16; switches have numbers 0 to 15' torus.cfg routing.algorithm=table routing.table=table.txt
sed '/^switch 3$/,/^$/d' good.txt >table.txt
bad_ranks 'switch 3 has no path to node 0, though packets to it come here' torus.cfg routing.algorithm=table routing.table=table.txt
table 'table.txt:4: switch 0 has no port 5; its ports have numbers 0 to 4' 'switches 16' 'nodes 16' 'switch 0' 'to rest via 5'
table 'table.txt:4: port 0 of switch 0 leads to node 0, not to node 1' 'switches 16' 'nodes 16' 'switch 0' 'to 1 via 0'
table 'table.txt:4: there is no node 16; nodes have numbers 0 to 15' 'switches 16' 'nodes 16' 'switch 0' 'to 8-16 via 1'
table 'table.txt:5: node 8 was already named in line 4' 'switches 16' 'nodes 16' 'switch 0' 'to 8-15 via 1' 'to 8 via 2'
table 'table.txt:4: there is no class 253 of channels' 'switches 16' 'nodes 16' 'switch 0' 'to 8-15 via 1@253'
table 'table.txt:4: a port is expected here, not "x"' 'switches 16' 'nodes 16' 'switch 0' 'to 8-15 via x'
sed 's/^\(to .* via [0-9]*\)$/\1@9/; /^channels/d' good.txt >table.txt
bad_ranks '"table" needs 10 virtual channels on this torus' torus.cfg switch.channels=4 routing.algorithm=table routing.table=table.txt
{ printf 'switches 16\nnodes 16\n'
  for s in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do printf 'switch %d\nto rest via 1\n' $s; done
  echo end; } >table.txt
bad_ranks 'packets to node 0 go in a circle: through switches 4, 5, 6, 7, 4 again' torus.cfg routing.algorithm=table routing.table=table.txt
{ printf 'switches 4\nnodes 4\n'
  for s in 0 1 2 3; do printf 'switch %d\nto rest via 1\n' $s; done
  echo end; } >table.txt
bad_ranks 'routing.allow_deadlock = true runs it all the same' torus.cfg topology.extents=4 routing.algorithm=table routing.table=table.txt
bad 'routing.root: is 16, but switches have numbers 0 to 15' torus.cfg routing.algorithm=updown routing.root=16
bad 'routing.root: names switch 3 twice' torus.cfg routing.algorithm=updown routing.root=3,3
bad 'these 2 roots do not lead to every node' torus.cfg routing.algorithm=updown routing.root=0,5
bad_ranks '"shortest" needs 4 virtual channels on this torus' torus.cfg switch.channels=2 routing.algorithm=shortest
bad '"layered" needs ' torus.cfg switch.channels=1 routing.algorithm=layered
bad 'routing.weight_file: is missing; weights = "file" needs it' torus.cfg routing.algorithm=layered routing.weights=file
echo 'link 0 2 7' >weights.txt
bad 'weights.txt:1: no link joins switches 0 and 2' torus.cfg routing.algorithm=layered routing.weights=file routing.weight_file=weights.txt
bad_ranks 'the paths from a switch to a node depend on where a packet comes from' -t x.txt torus.cfg switch.channels=2
bad '--write-table: none/x.txt cannot be written' -t none/x.txt torus.cfg routing.algorithm=updown

# ---- detours by way of third groups ----

detours() { # PART ALGORITHM WORD...
    local part=$1 algorithm=$2
    shift 2
    bad "$part" dragonfly.cfg "routing.algorithm=$algorithm" "$@"
}
bad_ranks '"valiant" needs a third group, but topology.groups has only 2' dragonfly.cfg routing.algorithm=valiant topology.groups=4,2
detours '"par" needs 5 virtual channels' par switch.channels=4
detours '"valiant" needs 4 virtual channels' valiant routing.valiant=any switch.channels=3
detours '"rack" is none of: group, switch, any' ugal routing.valiant=rack
detours '"heavy" is none of' ugal routing.weight=heavy
detours 'routing.candidates: too small: must be 1 to 8' ugal routing.candidates=0
detours 'routing.candidates: too large: must be 1 to 8' par routing.candidates=9
detours '"all" is none of: channel, port' ugal routing.credits=all
detours '"dynamic" is none of: static, adaptive' indirect routing.indirect=dynamic
bad_ranks 'routing.detours: is 3, but the groups beside source and destination are only 2' dragonfly.cfg routing.algorithm=indirect routing.detours=3
detours 'routing.detours: too small: must be 1 to 62' indirect routing.detours=0
detours 'routing.detours: is 2, but routing.via names only 1' indirect routing.detours=2 routing.via=2
detours 'routing.via: names rack 4; they are 0 to 3' indirect routing.via=0,4
detours 'routing.via[1]: too small: must be at least 0' indirect routing.via=0,-1
detours 'routing.via: names rack 2 twice' indirect routing.via=2,2
detours 'routing.via[0]: a whole number is expected' indirect routing.via=east
bad_ranks '"ugal_piggyback" is for groups joined by links that their switches share' dragonfly.cfg routing.algorithm=ugal_piggyback topology.attach=switch
detours '"ugal_piggyback" is for groups' ugal_piggyback topology.groups=4
detours 'routing.watch_high: "1KB": unknown unit of time' ugal_piggyback routing.watch_high=1KB
detours 'routing.watch_high: too small: must be 1 ps to 1 s' ugal_piggyback routing.watch_high=0ns
detours 'routing.watch_low: "-1ns": must not be negative' ugal_piggyback routing.watch_low=-1ns
bad_ranks 'routing.watch_low: must be less than routing.watch_high, which is 10000 ps' dragonfly.cfg routing.algorithm=ugal_piggyback \
    routing.watch_high=10ns routing.watch_low=10ns
bad 'routing.algorithm: "ugal" is not possible on a torus; possible are: minimal, adaptive, valiant, shortest, updown, layered, table' torus.cfg routing.algorithm=ugal

# ---- congestion control ----

bad 'congestion.control: "tcp" is none of' star.cfg congestion.control=tcp
bad_ranks 'congestion.threshold: means nothing with congestion.control = "none" (the default); it is for "ecn"' star.cfg congestion.threshold=1KiB
bad 'at most 4128 bytes' star.cfg congestion.control=ecn congestion.cnp_size=5000B
bad 'lies below congestion.threshold' star.cfg congestion.control=ecn congestion.threshold_high=1KiB
bad 'congestion.decrease: ' star.cfg congestion.control=ecn congestion.decrease=1.5
bad 'congestion.minimum: ' star.cfg congestion.control=ecn congestion.minimum=0

bad 'adapter.resequence: is not possible with faults that happen during the run' torus.cfg adapter.resequence=true switch.channels=3 'faults.list[0].link=0,1' 'faults.list[0].at=1us'

# ---- when a run ends ----

bad 'the traffic never ends: give one of run.end' star.cfg traffic.messages=0
bad_ranks 'the run ends before anything is measured' star.cfg run.warmup=5us run.end=5us
bad 'comes before the measured span' star.cfg run.measure=1us run.end=500ns
bad 'run.drain: means nothing without run.measure' star.cfg run.drain=false
bad 'run.batch: means nothing without run.confidence' star.cfg run.batch=1us
bad 'run.end: too small' star.cfg run.end=0s
bad 'run.packets: too small' star.cfg run.packets=0
bad 'run.check_interval: too small' star.cfg run.check_interval=0s

# ---- traffic ----

bad 'traffic.load: too small' star.cfg traffic.load=-1
bad 'must be more than 0' star.cfg traffic.load=0
bad 'between 1 ps and 1000 s is possible' star.cfg traffic.load=1e30
bad 'give traffic.load or traffic.interval, not both' star.cfg traffic.interval=1ns
bad 'traffic.pattern: "chaos" is none of' star.cfg traffic.pattern=chaos
bad_ranks 'traffic.shift: of 4 leads back to the same of 4 groups' dragonfly.cfg traffic.pattern=next_group traffic.shift=4
bad 'traffic.shift: too small: must be at least 1' dragonfly.cfg traffic.pattern=next_group traffic.shift=0

# ---- several adapters at a node ----

bad_ranks 'node.adapters: 3 adapters at one switch, which has 4: give a number that divides it' torus.cfg topology.nodes_per_switch=4 node.adapters=3 topology.rails=same
bad_ranks 'node.adapters: 3 adapters at successive switches, but 16 switches have any: give a number that divides it' torus.cfg node.adapters=3 topology.rails=spread
bad 'node.adapters: 2 adapters at successive switches, but 1 switches have any' star.cfg node.adapters=2 topology.rails=spread
bad 'topology.rails: "same" needs the same number of nodes at each switch' file.cfg topology.file=uneven.txt node.adapters=2 topology.rails=same
bad 'node.adapters: too large: must be 1 to 64, not 65' star.cfg node.adapters=65
bad 'topology.rails: means nothing' star.cfg topology.rails=same
bad 'node.rail: means nothing' star.cfg node.rail=least
bad 'node.stripe_size: means nothing' star.cfg node.adapters=2 node.stripe_size=4KiB
bad 'node.stripe_size: too small' star.cfg node.adapters=2 node.rail=stripe node.stripe_size=0B
bad_ranks 'adapter.resequence: a message in parts (node.rail = "stripe") has no place' star.cfg node.adapters=2 node.rail=stripe adapter.resequence=true
bad 'next_group needs nodes in two groups' dragonfly.cfg traffic.pattern=next_group topology.groups=4,1
bad 'next_group needs nodes in two groups' star.cfg traffic.pattern=next_group
bad 'traffic needs two nodes or more' star.cfg topology.nodes=1
bad 'the system has the nodes 0 to 3' star.cfg traffic.first_node=4
bad 'node 9 is not among the nodes of the traffic' star.cfg traffic.pattern=incast traffic.target=9
bad 'only 3 other nodes can send' star.cfg traffic.pattern=incast traffic.senders=9
bad 'node 9 is not among' star.cfg traffic.pattern=hotspot traffic.hotspots=9
bad 'only 3 other nodes can send to a hot one' star.cfg traffic.pattern=hotspot traffic.hotspot_senders=4
bad 'two nodes or more must not be hot' star.cfg traffic.pattern=hotspot traffic.hotspot_senders=2 traffic.hotspots=0,1,2
bad 'list needs traffic.sizes' star.cfg traffic.size_law=list
bad '1 weights for 2 traffic.sizes' star.cfg traffic.size_law=list traffic.sizes=1B,2B traffic.size_weights=1
bad 'traffic.load: means nothing with traffic.outstanding = 4' star.cfg traffic.outstanding=4 traffic.load=0.2
bad 'not after traffic.start' star.cfg traffic.stop=1ns traffic.start=2ns

# ---- jobs and placement ----

bad 'is none of: pingpong, stencil, trace, weather' stencil.cfg 'jobs[0].program=fluid'
bad_ranks '5 tasks, 1 to a node, need 5 nodes' stencil.cfg 'jobs[0].extents=5'
bad 'makes more than 2^31 - 1 tasks' stencil.cfg 'jobs[0].extents=1073741824,1073741824'
bad 'has 4 tasks, not 7' stencil.cfg 'jobs[0].tasks=7'
bad_ranks '2 tasks on node 0, but node.cores is 1' stencil.cfg 'jobs[0].tasks_per_node=2'
bad 'an even number of tasks' pingpong.cfg 'jobs[0].tasks=3'
bad 'the next would be [1]' stencil.cfg 'jobs[7].program=stencil'
bad 'needs jobs[0].placement_file' stencil.cfg 'jobs[0].placement=file'
at_file() { # PART FILE
    bad "$1" stencil.cfg 'jobs[0].placement=file' "jobs[0].placement_file=$2"
}
at_file 'missing: cannot be read: No such file or directory' missing
at_file 'folder: is a folder; a file is expected' folder
at_file 'empty:1: the file names no node' empty
at_file 'binary:1: this is no text file' binary
printf '0\n1\n2\n9\n' >places && at_file 'places:4: there is no node 9; they go from 0 to 3' places
printf '0\n1\n2\n-1\n' >places && at_file 'places:4: "-1" is no node number' places
printf '0\n1\n2\n2\n' >places && at_file '2 tasks on node 2, but node.cores is 1' places
printf '0\n1\n2\n' >places && at_file 'places 3 tasks, the job has 4' places
printf '0\n1\n2\n3 x\n' >places && at_file 'places:4: "x" is no core number' places
bad 'is no rule; right would be' stencil.cfg mpi.collectives.barrier=fast
bad "jobs[0].steps: too small" stencil.cfg 'jobs[0].steps=0'
bad 'must be at most 1 TiB' stencil.cfg 'jobs[0].bytes=1e19B'
bad 'must be at most 1000000 s' stencil.cfg 'jobs[0].compute_time=9000000s'
bad 'jobs[0].restart: means nothing with jobs[0].background = false' stencil.cfg 'jobs[0].restart=true'

# ---- traces ----

bad_ranks 'missing: cannot be read: No such file or directory; a trace is a folder, named as seen from the configuration file' trace.cfg 'jobs[0].trace=missing'
bad 'Not a directory; a trace is a folder, named as seen from the configuration file' trace.cfg 'jobs[0].trace=empty'
bad 'folder: no trace here: there is no file pmpi-trace-rank-0.txt' trace.cfg 'jobs[0].trace=folder'
bad 'of job '\''job0'\'' has 2 tasks, not 5' trace.cfg 'jobs[0].tasks=5'
bad '2 tasks, 1 to a node, need 2 nodes' trace.cfg topology.nodes=1
one=trace/pmpi-trace-rank-1.txt
spoil() { # PART: the good trace as the case has changed it
    bad "$1" trace.cfg
    good_trace
}
mv $one trace/pmpi-trace-rank-2.txt && spoil 'pmpi-trace-rank-1.txt is missing, but there is one of task 2'
sed -i '$d' $one && spoil 'the file ends without MPI_Finalize: truncated?'
head -c 60 $one >short && mv short $one && spoil 'is no MPI call: MPI_Name:start:arguments:end expected'
: >$one && spoil 'not a liballprof trace: the first line must begin with'
echo 'DUMPI trace' >$one && spoil 'pmpi-trace-rank-1.txt:1: not a liballprof trace'
cp binary $one && spoil 'pmpi-trace-rank-1.txt'
rm $one && mkdir $one && spoil 'pmpi-trace-rank-1.txt: is a folder'
rm $one && mkfifo $one && spoil 'pmpi-trace-rank-1.txt: is no regular file'
task trace 1 "$(receive 200 8 0 5 | sed 's/Recv/Frobnicate/')" && spoil 'pmpi-trace-rank-1.txt:3: the call MPI_Frobnicate is not known'
task trace 1 'MPI_Win_create:200:1:2:3:4:5:6:201' && spoil 'pmpi-trace-rank-1.txt:3: MPI_Win_create'
task trace 1 'MPI_Recv:200:1:8:201' && spoil 'MPI_Recv has 2 arguments here, 7 would be right'
task trace 1 "$(receive 200 8 0 5 | sed 's/1,1,1/1,-1,1/')" && spoil 'pmpi-trace-rank-1.txt:3: '
task trace 1 "$(receive 200 8 5 5)" && spoil 'pmpi-trace-rank-1.txt:3: '
task trace 1 "MPI_Recv:200:1:8:1,1,1:0:5:$world,1,8:9:201" && spoil 'a communicator of 8 tasks, but there are 2 trace files'
task trace 0 && bad_ranks 'the files are not of one run, or damaged' trace.cfg
good_trace
task trace 1 "$(receive 200 8 0 5)" "MPI_Barrier:300:$world,1,2:301" && spoil 'task 1 makes 1 collective calls, but task 0 0'

# ---- results and partition ----

bad_ranks 'cannot write to result folder empty: Not a directory; name another with -o DIR' star.cfg -o empty
bad 'cannot write to result folder' star.cfg -o empty/x
bad 'empty name' star.cfg -o ''
bad_ranks 'partition.file: is missing' star.cfg partition.method=file
bad_ranks 'partition.file: missing: cannot be read' star.cfg partition.method=file partition.file=missing
bad 'partition.method: "magic" is none of' star.cfg partition.method=magic
printf '0\n7\n' >ranks
launch 2 torus.cfg partition.method=file partition.file=ranks
verdict "$(refused $? 'ranks:2: rank 7 does not exist; this run can use ranks 0 to 1')" "2 ranks: a rank that does not exist"

# ---- runs that cannot go on ----

stuck_trace() { # NAME PART
    { echo "$star"; echo "jobs = ( { program = \"trace\"; trace = \"$1\"; } );"; } >"$1.cfg"
    stuck "$2" "$1.cfg"
}
task tags 0 "$(send 200 8 1 5)"
task tags 1 "$(receive 200 8 0 6)"
stuck_trace tags 'receive from task 0, tag 6, 8 bytes'
for t in 0 1; do
    task receive-first $t "$(receive 200 8 $((1 - t)) 5)" "$(send 300 8 $((1 - t)) 5)"
    task send-first $t "$(send 200 65536 $((1 - t)) 5)" "$(receive 300 65536 $((1 - t)) 5)"
done
stuck_trace receive-first 'receive from task 1, tag 5, 8 bytes'
stuck_trace send-first 'send to task 0, tag 5, 65536 bytes'
# task 1 sits on a node that is cut off: its message is never sent, task 0 waits for it
task cut 0 "$(receive 200 8 1 5)"
task cut 1 "$(send 200 8 0 5)"
{ echo "$star"; echo 'jobs = ( { program = "trace"; trace = "cut"; } );'; echo 'faults: { list = ( { node = 1; } ); unreachable = "drop"; };'; } >cut.cfg
stuck '(1 packet was lost by faults)' cut.cfg
# 64 tasks, each waits for the next: 40 of them are shown, none of them is cut; nobody has a finish, all have waited.
for r in $(seq 0 63); do task ring $r "MPI_Recv:$((200 + r)):1:8:1,1,1:$(((r + 1) % 64)):5:$world,$r,64:9:300" \
    "MPI_Send:300:1:8:1,1,1:$(((r + 63) % 64)):5:$world,$r,64:301"; done
echo 'topology: { kind = "star"; nodes = 64; bandwidth = "1 GB/s"; latency = "10 ns"; }; jobs = ( { program = "trace"; trace = "ring"; } );' >ring.cfg
stuck '... and 24 more' ring.cfg
why=""
[ "$(grep -c 'MPI_Recv .* receive from task [0-9]*, tag 5, 8 bytes$' err)" -eq 40 ] || why="not 40 whole rows"
# Task r waits from 200 + r us on, until nothing happens any more: 263 us.
csv_columns results/tasks.csv task finish_ps wait_ps passes |
    awk -F, '$2 != "" || $3 != (63 - $1) * 1000000 || $4 != 0 { exit 1 }' || why="tasks.csv: a finish, or another wait"
verdict "$why" 'the table of who waits for whom is whole'
