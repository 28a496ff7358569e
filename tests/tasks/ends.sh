#!/bin/bash
# What tasks do at the ends of messages and in collectives, besides sending and receiving: time to combine data, copies of their
# own, overheads by size. Exact times, equal results on 1, 2, 3 and 5 ranks, saved and resumed.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
took() { # CONFIGURATION WORD...: the simulated time, ps
    run -o "$t/p" "$@" && jq .result.simulated_time_ps "$t/p/summary.json"
}
more() { # NAME EXPECTED CONFIGURATION WORDS... -- WORDS...: by how many ps the words behind "--" make it longer
    local name=$1 expected=$2 before=() got
    shift 2
    while [ "$1" != -- ]; do before+=("$1") && shift; done
    shift
    got=$(($(took "${before[@]}" "$@") - $(took "${before[@]}")))
    [ "$got" -eq "$expected" ] || echo "$got, not $expected" >>"$t/err"
    [ "$got" -eq "$expected" ]
    check "$name"
}

# ---- combining, and copies: 8 tasks on 8 nodes, one all-reduce of 1 MB; at 10 GB/s the vector takes 100 us ----

cat >"$t/all.cfg" <<'END'
topology = { kind = "star"; nodes = 8; bandwidth = "10 GB/s"; latency = "100 ns"; };
jobs = ( { program = "stencil"; extents = [2, 2, 2]; steps = 1; bytes = "8 B"; allreduce_every = 1; allreduce_bytes = "1 MB"; } );
END
us=1000000
by() { more "$1" "$2" "$t/all.cfg" "mpi.collectives.allreduce=$1" -- "$3"; }
by recursive_doubling $((300 * us)) "mpi.reduce_rate=10 GB/s" # the whole vector in each of 3 rounds
by rabenseifner $((175 * us / 4)) 'mpi.reduce_rate=["10 GB/s", "20 GB/s:1 MB", "5 GB/s:1000001 B"]' # by the whole vector
by rabenseifner $((175 * us / 2)) "mpi.reduce_rate=10 GB/s"   # 1/2, 1/4 and 1/8 of it
by ring $((175 * us / 2)) "mpi.reduce_rate=10 GB/s"           # 7 times 1/8
for algorithm in recursive_doubling ring rabenseifner binomial; do # the vector that the result is made in
    by $algorithm $((100 * us)) mpi.copies=collectives
done
more "through shared memory: what is read of the others" $((700 * us)) "$t/all.cfg" node.cores=8 "jobs[0].tasks_per_node=8" \
    mpi.collectives.allreduce=shared_memory -- "mpi.reduce_rate=10 GB/s"
more "in levels: inside the nodes, and between them" $((300 * us)) "$t/all.cfg" node.cores=2 "jobs[0].tasks_per_node=2" \
    mpi.collectives.allreduce=binomial/recursive_doubling -- "mpi.reduce_rate=10 GB/s"
# Two tasks of one node combine at once: 3 bytes to and from memory for each, 60 GB/s of a controller that has 60, or 30.
for rate in 60 30; do
    more "two tasks share a memory of $rate GB/s" $((6000 / rate * us)) "$t/all.cfg" "jobs[0].extents=[2, 1, 1]" node.cores=2 \
        "jobs[0].tasks_per_node=2" "node.controller_bandwidth=$rate GB/s" mpi.collectives.allreduce=recursive_doubling -- "mpi.reduce_rate=10 GB/s"
done

# ---- overheads by size: 2 messages of 1,000 bytes, one after the other ----

cat >"$t/two.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
jobs = ( { program = "pingpong"; bytes = [1000]; steps = 1; } );
END
one() { more "$1" "$2" "$t/two.cfg" -- "${@:3}"; }
one "one time for all sizes" $((2 * us)) "node.send_overhead=1 us"
one "a step up to the size" $((2 * us)) 'node.send_overhead=["0 ns", "1 us:1000 B"]'
one "a step above it" 0 'node.send_overhead=["0 ns", "1 us:1001 B"]'
one "at the receiver" $((2 * 700000)) 'node.receive_overhead=["3 us", "700 ns:1 B", "9 us:2 kB"]'
one "lines" $((2 * us)) 'node.send_overhead=["0 ns", "2 us:2 kB"]' node.overhead_between=lines
one "the last line continues" $((2 * 5 * us)) 'node.send_overhead=["0 ns", "1 us:200 B"]' node.overhead_between=lines
one "inside a node: not between two" 0 "node.memory_overhead=300 ns"
more "inside a node: at both ends" $((4 * 300000)) "$t/two.cfg" node.cores=2 "jobs[0].tasks_per_node=2" "node.send_overhead=5 us" \
    "node.memory_overhead=0 ns" -- 'node.memory_overhead=["1 us", "300 ns:1 kB"]'
# The last message waits for its FIN: 250 ns, and 32 bytes at 10 GB/s; the one before leaves that long after FIN. Inside a node there is none.
one "sends that wait until they are delivered" 256400 mpi.eager_completion=delivered
one "what is handed over whole waits for nothing" 0 mpi.eager_completion=delivered "mpi.inject_limit=1 kB"
more "delivered inside a node" 0 "$t/two.cfg" node.cores=2 "jobs[0].tasks_per_node=2" -- mpi.eager_completion=delivered
# Tasks 2 and 3 are far from each other; what comes to them in the second step (after 2,108 ns) does so while they make their send in it (from 2,004 ns
# on, 200 ns): they send, then pay for it.
printf 'switch %s\n' a b c d >"$t/ring" && printf 'node n%s %s 100ns 10GB/s\n' 0 a 1 b 2 c 3 d >>"$t/ring"
printf 'link %s 10GB/s\n' "a b 500ns" "b d 500ns" "d c 1400ns" "c a 500ns" >>"$t/ring"
echo 'topology = { kind = "file"; file = "ring"; };
jobs = ( { program = "collective"; collective = "allgather"; tasks = 4; bytes = "8 B"; sync = "none"; iterations = 1; } );' >"$t/early.cfg"
more "what comes while a task sends is paid for behind the send" $((2 * 200000 + 2 * 100000)) "$t/early.cfg" mpi.collectives.allgather=recursive_doubling -- \
    "node.send_overhead=200 ns" "node.receive_overhead=100 ns"

# ---- the rate of a message's stream: 10 packets of 4,096 bytes, which with their headers take 412.8 ns each ----

ten() { more "$1" "$2" "$t/two.cfg" "jobs[0].bytes=40960" -- "${@:3}"; }
ten "1 GB/s: 9 x 4,096 ns in place of 9 x 412.8, twice" 66297600 "adapter.injection_rate=1 GB/s"
ten "up to the message's size" 0 'adapter.injection_rate=["1 GB/s", "20 GB/s:40 KiB"]'
ten "above it" 66297600 'adapter.injection_rate=["1 GB/s", "20 GB/s:40961 B"]'
ten "lines: 2 GB/s" $((2 * 9 * 1635200)) 'adapter.injection_rate=["1 GB/s", "3 GB/s:80 KiB"]' adapter.injection_between=lines
ten "behind the last size the same rate" 66297600 'adapter.injection_rate=["3 GB/s", "1 GB/s:10 KiB"]' adapter.injection_between=lines
# ---- algorithms: 1 MB over messages of 1 us + bytes / 10 GB/s, however many at once ----

program() { # TASKS CALL...: each task does these calls
    local tasks=$1 i call
    shift
    for ((i = 0; i < tasks; i++)); do
        echo "$i init"
        for call; do echo "$i $call"; done
        echo "$i finalize"
    done >"$t/program.txt"
}
cat >"$t/five.cfg" <<END
topology = { kind = "star"; nodes = 5; bandwidth = "10 GB/s"; latency = "100 ns"; };
network = { model = "simple"; latency = "1 us"; bandwidth = "10 GB/s"; };
mpi = { eager_limit = "1 GiB"; };
jobs = ( { program = "trace"; format = "simgrid"; trace = "$t/program.txt"; } );
END
lasts() { # COLLECTIVE ALGORITHM US KEYS...
    local got
    got=$(took "$t/five.cfg" "mpi.collectives.$1=$2" "${@:4}")
    [ "$got" -eq $(($3 * us)) ] || echo "$got, not $3 us" >>"$t/err"
    [ "$got" -eq $(($3 * us)) ]
    check "$1 by $2: $3 us"
}
program 5 "bcast 1000000 0"
lasts bcast linear 101                  # all at once
lasts bcast chain 404                   # 4 x 101
lasts bcast "chain(segment=100 kB)" 134 # 4 x 11, and 9 segments of 10 us behind the first
lasts bcast "chain(chains=2)" 202       # 0 to 1 to 2, 0 to 3 to 4
lasts bcast binary 202                  # 0 to 1 and 2; 1 to 3, 2 to 4
lasts bcast knomial 101                 # to base 4: 0 to 4, 1, 2, 3
lasts bcast "knomial(radix=3)" 202      # 0 to 3, 1 and 2; 3 to 4
program 4 "bcast 1000000 0"
lasts bcast scatter_allgather 154 # halves and quarters: 2 at 51, 3 at 77; quarters exchanged: 2 at 103; halves: 0 at 154
program 5 "reduce 1000000 0"
lasts reduce chain 804 "mpi.reduce_rate=10 GB/s"                   # 4 x (101 + 100)
lasts reduce "chain(segment=100 kB)" 264 "mpi.reduce_rate=10 GB/s" # 11 + 21 + 21 + 21 + 10, and 9 times 20, combined and sent
lasts reduce linear_blocking 501 "mpi.reduce_rate=10 GB/s"         # all are there at 101, and combined one after the other

sed '/^network/d; s/nodes = 5/nodes = 3/' "$t/five.cfg" >"$t/three.cfg"
program 3 "bcast 40960 0"
more "one adapter, two messages: 19 x 4,096 ns" 69980800 "$t/three.cfg" mpi.collectives.bcast=linear -- "adapter.injection_rate=1 GB/s"

# ---- rates by what combines: 4,000 bytes of ints by a sum, 8,000 of doubles by a product, at 1 GB/s 4 and 8 us ----

marstrace=$(dirname "$m")/marstrace
if [ -x "$marstrace" ] && mpicc -o "$t/combined" tests/tools/tracer/combined.c 2>"$t/err"; then
    traced() { timeout 60 mpirun -n 2 "$marstrace" -o "$t/trace$1" "$t/combined" $1 </dev/null >"$t/err" 2>&1; }
    traced "" && traced own && traced derived
    check "reductions are traced"
    cat >"$t/traced.cfg" <<END
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
mpi = { collectives = { allreduce = "recursive_doubling"; }; };
jobs = ( { program = "trace"; trace = "$t/trace"; processor_factor = 0.0; } );
END
    rates() { more "$1" $(($2 * us)) "$t/traced.cfg" "${@:4}" -- "mpi.reduce_rate=$3"; }
    rates "one rate" 12 '["1 GB/s"]'
    rates "by operation" 8 '["1 GB/s", "2 GB/s:prod"]'
    rates "by datatype" 10 '["1 GB/s", "2 GB/s:integer"]'
    rates "by both: the last fitting one" 6 '["1 GB/s", "4 GB/s:real", "2 GB/s:prod:real", "2 GB/s:sum", "4 GB/s:sum:real"]'
    rates "an operation of the program's own" 6 '["2 GB/s", "2 GB/s:own"]' "jobs[0].trace=$t/traceown"
    rates "of a derived datatype, too" 4 '["2 GB/s", "1 GB/s:own", "4 GB/s:own:derived"]' "jobs[0].trace=$t/tracederived"
    for what in own derived; do
        ! "$m" -q -o "$t/bad" "$t/traced.cfg" "jobs[0].trace=$t/trace$what" "mpi.reduce_rate=1 GB/s" 2>"$t/err" &&
            grep -q "mpi.reduce_rate: job .* by an operation of the program's own.*\"1 GB/s:own\"" "$t/err"
        check "$what without a rate of its own: refused"
    done
fi

# ---- all of it at once ----

cat >"$t/c.cfg" <<'END'
topology = { kind = "torus"; extents = [3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 6; send_overhead = ["100 ns", "351 ns:600 B", "2 us:3 kB"]; receive_overhead = ["77 ns", "1 us:2 kB"];
         memory_overhead = ["31 ns", "401 ns:900 B"]; overhead_between = "lines"; };
mpi = { reduce_rate = "3 GB/s"; copies = "all"; };
adapter = { injection_rate = ["2 GB/s", "5 GB/s:2 kB", "3 GB/s:20 kB"]; injection_between = "lines"; };
jobs = ( { program = "stencil"; extents = [7, 7]; steps = 6; compute_time = "20 us"; bytes = "3 kB"; tasks_per_node = 6;
           compute_jitter = "9 us"; allreduce_every = 2; allreduce_bytes = "70 kB"; } );
END
same_bits "all at once"
same_bits "sends that wait until they are delivered" mpi.eager_completion=delivered "mpi.inject_limit=100 B" output.waits=true
same_bits "with memory that is shared" "node.controller_bandwidth=12 GB/s" "mpi.collectives.allreduce=shared_memory/rabenseifner"

# ---- bad input ----

echo "1 7 1 2 1 0 4 0 0" >"$t/rules.conf"
refuse() { # PATTERN WORDS...
    "$m" -q -o "$t/bad" "$t/two.cfg" "${@:2}" >"$t/err" 2>&1
    [ $? -eq 2 ] && grep -q "$1" "$t/err"
    check "refused: $1"
}
refuse "sizes ascend" 'node.send_overhead=["0 ns", "1 us:8 B", "2 us:8 B"]'
refuse "the first is for all sizes" 'node.send_overhead=["0 ns:8 B"]'
refuse "right would be a time" 'node.receive_overhead=["1 fortnight"]'
refuse "let it end level" 'node.send_overhead=["2 us", "1 us:8 B"]' node.overhead_between=lines
refuse "sizes ascend" 'adapter.injection_rate=["1 GB/s", "2 GB/s:8 B", "2 GB/s:4 B"]'
refuse "right would be a rate" 'adapter.injection_rate=["1 us"]'
refuse "right would be a rate" 'adapter.injection_rate=["0 GB/s"]'
refuse "adapter.injection_between" adapter.injection_between=lines
refuse "has no schedule here" "mpi.collectives.rules=$t/rules.conf"
refuse "at least 1 kB/s" "mpi.reduce_rate=0 B/s"
refuse "the first rate is for all" "mpi.reduce_rate=1 GB/s:sum"
refuse "no size, operation or datatype, or two of a kind" 'mpi.reduce_rate=["1 GB/s", "2 GB/s:sum:prod"]'
refuse "a second rate for the same" 'mpi.reduce_rate=["1 GB/s", "2 GB/s:sum", "3 GB/s:sum"]'
