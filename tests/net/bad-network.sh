#!/bin/bash
# Bad input, as a user meets it: switches and adapters, faults, routing tables, detours, traffic, several adapters. tests/lib-bad-input.sh says what is asked of a refusal.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-bad-input.sh

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

# The network: torus.cfg, 16 switches with a node each at port 0 and neighbours at ports 1 to 4. tests/routing/test_table_text.c has more of what a file
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
timeout -k 5 $seconds "$marssim" --write-table good.txt torus.cfg routing.algorithm=updown routing.paths=one >out 2>err </dev/null
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
bad_ranks 'packets to node 0 are sent in a circle: through switches 4, 5, 6, 7, 4 again' torus.cfg routing.algorithm=table routing.table=table.txt
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

# ---- detours via third groups ----

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
bad 'routing.algorithm: "indirect" is not possible on a torus; possible are: minimal, adaptive, valiant, inner_outer_inner, ugal, par, shortest, updown, layered, table' torus.cfg routing.algorithm=indirect

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
bad_ranks 'traffic.shift: of 4 leads back to the same of 4 groups' dragonfly.cfg traffic.pattern=adversarial traffic.shift=4
bad 'traffic.shift: too small: must be at least 1' dragonfly.cfg traffic.pattern=adversarial traffic.shift=0

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
bad 'adversarial needs nodes in two groups' dragonfly.cfg traffic.pattern=adversarial topology.groups=4,1
bad 'adversarial needs nodes in two groups' star.cfg traffic.pattern=adversarial
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
