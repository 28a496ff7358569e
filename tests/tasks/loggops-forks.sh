#!/bin/bash
# Forks with network.model = "loggops": a run is resumed from a checkpoint with further jobs, another end, other rows and matrices; equal to a run that
# had them from the beginning, where it can be, on any number of ranks; all other keys are refused by name.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/c.cfg" <<'CFG'
network: { model = "loggops"; };
loggops: { S = "1 kB"; };
jobs: ( { program = "stencil"; extents = [3, 2]; steps = 6; bytes = "3 kB"; compute_time = "10 us"; name = "mpi"; },
        { program = "schedule"; pattern = "stencil"; sides = [3, 3]; timesteps = 5; datasize = 2000; timestep = "3 us"; name = "goal"; } );
output: { series: { jobs = "periods"; tasks = "periods"; }; period = "50 us"; };
CFG
further=('jobs[2].program="schedule"' 'jobs[2].pattern="nwaydissemination"' jobs[2].commsize=7 jobs[2].nway=2 "jobs[2].datasize=3 kB" jobs[2].nb=30000 jobs[2].nb_poll=1000 jobs[2].cpu=2
    'jobs[3].program="pingpong"' "jobs[3].bytes=2 kB" jobs[3].steps=7 'jobs[4].program="leanmd"' 'jobs[4].cells=[3,3,3]' jobs[4].tasks=5 jobs[4].atoms=300 jobs[4].steps=2)
run -o "$t/plain" "$t/c.cfg"
end=$(jq .result.simulated_time_ps "$t/plain/summary.json")
at=$((end / 2))
ranks 2 -o "$t/a" "$t/c.cfg" "run.checkpoint.at=$at ps"
run --resume "$t/a" -o "$t/b" "run.end=1 s" && alike "$t/plain" "$t/b" >>"$t/err"
check "a fork that changes nothing is the run itself"
run -o "$t/b" "$t/c.cfg" "${further[@]}" "jobs[2].start=$at ps" "jobs[3].start=$at ps" "jobs[4].start=$at ps"
check "a run with all jobs from the beginning"
for n in 1 2 3 5; do
    rm -rf "${t:?}/f" && cp -r "$t/a" "$t/f"
    ranks $n -o "$t/f" --resume "$t/a/checkpoints" "${further[@]}" && alike "$t/b" "$t/f" >>"$t/err"
    check "further jobs start at the fork, on $n ranks"
done
later=$((at + 77777))
run -o "$t/b" "$t/c.cfg" "${further[@]}" "jobs[2].start=$later ps" "jobs[3].start=$later ps" "jobs[4].start=$later ps"
rm -rf "$t/f" && cp -r "$t/a" "$t/f"
run --resume "$t/a" -o "$t/f" "${further[@]}" "jobs[2].start=$later ps" "jobs[3].start=$later ps" "jobs[4].start=$later ps" "run.checkpoint.at=$((at + 30000000)) ps" &&
    alike "$t/b" "$t/f" >>"$t/err" && rm -rf "$t/g" && cp -r "$t/f" "$t/g" && ranks 3 -o "$t/g" --resume "$t/f/checkpoints" && alike "$t/b" "$t/g" >>"$t/err"
check "or later, and are saved like the others"
rm -rf "$t/f" "$t/g"
run --resume "$t/a" -o "$t/f" "${further[@]}" "run.checkpoint.at=$((at + 30000000)) ps" && cp -r "$t/f" "$t/g" && ranks 2 -o "$t/g" --resume "$t/f/checkpoints" && alike "$t/f" "$t/g" >>"$t/err"
check "their start is kept when the fork is resumed"
run -o "$t/b" "$t/c.cfg" "run.end=$((end * 3 / 4)) ps"
rm -rf "$t/f" && cp -r "$t/a" "$t/f" && run --resume "$t/a" -o "$t/f" "run.end=$((end * 3 / 4)) ps" && alike "$t/b" "$t/f" >>"$t/err"
check "an end moved earlier is that of a run that had it"
rm -rf "$t/f" && cp -r "$t/a" "$t/f" && run --resume "$t/a" -o "$t/f" "output.period=20 us" &&
    [ "$(awk -F, -v at=$at 'NR > 1 && $1 <= at' "$t/a/periods.csv")" = "$(awk -F, -v at=$at 'NR > 1 && $1 <= at' "$t/f/periods.csv")" ] &&
    [ "$(wc -l <"$t/f/periods.csv")" -gt "$(wc -l <"$t/a/periods.csv")" ] && cmp "$t/plain/tasks.csv" "$t/f/tasks.csv"
check "rows of another length from the fork on"
# The matrix counts what leaves behind the fork; where there was one, it can be left out.
run -o "$t/m" "$t/c.cfg" output.matrix=true 'output.matrix_levels=["task"]' "run.checkpoint.at=$at ps"
rm -rf "$t/f" && run --resume "$t/a" -o "$t/f" output.matrix=true 'output.matrix_levels=["task"]' && cmp "$t/plain/tasks.csv" "$t/f/tasks.csv" &&
    awk -F, 'FNR == 1 { part++; next } { sum[part] += $5 } END { exit !(sum[2] > 0 && sum[2] < sum[1]) }' "$t/m/task_matrix.csv" "$t/f/task_matrix.csv"
check "a matrix from the fork on"
rm -rf "$t/f" && run --resume "$t/m" -o "$t/f" output.matrix=false && [ ! -e "$t/f/task_matrix.csv" ] && cmp "$t/plain/tasks.csv" "$t/f/tasks.csv"
check "and none from there on"
refuses() { # WORDS NAME ARGUMENTS...
    refused "$1" -o "$t/r" "${@:3}"
    check "refused: $2"
}
refuses "loggops.L: is fixed" "another L" --resume "$t/a" "loggops.L=1 us"
refuses "jobs\[2\].start: comes before" "a job that starts before the fork" --resume "$t/a" "${further[@]}" "jobs[2].start=1 us"
refuses "run.end.*before the time of the checkpoint" "an end before the fork" --resume "$t/a" "run.end=1 us"
sed -i '/program = "stencil"; extents/d; s/^        { program = "schedule"/jobs: ( { program = "schedule"/' "$t/c.cfg"
run -o "$t/s" "$t/c.cfg" "run.checkpoint.at=40 us"
refuses "further schedules, not with programs of MPI" "a program beside schedules alone" --resume "$t/s" jobs[1].program=pingpong
rm -rf "$t/f" && cp -r "$t/s" "$t/f" && run -o "$t/b" "$t/c.cfg" jobs[1].program=schedule jobs[1].pattern=gather "jobs[1].start=40 us" && run --resume "$t/s" -o "$t/f" jobs[1].program=schedule jobs[1].pattern=gather &&
    alike "$t/b" "$t/f" >>"$t/err"
check "a schedule beside schedules alone"
[ "$number" -gt 0 ]
