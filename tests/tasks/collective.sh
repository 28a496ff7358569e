#!/bin/bash
# jobs[].program = "collective", and jobs[].hosts: exact times, equal results on 1, 2, 3 and 5 ranks, saved and resumed, bad input.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/star.cfg" <<'END'
topology = { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "100 ns"; };
jobs = ( { program = "collective"; tasks = 4; iterations = 3; } );
mpi = { collectives = { allgather = "ring"; bcast = "linear"; }; };
output = { collectives = true; };
END
timed() { # NAME EXPECTED FILTER KEYS...: what jq finds in the first job's measured, compact
    local name=$1 expected=$2 filter=$3 got
    shift 3
    got=$(run -o "$t/p" "$t/star.cfg" "$@" && jq -c ".result.jobs[0].measured | $filter" "$t/p/summary.json")
    [ "$got" = "$expected" ] || echo "$got, not $expected" >>"$t/err"
    [ "$got" = "$expected" ]
    check "$name"
}

# ---- exact: two links of 100 ns, a switch of 50 ns, 32 bytes of header in front of each message at 10 GB/s ----

# Three steps, one after the other: 250 + 4, and 250 + 103.2 ns.
timed "a ring, sizes one after the other" "[[8,762000,762000,3],[1000,1059600,1059600,3]]" \
    "[.sizes[] | [.bytes, .min_ps, .max_ps, .iterations]]" jobs[0].collective=allgather 'jobs[0].bytes=["8 B","1 kB"]' jobs[0].warmup=2
run -o "$t/p" "$t/star.cfg" jobs[0].collective=allgather 'jobs[0].bytes=8 B' jobs[0].sync=none 'jobs[0].pause=1 us' &&
    awk -F, 'NR > 2 && $4 - before != 1762000 { bad = 1 } NR > 1 { before = $4 } END { exit bad || NR != 4 }' "$t/p/collectives.csv"
check "iterations follow each other with the pause between them"
# Each sends three of 103.2 ns one after the other, and no two of them meet; at the root three meet. (Later the root leaves the barrier before
# the others, since it came last, and waits for them.)
timed "messages from each to each" 559600 ".sizes[0].max_ps" jobs[0].collective=exchange 'jobs[0].bytes=1 kB'
timed "messages from all to one" 559600 ".sizes[0].min_ps" jobs[0].collective=incast 'jobs[0].bytes=1 kB'
timed "the largest own time: the last receiver of three" 262000 ".sizes[0].max_ps" \
    jobs[0].collective=bcast 'jobs[0].bytes=8 B' jobs[0].sync=none jobs[0].iterations=1
for measure in own span; do
    run -o "$t/p" "$t/star.cfg" jobs[0].collective=bcast 'jobs[0].bytes=8 B' jobs[0].measure=$measure jobs[0].iterations=9 &&
        sizes=$(jq -c ".result.jobs[0].measured.sizes[0]" "$t/p/summary.json") &&
        awk -F, -v measure=$measure 'NR > 1 { print (measure == "own" ? $6 : $5 - $4) }' "$t/p/collectives.csv" | sort -n |
        jq -se --argjson at "$sizes" '[.[0], .[4], .[8]] == [$at.min_ps, $at.median_ps, $at.max_ps] and length == 9' >/dev/null
    check "$measure: the table and its summary"
done
# Bursts of 2 us and pauses of 3: no step begins in a pause, and some follow each other within a burst.
run -o "$t/p" "$t/star.cfg" jobs[0].collective=exchange 'jobs[0].bytes=1 kB' jobs[0].sync=none 'jobs[0].burst=2 us' 'jobs[0].pause=3 us' \
    jobs[0].iterations=20 &&
    awk -F, 'NR > 1 { at[int($4 / 5e6)]++; if ($4 % 5000000 >= 2000000) bad = 1 }
             END { for (i in at) { bursts++; if (at[i] < 2) few++ } exit bad || bursts < 6 || few > 1 }' "$t/p/collectives.csv"
check "bursts by the clock"

# ---- beside each other, on any number of ranks ----

cat >"$t/c.cfg" <<'END'
topology = { kind = "torus"; extents = [4, 4]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 3; send_overhead = "200 ns"; receive_overhead = "150 ns"; };
jobs = ( { program = "collective"; collective = "allreduce"; tasks = 7; bytes = ["8 B", "20 kB"]; iterations = 12; warmup = 1;
           measure = "span"; pause = "700 ns"; nodes = 8; placement = "random"; },
         { program = "collective"; collective = "exchange"; tasks = 5; bytes = "9 kB"; iterations = 2; background = true; restart = true;
           burst = "30 us"; pause = "11 us"; first_node = 3; },
         { program = "collective"; collective = "reduce_scatter"; tasks = 16; bytes = "7 kB"; iterations = 5; sync = "none"; align = "3 us"; first_node = 0; } );
output = { collectives = true; };
END
tables=collectives same_bits "three jobs"
jq -e '[.result.jobs[] | .measured.sizes[].iterations] == [12, 12, 2, 5]' "$t/one/summary.json" >/dev/null
check "of what is repeated the first pass is measured"

# ---- nodes by their names ----

cat >"$t/net" <<'END'
switch s
switch r
link s r 500ns 10GB/s
node n01 s 100ns 10GB/s
node n02 s 100ns 10GB/s
node n03 r 100ns 10GB/s
node login-a r 100ns 10GB/s
END
job='program = "pingpong"; tasks = 2; bytes = "8 B";'
echo "jobs = ( { $job steps = 1; } ); topology = { kind = \"file\"; file = \"net\"; };" >"$t/net.cfg"
placed() { # NAME NODES KEYS...
    local name=$1 expected=$2 got
    shift 2
    run -o "$t/p" "$t/net.cfg" "$@" && got=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "node") at = i } NR > 1 { print $at }' "$t/p/tasks.csv" | xargs)
    [ "$got" = "$expected" ] || echo "$got, not $expected" >>"$t/err"
    [ "$got" = "$expected" ]
    check "$name"
}
placed "a list, in its order" "2 0" "jobs[0].hosts=n03,n[01-02]"
placed "two tasks to a node" "3 3" "jobs[0].hosts=login-a" jobs[0].tasks_per_node=2 node.cores=2
printf '# by hand\nn[02-03]\n\nn01\n' >"$t/hosts"
placed "a file of names" "1 2" "jobs[0].hosts=$t/hosts"
printf 'a[1-2]b[07,09] 0\n' >"$t/map"
placed "names from a map, several brackets" "3 1" "jobs[0].hosts=a[2,1]b09" "node.hosts=$t/map"

refuse() { # PATTERN KEYS...
    "$m" -q -o "$t/bad" "$t/net.cfg" "${@:2}" >"$t/err" 2>&1
    [ $? -eq 2 ] && grep -q -e "$1" "$t/err"
    check "refused: $1"
}
refuse "names n04, which there is not; nearest are n01, n02, n03, and there is no file" jobs[0].hosts=n04
refuse "names n01 twice" "jobs[0].hosts=n01,n[01-02]"
refuse "which is too few for 2 tasks" "jobs[0].hosts=n01"
refuse "does not ascend" "jobs[0].hosts=n[3-1]"
refuse "brackets that do not close" "jobs[0].hosts=n[01,02"
refuse "has no number in its brackets" "jobs[0].hosts=n[a]"
refuse "is no name" "jobs[0].hosts=n01,,n02"
refuse "leave one out" jobs[0].hosts=n01,n02 jobs[0].placement=random
printf 'n[01-03]\nn02\n' >"$t/hosts"
refuse "hosts:2: names n02 twice" "jobs[0].hosts=$t/hosts"
printf '# none\n' >"$t/hosts"
refuse "names no host" "jobs[0].hosts=$t/hosts"
for line in "a[1-3]" "a[1-9] 0" "a[1-2] 0 7" "a[3-1] 0" "a[1-99999999] 0"; do
    printf 'b 3\n%s\n' "$line" >"$t/map"
    refuse "map:2: " jobs[0].hosts=b "node.hosts=$t/map"
done
printf 'b 3\nb 2\n' >"$t/map"
refuse "names b twice" jobs[0].hosts=b "node.hosts=$t/map"
sed 's/kind = .*/kind = "star"; nodes = 4; bandwidth = "1 GB\/s"; latency = "1 us"; };/' "$t/net.cfg" >"$t/kept.cfg"
cp "$t/kept.cfg" "$t/net.cfg"
refuse "nodes have no names here" jobs[0].hosts=b
sed 's/( {.*} );/( { program = "collective"; } );/' "$t/kept.cfg" >"$t/net.cfg"
refuse "is for steps of messages" jobs[0].collective=bcast jobs[0].burst=1us jobs[0].pause=1us
refuse "needs jobs.*pause" jobs[0].collective=exchange jobs[0].burst=1us
refuse "needs two tasks" jobs[0].collective=incast jobs[0].tasks=1
refuse "at most 16777216 are kept" jobs[0].iterations=16777216 jobs[0].warmup=9
refuse "jobs.0..iterations" jobs[0].iterations=0
