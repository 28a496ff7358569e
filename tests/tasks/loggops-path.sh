#!/bin/bash
# What is collected of schedules with network.model = "loggops": the critical path, which adds up to the finish time and of which each
# calculation makes the run so much longer as it becomes; timelines, series and matrices; the same on any number of ranks, after --resume.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
finish() { jq .result.jobs[0].finish_ps "$1/summary.json"; }
adds_up() { # FOLDER: each step begins where the next ends, rows add up, the whole run is known
    jq -e 'all(.result.jobs[]; .finish_ps as $at | .critical_path | .complete and .to_ps == $at and ([.kinds[]] | add) == .to_ps - .from_ps)' "$1/summary.json" >"$t/jq" &&
        awk -F, 'NR > 1 { if ($1 == job && $4 != begin) { print "a gap before step " $2 " of " $1; bad = 1 } job = $1; begin = $3 } END { exit bad }' "$1/critical_path_steps.csv" &&
        awk -F, 'NR > 1 { sum[$1] += $6; path[$1] = $7 } END { for (job in sum) if (sum[job] != path[job]) exit 1 }' "$1/critical_path.csv"
}

# By hand: o = 1500, L = 2500, 5 bytes more at 6 each. Task 0 calculates 100, sends (1500 of its own, then o + L - o in transit); 1 takes it in.
printf 'num_ranks 2\nrank 0 {\na: calc 100\nb: send 6b to 1 tag 1\nb requires a\n}\nrank 1 {\nc: recv 6b from 0 tag 1\nd: calc 7\nd requires c\n}\n' >"$t/two.goal"
cat >"$t/file.cfg" <<CFG
network: { model = "loggops"; };
loggops: { L = "2500 ps"; o = "1500 ps"; g = "1000 ps"; G = "6 ps"; O = "0 ps"; S = "65535 B"; };
jobs: ( { program = "trace"; format = "goal"; trace = "$t/two.goal"; time_unit = "1 ps"; } );
output: { critical_path = "10 MB"; };
CFG
"$marssim" -q -o "$t/o" "$t/file.cfg" >"$t/err" 2>&1
verdict "$(cut -d, -f3,4,5,8,9 "$t/o/critical_path_steps.csv" | tr '\n' ' ' | diff - <(printf 'begin_ps,end_ps,task,function,kind 5630,5637,1,,computation 4100,5630,1,recv,call 1600,4100,1,wait,transfer 100,1600,0,send,call 0,100,0,,computation '))" \
    "the path of a message is the one derived by hand"
adds_up "$t/o" >"$t/err" 2>&1
check "it adds up"
tr -s ' \n' ' ' <"$t/o/summary.txt" | grep -q " path job job0: .*to the end of task 1"
check "summary.txt says it"

# Calculations on the path, each made longer by itself: the run is longer by that; by others it is not, or by less, when they come onto the path.
awk 'BEGIN { srand(7); n = 8; print "num_ranks " n
    for (r = 0; r < n; r++) { print "rank " r " {"
        for (i = 0; i < 6; i++) {
            printf "c%d: calc %d\n", i, 2000 + int(rand() * 9000)
            printf "s%d: send %db to %d tag %d\n", i, 8 + int(rand() * 300) * (i % 2), (r + 1 + i) % n, i
            printf "r%d: recv %db from %d tag %d\n", i, 8, (r + n - 1 - i) % n, i
            printf "s%d requires c%d\nr%d requires c%d\n", i, i, i, i
            if (i) printf "c%d requires r%d\n", i, i - 1 }
        print "}" } }' >"$t/ring.goal"
longer() { # RANK NUMBER-OF-CALCULATION
    awk -v rank="$1" -v which="$2" '/^rank/ { r = $2 } { if (r == rank && $1 == "c" which ":") $3 += 13; print }' "$t/ring.goal" >"$t/longer"
}
longer_ti() {
    awk -v rank="$1" -v which="$2" '$1 == rank && $2 == "compute" && n++ == which { $3 += 13 } { print }' "$t/ring.ti" >"$t/longer"
}
on_path() { # FOLDER RANK: computation of this rank
    awk -F, -v r="$2" 'NR > 1 && $5 == r && $9 == "computation" { sum += $4 - $3 } END { print sum + 0 }' "$1/critical_path_steps.csv"
}
# NAME LONGER RANKS CALCULATIONS KEYS...: each calculation in turn is 13 longer: the run is so if, and only if, its task then has so much more on the path.
proved() {
    local name=$1 longer=$2 ranks=$3 calculations=$4 before rank which more on now wrong= found=0 steps
    shift 4
    "$marssim" -q -o "$t/o" "$t/file.cfg" "$@" >"$t/err" 2>&1
    adds_up "$t/o" >"$t/err" 2>&1
    check "$name: a path adds up"
    before=$(finish "$t/o")
    "$marssim" -q -o "$t/without" "$t/file.cfg" "$@" "output.critical_path=0 B" >"$t/err" 2>&1
    cmp "$t/o/tasks.csv" "$t/without/tasks.csv" >"$t/err" 2>&1
    check "$name: nothing else changes"
    steps=$(awk -F, 'FNR > 1 && $9 == "computation"' "$t/o/critical_path_steps.csv" | wc -l)
    for ((rank = 0; rank < ranks; rank++)); do
        on=$(on_path "$t/o" $rank)
        for ((which = 0; which < calculations; which++)); do
            $longer $rank $which
            "$marssim" -q -o "$t/l" "$t/file.cfg" "$@" jobs[0].trace="$t/longer" >"$t/err" 2>&1
            more=$(($(finish "$t/l") - before))
            now=$(on_path "$t/l" $rank)
            [ $more -eq 13 ] && [ "$on" -gt 0 ] && [ $((now - on)) -eq 13 ] && found=$((found + 1))
            { [ $more -lt 0 ] || [ $more -gt 13 ]; } && wrong+=" c$which of $rank: $more"
            [ $more -eq 13 ] && [ "$now" -eq 0 ] && wrong+=" c$which of $rank is not on the path"
        done
    done
    verdict "$([ -z "$wrong" ] && [ $found -ge "$steps" ] && [ "$steps" -gt 1 ] || echo "$found of $steps;$wrong")" "$name: calculations on the path, and no others, lengthen the run"
}
for rendezvous in write read instant; do
    proved "$rendezvous" longer 8 6 jobs[0].trace="$t/ring.goal" jobs[0].time_unit="1 ps" mpi.rendezvous=$rendezvous loggops.S="100 B"
done
# Of a program of MPI, whose messages hardly meet at a cpu: the path does not follow those for which others wait there.
awk 'BEGIN { srand(7); print "# version: 1.0"
    for (r = 0; r < 6; r++) { for (i = 0; i < 5; i++) { print r " compute " 2000 + int(rand() * 900000) * 10
            print r " irecv " (r + 5 - i) % 6 " " i " 99999 6"; print r " isend " (r + 1 + i) % 6 " " i " " 8 + int(rand() * 300) * (i % 2) * 10 " 6"
            print r " waitall 2" }
        print r " finalize" } }' >"$t/ring.ti"
mpi=(jobs[0].trace="$t/ring.ti" jobs[0].format=simgrid jobs[0].flop_rate=1e12 output.waits=true loggops.L="2500 ns" loggops.o="200 ns" loggops.g="0 ns" loggops.G="0.01 ns" loggops.S="1 kB")
sed -i 's/ time_unit = "1 ps";//' "$t/file.cfg"
for rendezvous in write read; do proved "MPI, $rendezvous" longer_ti 6 5 "${mpi[@]}" mpi.rendezvous=$rendezvous; done
jq -e '.result.jobs[0].critical_path | .kinds | .other_ps == 0 and .transfer_ps > 0 and .handshake_ps > 0' "$t/o/summary.json" >"$t/jq"
check "MPI: nothing on it is unknown"

# Everything together, on any number of ranks and after --resume.
cat >"$t/all.cfg" <<'CFG'
network: { model = "loggops"; };
loggops: { S = "1 kB"; };
jobs: ( { program = "schedule"; pattern = "stencil"; sides = [3, 3]; timesteps = 4; datasize = 2000; timestep = "3 us"; },
    { program = "schedule"; pattern = "linear_alltoall"; commsize = 20; datasize = 100; start = "10 us"; } );
output: { critical_path = "1 MB"; timeline = ["perfetto", "paraver"]; period = "20 us"; matrix = true; matrix_levels = ["task"];
    series: { jobs = "periods"; tasks = "periods"; matrix = "periods"; }; };
CFG
cat >"$t/mpi.cfg" <<'CFG'
network: { model = "loggops"; };
loggops: { S = "10 kB"; };
jobs: ( { program = "stencil"; extents = [3, 2, 2]; steps = 4; bytes = "20 kB"; compute_time = "10 us"; allreduce_every = 2; compute_jitter = "3 us"; },
    { program = "weather"; grid = [4, 2]; steps = 2; start = "70 us"; name = "w"; } );
output: { waits = true; critical_path = "1 MB"; };
CFG
mixed='jobs=({program="schedule";pattern="dissemination";commsize=16;datasize=64;},{program="stencil";extents=[3,2];steps=3;bytes="2 kB";compute_time="10 us";})'
params=("mpi.rendezvous=read" "mpi.rendezvous=write|loggops.noise.kind=\"periodic\"|loggops.noise.period=\"40 us\"|loggops.noise.length=\"2 us\""
    "mpi.rendezvous=instant" "output.critical_path=40 kB" "output.critical_path=0 B|$mixed")
for p in "${params[@]}"; do
    IFS='|' read -ra keys <<<"$p"
    all_alike "all that is collected (${p//|/, })" "$t/all.cfg" "${keys[@]}"
    awk -F, 'FNR == 1 { part++; for (i = 1; i <= NF; i++) at[part, $i] = i; next }
        part == 1 { m += $at[1, "messages_sent"]; b += $at[1, "bytes_received"]; next }
        part == 2 { m2 += $at[2, "messages_sent"]; b2 += $at[2, "bytes_received"]; next }
        { m3 += $at[3, "messages"] } END { exit !(m > 0 && m == m2 && b == b2 && m == m3) }' "$t/one/tasks.csv" "$t/one/job_series.csv" "$t/one/task_matrix.csv"
    check "... series and matrix add up to tasks.csv"
done
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $1 == "job0" && ($at["compute_ps"] != 0 || $at["wait_ps"] <= 0 || $at["wait_ps"] >= $at["finish_ps"]) { exit 1 }' "$t/one/tasks.csv"
check "beside programs, tasks of schedules have their waits in tasks.csv"
jq -e '[.traceEvents[] | select(.name == "send" or .name == "recv" or .name == "wait") | .name] | unique | length == 3' "$t/one/timeline.json" >"$t/jq" 2>"$t/err"
check "the timeline shows what cpus do"

for p in "mpi.rendezvous=read" "mpi.rendezvous=write mpi.progress=thread" "mpi.progress=calls output.critical_path=100000" "loggops.noise.kind=periodic"; do
    read -ra keys <<<"$p"
    all_alike "paths of MPI ($p)" "$t/mpi.cfg" "${keys[@]}"
    adds_up "$t/one" >"$t/err" 2>&1 || [[ $p = *100000* ]]
    check "... they add up"
done
refuses() { # WORDS NAME ARGUMENTS
    refused "$1" -o "$t/r" "$t/all.cfg" "${@:3}"
    check "refused: $2"
}
refuses "output.waits.*no calls of MPI" "waits by calls" output.waits=true
refuses "output.calls.*no functions of MPI" "tables of calls" output.calls=true
refuses "output.series.functions.*no functions" "series of functions" output.series.functions=periods
refuses "output.critical_path.*beside each other" "the path of programs beside schedules" "$mixed"
refuses "output.critical_path.*at least 16" "too little room" "output.critical_path=1 kB"
[ "$number" -gt 0 ]
