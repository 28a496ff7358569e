# lib-bad-input.sh - for the scripts of bad input, sourced from the top folder: what is asked of a refusal, and good input to be spoilt.
#
# Every refusal ends with exit status 2 and exactly one message, "marssim: error: ...", that names the file and line, the
# key or the option, and says what would be right; nothing else is on standard output or standard error, and nothing hangs.
# The first argument of bad() is a part of that message. All cases run on one rank, those marked by bad_ranks on 2 and 3, too.
# There each rank writes to the files out and err itself, and what mpirun says on its own account goes to the file launcher:
# a note about the exit status always, warnings of libevent on a machine under load.
#
# A run that deadlocks ends with status 1 and the table of who waits for whom, and what was measured is written.
. tests/lib-script.sh
. tests/libcsv.sh
cd "$work" || exit 2
seconds=120 # a run takes some hundredths; more than a hundred times that on a machine that is very busy

# ---- what is asked of a refusal ----

launch() { # RANKS WORD...: the same words on this many ranks; only what the ranks themselves say is in out and err
    local ranks=$1 status
    shift
    bounded_mpirun $seconds -n "$ranks" sh -c 'exec "$0" "$@" >>out 2>>err' "$marssim" -q -o results "$@"
    status=$?
    # MPI libraries speak inside a rank, too: libevent with a word in brackets, Open MPI with host and process. And that a small
    # machine will be slow may be said as well.
    sed -i -e '/^\[[^]]*\] /d' -e '/^marssim: warning: [0-9]* ranks /d' err
    leave_out_warnings
    touch out
    return $status
}

fault() { # STATUS PART: why this is no good refusal, or nothing
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
    verdict "$(status=$?; leave_out_warnings; fault $status "$part")" "$*"
}

bad_ranks() { # the same on 1, 2 and 3 ranks
    local ranks part=$1
    bad "$@"
    shift
    for ranks in 2 3; do
        launch $ranks "$@"
        verdict "$(fault $? "$part")" "$ranks ranks: $*"
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
good_trace
