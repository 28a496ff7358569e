#!/bin/bash
# Bad input, as a user meets it: the command line, files, values, keys that mean nothing, sizes. tests/lib-bad-input.sh says what is asked of a refusal.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-bad-input.sh

# ---- the starting point is good ----

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
bad 'jobs.steps: unknown key; jobs is a list: jobs[0].steps is of its first member' star.cfg jobs.steps=3
bad '-n: the number of processes is given by mpirun -n N' -n 4 star.cfg
bad 'traffic.x: unknown key; marssim --help-config lists all keys' star.cfg traffic.x=3
bad 'one configuration is read, and "star.cfg" is it' star.cfg torus.cfg
bad '--load: there is no such option; a configuration key is set by traffic.load=VALUE' star.cfg --load 0.3
bad '--load=0.3: there is no such option; a configuration key is set by traffic.load=VALUE' --load=0.3 star.cfg
bad '-load: there is no such option; a configuration key is set by traffic.load=VALUE' -load 3 star.cfg
bad '--help-config traffc: no group, key or meaning has this word; did you mean traffic?' --help-config traffc
bad 'topology.p: is missing; a dragonfly topology needs it' star.cfg topology.kind=dragonfly
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
sed 's/"1 GB\/s"/1 GB\/s/' star.cfg >unit.cfg && bad 'unit.cfg:1: 1 GB/s: a value with a unit is in quotes: "1 GB/s"' unit.cfg
sed 's/"10 ns"/1.5ns/' star.cfg >unit.cfg && bad 'unit.cfg:1: 1.5ns: a value with a unit is in quotes' unit.cfg
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
good --help-config opensm
grep -q "^  routing.lmc_path: " out || verdict "no routing.lmc_path" "--help-config with a word of meanings"
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
bad 'a value with a unit is in quotes' unquoted.cfg
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
bad 'a whole number is expected, not one as large as "9223372036854775808"' star.cfg topology.nodes=9223372036854775808
bad 'a whole number is expected' star.cfg topology.nodes=
bad 'is none of: fat_tree' star.cfg topology.kind=ring
bad '-: is no file; standard input is read by the name /dev/stdin' -
bad 'true or false is expected' star.cfg run.measure=1us run.drain=perhaps
bad_ranks 'topology.bandwidth[0]: too small: must be at least' star.cfg topology.bandwidth=0GB/s
bad 'must not be negative' star.cfg topology.bandwidth=-1GB/s
bad 'give a unit, as in "25 GB/s"' star.cfg topology.bandwidth=25
bad 'unknown unit of rate' star.cfg topology.bandwidth=25gbps
bad 'too large' star.cfg topology.bandwidth=1e300GB/s
bad 'takes less than 1 ps' pingpong.cfg topology.bandwidth=1e10GB/s
bad 'a number is expected, then its unit' star.cfg topology.bandwidth=nanGB/s
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
    routing.weights=latency routing.root=1 routing.paths=one routing.valiant=any routing.bias=1us routing.candidates=2 routing.detours=2 \
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
bad_ranks 'spoilt.cfg:1: jobs[0].steps: means nothing without jobs[0].program = "fft", "leanmd", "pingpong", "sparse", "stencil", "wavefront" or "weather"' spoilt.cfg

# A choice of the file that the command line overrides: one warning for each key that went with it, and what is left out is left out.
{
    sed 's/topology: {/topology: { taper = 0.5;/' tree.cfg
    echo 'routing: { algorithm = "adaptive"; selection = "queue"; threshold = "1 us"; };'
    echo 'jobs = ( { program = "stencil"; extents = [2]; allreduce_every = 1; allreduce_bytes = 8; start = "1 us"; nodes = 2; },'
    echo '         { program = "stencil"; extents = [2]; allreduce_every = 1; allreduce_bytes = 8; first_node = 2; } );'
} >choices.cfg
left_out() { # KEYS WORD...: warnings for these keys, each once, and the run continues
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
{ echo "topology: { kind = \"hierarchical\"; groups = [64, 257]; attach = \"group\"; $links };"; echo 'jobs = ( { program = "stencil"; } );'; } >large.cfg
bad 'jobs[0].extents: is missing' --check=full large.cfg # whose proof would take minutes
bad 'has 3 values' groups.cfg topology.links=1,1,1
bad 'topology.groups' groups.cfg topology.groups=2,2,2,2,2
bad 'net.missing: cannot be read' file.cfg topology.file=net.missing
bad 'folder' file.cfg topology.file=folder
bad 'empty:1: there are 0 switches' file.cfg topology.file=empty
bad 'binary:1: this is no text file' file.cfg topology.file=binary
bad_ranks 'dangling.txt:2: there is no switch t' file.cfg topology.file=dangling.txt
bad 'apart.txt:2: no links lead from the first switch' file.cfg topology.file=apart.txt
bad 'zero.txt:2: the latency must be at least 1ps' file.cfg topology.file=zero.txt

# A fabric of two switches and two hosts, and its tables (tests/routing/test_fabric.c and test_fabric_tables.c have the many ways in which they can be wrong).
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
bad_ranks 'loop.lfts:1: LID 0x0004, of "node2 HCA-1", leads in a circle' lfts.cfg routing.table=loop.lfts
bad 'cut.lfts:6: the table of switch "right", begun in line 5, ends without' lfts.cfg routing.table=cut.lfts
bad 'routing.lmc_path' lfts.cfg routing.lmc_path=128
bad 'is a file of OpenSM' file.cfg routing.algorithm=table routing.table=good.lfts
