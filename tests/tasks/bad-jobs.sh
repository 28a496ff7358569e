#!/bin/bash
# Bad input, as a user meets it: jobs, placements, traces, results; and runs that cannot continue. tests/lib-bad-input.sh says what is asked of a refusal.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-bad-input.sh

# ---- jobs and placement ----

bad 'is none of: collective, fft, ior, leanmd, pingpong, schedule, sparse, stencil, trace, wavefront, weather' stencil.cfg 'jobs[0].program=fluid'
bad_ranks '5 tasks, 1 to a node, need 5 nodes' stencil.cfg 'jobs[0].extents=5'
bad 'makes more than 2^31 - 1 tasks' stencil.cfg 'jobs[0].extents=1073741824,1073741824'
bad 'has 4 tasks, not 7' stencil.cfg 'jobs[0].tasks=7'
bad_ranks '2 tasks on node 0, but node.cores is 1' stencil.cfg 'jobs[0].tasks_per_node=2'
bad 'an even number of tasks' pingpong.cfg 'jobs[0].tasks=3'
bad 'the next member of the list would be [1]' stencil.cfg 'jobs[7].program=stencil'
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
bad 'missing: cannot be read: No such file or directory; a trace is a folder' trace.cfg 'jobs[0].trace=missing' 'jobs[0].calls=traced'
bad 'Not a directory; a trace is a folder, named as seen from the configuration file' trace.cfg 'jobs[0].trace=empty' 'jobs[0].format=liballprof'
bad 'empty begins as no trace that is known; jobs[].format names its reader' trace.cfg 'jobs[0].trace=empty'
printf 'num_rank 2\n' >typo.goal && bad 'typo.goal:1: a GOAL schedule begins with' trace.cfg 'jobs[0].trace=typo.goal'
printf 'drive 1\n' >typo.driven && bad 'typo.driven:1: a message-driven program begins with' trace.cfg 'jobs[0].trace=typo.driven'
printf 'nobody\n' >typo.ti && bad 'typo.ti:1: there is no file "nobody"' trace.cfg 'jobs[0].trace=typo.ti'
mkdir -p archive && printf 'OTF2' >archive/traces.otf2 &&
    bad 'archive: neither the anchor file of an OTF2 archive' trace.cfg 'jobs[0].trace=archive'
bad 'folder: no trace here: there is no file pmpi-trace-rank-0.txt' trace.cfg 'jobs[0].trace=folder'
mkdir -p twice && : >twice/task-000000.mars && : >twice/pmpi-trace-rank-0.txt &&
    bad 'twice may be a trace of the format "mars" as well as of "liballprof"; jobs[].format says which' trace.cfg 'jobs[0].trace=twice'
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
verdict "$(fault $? 'ranks:2: rank 7 does not exist; this run can use ranks 0 to 1')" "2 ranks: a rank that does not exist"

# ---- runs that cannot continue ----

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
