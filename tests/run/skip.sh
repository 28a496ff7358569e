#!/bin/bash
# Steps that repeat are not simulated again: the estimate, its interval, the same bits on all ranks and resumed, and what is not skipped, with the reason.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
. tests/lib-skip.sh

config() { # NAME JOBS [MORE]
    cat >"$t/$1.cfg" <<END
topology: { kind="torus"; extents=[3,3,3]; bandwidth="10 GB/s"; latency="100 ns"; };
${3:-}
output: { links=false; };
run: { seed=1; skip: { enabled=true; }; };
jobs: ( $2 );
END
}
job='{ name="s"; program="stencil"; extents=[3,3,3]; steps=400; bytes="4 KiB"; compute_time="5 us"; compute_jitter="1 us"; placement="random"; }'

config stencil "$job"
run -o "$t/full" "$t/stencil.cfg" run.skip.enabled=false && [ ! -e "$t/full/steps.csv" ] && result "$t/full" '.result | has("skip") | not'
check "without it nothing is added"
run -o "$t/skip" "$t/stencil.cfg" && result "$t/skip" '.result.skip | .skipped and .share_simulated < 0.15 and .low_ps < .time_ps and .time_ps < .high_ps'
check "a stencil alone is estimated"
full=$(jq .result.jobs[0].finish_ps "$t/full/summary.json")
result "$t/skip" ".result.jobs[0] | .estimated.low_ps <= $full and .estimated.high_ps >= $full and .finish_ps / $full < 1.01 and .finish_ps / $full > 0.99"
check "the interval covers the full run's time"
cmp <(jq '.result.jobs[0] | .messages, .bytes' "$t/full/summary.json") <(jq '.result.jobs[0] | .messages, .bytes' "$t/skip/summary.json")
check "messages and bytes are those of all steps"
run -o "$t/sums" "$t/stencil.cfg" output.links=true && run -o "$t/full-sums" "$t/stencil.cfg" output.links=true run.skip.enabled=false
sums() { # FOLDER FILE COLUMN...: of all rows
    awk -F, -v columns="${*:3}" 'NR == 1 { n = split(columns, want, " "); for (i = 1; i <= NF; i++) at[$i] = i; next } { for (i = 1; i <= n; i++) sum[i] += $at[want[i]] }
        END { for (i = 1; i <= n; i++) printf "%.0f ", sum[i] }' "$1/$2"
}
for file in 'links.csv packets bytes busy_ps' 'tasks.csv messages_sent bytes_sent messages_received passes'; do
    [ "$(sums "$t/sums" $file)" = "$(sums "$t/full-sums" $file)" ]
    check "sums are those of all steps: $file"
done
cmp <(jq -S '.result | with_entries(select(.key | test("packets_|bytes_|messages_"))) + {n: .packet_latency_ps.count}' "$t/sums/summary.json") \
    <(jq -S '.result | with_entries(select(.key | test("packets_|bytes_|messages_"))) + {n: .packet_latency_ps.count}' "$t/full-sums/summary.json")
check "so are those of summary.json"
jq -e --argjson busy "$(sums "$t/sums" links.csv busy_ps)" '.result | (([.link_classes[] | .mean_utilisation * .directions] | add) / ($busy / .skip.time_ps) - 1 | fabs) < 1e-6' \
    "$t/sums/summary.json" >/dev/null
check "utilisations are the sums over the estimated time"
marked() { # FOLDER COLUMN FILE...: is it the last column of these files?
    local file
    for file in "${@:3}"; do head -1 "$1/$file.csv" | grep -q ",$2\$" || return; done
}
marked "$t/sums" estimated links tasks matching packet_latency message_size && ! grep -l estimated "$t"/full-sums/*.csv "$t/sums/steps.csv" >"$t/out" &&
    [ "$(cut -d, -f1-5 --complement "$t/sums/links.csv" | awk -F, 'NR > 1 && $NF != 1' | wc -l)" = 0 ]
check "tables say that their sums are estimated"
run -o "$t/json" "$t/stencil.cfg" output.tables=json && jq -e '(.columns[-1].name == "estimated") and all(.rows[]; .[-1] == 1) and (.columns | length) == (.rows[0] | length)' "$t/json/tasks.json" >/dev/null
check "so do those in JSON"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { if (NR > 2 && $at["step"] > last + 1) gaps++; last = $at["step"] } END { exit !(gaps == 2 && last == 398) }' "$t/skip/steps.csv"
check "steps.csv: three windows, the last at the end of the run"
grep -q '^estimated  .*95 % interval .* of steps simulated' "$t/skip/summary.txt" && grep -q '^    estimated, 95 % interval' "$t/skip/summary.txt"
check "summary.txt says that it is estimated"
"$m" --check "$t/stencil.cfg" 2>"$t/err" | grep -q '^skip .*of 400 steps of job `s` at least'
check "--check says what is simulated at least"
run -o "$t/narrow" "$t/stencil.cfg" run.skip.precision=0.001 && result "$t/narrow" '.result.skip | .skipped == false and (.reason | contains("would have to be simulated"))' &&
    [ "$(jq .result.jobs[0].finish_ps "$t/narrow/summary.json")" = "$full" ]
check "what varies too much for the precision is simulated in full, to the picosecond"
run -o "$t/five" "$t/stencil.cfg" run.skip.windows=5 && result "$t/five" '.result.jobs[0].estimated.windows == 5'
check "five windows"

# Rows of periods say what was skipped in them, on the simulated clock; the last part of a period has rows of series only.
periods="output.period=40us output.series.links=periods output.series.jobs=periods"
run -o "$t/periods" "$t/stencil.cfg" output.links=true $periods && marked "$t/periods" skipped_ps periods link_series job_series && marked "$t/periods" estimated links
check "series have a column of what was skipped in a period"
jq -r '.result | (.jobs[0] | .estimated.gaps[].simulated_ps, .finish_ps - .estimated.simulated_finish_ps)' "$t/periods/summary.json" >"$t/gaps" &&
    awk -F, 'FNR == NR { gap[++n] = $1; next } FNR > 1 { for (i = 1; i < n; i++) right += gap[i] > last && gap[i] <= $1 && $NF > 0; marks += $NF > 0; sum += $NF; last = $1 }
    END { exit !(n == 3 && right == 2 && marks == 2 && sum > 0.95 * gap[n] && sum < 1.05 * gap[n]) }' "$t/gaps" "$t/periods/job_series.csv"
check "in the periods of the gaps, and as much as was skipped"
[ "$(cut -d, -f1,2 "$t/periods/job_series.csv" | wc -l)" -gt "$(wc -l <"$t/periods/periods.csv")" ] &&
    cmp <(awk -F, 'NR > 1 { print $1, $NF }' "$t/periods/periods.csv") <(awk -F, 'NR > 1 { print $1, $NF }' "$t/periods/job_series.csv" | head -n -1)
check "the same in periods.csv"
"$(dirname "$m")/marsreport" "$t/periods" >"$t/out" 2>"$t/err" && grep -o '"skipped_ps":\[[0-9,]*\]' "$t/periods/report.html" | tr -d '"a-z_:[]' | tr , '\n' |
    cmp - <(awk -F, 'NR > 1 { print $NF }' "$t/periods/periods.csv")
check "the page has them"
browser=$(command -v chromium || command -v chromium-browser)
if [ -n "$browser" ]; then
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$t/browser" --dump-dom "file://$t/periods/report.html#all" >"$t/dom" 2>"$t/err" &&
        grep -q '<body data-ready="yes"' "$t/dom" && [ "$(grep -o 'Sums are estimated: of all steps' "$t/dom" | wc -l)" -ge 5 ] && grep -q 'Hatched bands: steps were skipped' "$t/dom"
    check "and says that sums are estimated"
fi
same() { all_alike "the same bits: $1" "$t/$1.cfg" "${@:2}"; }
same stencil
config fft '{ name="f"; program="fft"; points=[24,24,24]; grid=[9,3]; steps=100; compute_time="20 us"; compute_jitter="1 us"; allreduce_every=2; }'
same fft $periods
config traffic "$job" 'traffic: { pattern="uniform"; load=0.05; size="1 KiB"; };'
same traffic

a='{ name="a"; program="stencil"; extents=[3,3]; steps=500; bytes="4 KiB"; compute_time="5 us"; compute_jitter="1 us"; placement="random"; }'
b='{ name="b"; program="sparse"; tasks=9; degree=3; bytes="8 KiB"; steps=250; compute_time="9 us"; compute_jitter="1 us"; placement="random"; }'
config jobs "$a, $b"
covers() { # NAME TEXT SHARE: are all jobs' times in their intervals, with less than this share simulated?
    run -o "$t/some" "$t/$1.cfg" && run -o "$t/all" "$t/$1.cfg" run.skip.enabled=false && jq -ne --argjson share "$3" --slurpfile f "$t/all/summary.json" \
        --slurpfile s "$t/some/summary.json" '[$f[0].result.jobs, $s[0].result.jobs] | transpose | all(.[];
        .[1].estimated.low_ps <= .[0].finish_ps and .[0].finish_ps <= .[1].estimated.high_ps) and $s[0].result.skip.share_simulated < $share' >/dev/null
    check "$2"
}
covers jobs "two jobs are skipped together, and the one that is left alone" 0.4
same jobs $periods
c='{ name="c"; program="stencil"; extents=[9]; bytes="16 KiB"; steps=400; compute_time="9 us"; compute_jitter="1 us"; placement="random"; after=["a"]; }'
config starts "${a/500/900}, ${b/ placement/ start=\"4 ms\"; placement}, $c"
covers starts "a job that begins later, one behind another: all begins anew" 0.5
same starts
run -o "$t/some" "$t/starts.cfg" run.skip.precision=0.000001 && cmp "$t/some/tasks.csv" "$t/all/tasks.csv"
check "a job that begins later does so at its time, to the picosecond"
config faults "${job/400/900}" 'faults: { list=( { switch=5; port=1; at="1 ms"; }, { switch=11; port=2; at="1.5 ms"; } ); };'
covers faults "behind the last fault steps are skipped" 0.4
jq -e '.result.jobs[0].estimated.gaps[0].simulated_ps > 1.5e9' "$t/some/summary.json" >/dev/null
check "and none before it"
same faults
config calls '{ name="p"; program="pingpong"; tasks=8; steps=800; bytes="16 KiB"; placement="random"; },
    { name="c"; program="collective"; tasks=12; iterations=400; warmup=10; bytes="16 KiB"; pause="5 us"; placement="random"; after=["p"]; }'
covers calls "pingpong and a collective in a loop" 0.3
same calls
config repeated "${job/400/7} , { name=\"c\"; program=\"pingpong\"; tasks=4; steps=3; bytes=\"16 KiB\"; repetitions=300; after=[\"s\"]; }"
sed -i '/name=/s/3,3,3/3,3,2/; s/steps=7/steps=7; repetitions=200/' "$t/repeated.cfg"
covers repeated "a program that is repeated: each time is a step" 0.3
jq -e '[.result.jobs[] | .passes] == [200, 300]' "$t/some/summary.json" >/dev/null
check "passes are those of all repetitions"
"$m" --check "$t/repeated.cfg" 2>"$t/err" | tr -s '\n ' ' ' | grep -q '200 steps of job `s`, known by repetitions of its program at least'
check "--check says that repetitions are the steps"
same repeated
config alike "$a, ${a/name=\"a\"/name=\"c\"}"
reason "two jobs whose steps drift against each other slowly" 'are not steady together' alike
config two "${job/extents=\[3,3,3\]/extents=[3,3,2]}, { name=\"b\"; program=\"collective\"; tasks=2; iterations=100; bytes=[\"1 KiB\",\"2 KiB\"]; }" 'node: { cores=2; };'
reason "a job of several parts" 'job `b` has several sizes' two
reason "a job that is repeated a few times" 'job `s` has only 20 steps' stencil 'jobs[0].repetitions=20' 'jobs[0].steps=20'
reason "few steps" 'has only 20 steps' stencil 'jobs[0].steps=20'
# Of the 20 Allreduces of 200 us each some are seen; without kinds a period would be 100 steps.
seldom=('jobs[0].allreduce_every=100' 'jobs[0].allreduce_bytes=1 MB' 'jobs[0].steps=2000')
run -o "$t/seldom-full" "$t/stencil.cfg" run.skip.enabled=false "${seldom[@]}" && run -o "$t/seldom" "$t/stencil.cfg" "${seldom[@]}" && trace_covers "$t/seldom-full" "$t/seldom" 0.15 &&
    [ "$(awk -F, 'NR > 1 && $2 % 100 == 99' "$t/seldom/steps.csv" | wc -l)" -ge 2 ]
check "an Allreduce in every 100th step: windows have it, and it counts for itself"
all_alike "the same bits: an Allreduce in every 100th step" "$t/stencil.cfg" "${seldom[@]}" 'jobs[0].steps=700'
reason "a set end" 'run.end is given' stencil 'run.end=1 s'

# Services and storage: sums of summary.json and of tables are of all steps.
config served "${job/ placement/ checkpoint_every=4; checkpoint_bytes=\"64 KiB\"; placement}" \
    'services: ( { kind="heartbeat"; } ); storage: { servers: { count=2; }; device: { rate="1 GB/s"; }; }; node: { cores=2; };'
run -o "$t/some" "$t/served.cfg" && run -o "$t/all" "$t/served.cfg" run.skip.enabled=false && marked "$t/some" estimated storage service_heartbeat
check "a job that writes files, beside a service"
jq -ne --slurpfile f "$t/all/summary.json" --slurpfile s "$t/some/summary.json" 'def near(a; b): (a / b - 1 | fabs) < 0.02; $f[0].result as $f | $s[0].result as $s |
    $s.skip.skipped and $s.skip.share_simulated < 0.5 and all(("written_bytes", "requests"); . as $key | near($s.storage[$key]; $f.storage[$key])) and near($s.services[0].sent; $f.services[0].sent) and
    ($s.storage.max_utilisation / $f.storage.max_utilisation - 1 | fabs) < 0.1' >/dev/null
check "their sums in summary.json are those of all steps"
jq -e --argjson sent "$(sums "$t/some" service_heartbeat.csv sent)" --argjson written "$(sums "$t/some" storage.csv written_bytes)" \
    '.result | ((.services[0].sent - $sent | fabs) <= 14) and (.storage.written_bytes - $written | fabs) <= 1' "$t/some/summary.json" >/dev/null
check "and those of their tables, but for rounding"

"$m" --check "$t/served.cfg" 'jobs[0].checkpoint_every=401' 'jobs[0].allreduce_every=500' >"$t/out" 2>"$t/err" && grep -q 'command line: jobs\[0\].checkpoint_every: never comes: the job has 400 steps' "$t/err" &&
    grep -q 'jobs\[0\].allreduce_every: never comes' "$t/err" && grep -q 'of 400 steps of job `s` at least' "$t/out"
check "what a job has too few steps for is named, and hinders nothing"
sed -i 's/checkpoint_every=4/checkpoint_every=4000/' "$t/served.cfg" && "$m" --check "$t/served.cfg" >"$t/out" 2>"$t/err" && grep -q "served.cfg:[0-9]*: jobs\[0\].checkpoint_every: never comes" "$t/err"
check "with file and line"

# Forks from the middle: what changes with them is a beginning.
config fork "${job/3,3,3/3,3,2}" 'traffic: { pattern="uniform"; load=0.05; size="1 KiB"; };'
sed -i 's/400/600/; s/links=false/links=true/' "$t/fork.cfg"
saved() { # FOLDER TIME KEY...: a run that has saved at this time, in ps
    run -o "$1" "$t/fork.cfg" run.checkpoint.at="$2 ps" "${@:3}" && saved=$(echo "$1"/checkpoints/*)
}
resumed() { run --resume "$saved" -o "$@"; }
run -o "$t/whole" "$t/fork.cfg" && at=$(jq '.result.simulated_time_ps / 2 | floor' "$t/whole/summary.json") && saved "$t/saved" "$at" && short=$saved &&
    resumed "$t/fork" traffic.load=0.05 && equal "$t/whole" "$t/fork"
check "a fork with the values that there were is the run"
later=$(jq --argjson at "$at" '.result.jobs[0].estimated | .step_ps * .gaps[0].steps + $at | floor' "$t/whole/summary.json")
saved "$t/full" "$later" run.skip.enabled=false
long=$saved
forks() { # NAME KEY...: is the full run, forked at that time, in the intervals?
    saved=$long && resumed "$t/all" "${@:2}" && saved=$short && resumed "$t/some" "${@:2}" && jq -ne --slurpfile f "$t/all/summary.json" --slurpfile s \
        "$t/some/summary.json" '[$f[0].result.jobs, $s[0].result.jobs] | transpose | all(.[]; .[1].estimated.low_ps <= .[0].finish_ps and .[0].finish_ps <=
        .[1].estimated.high_ps)' >/dev/null && jq -e '.result.jobs[0].estimated.gaps | length > 1' "$t/some/summary.json" >/dev/null
    check "a fork in a run that skips: $1"
    timeout 120 mpirun -n 3 "$m" --resume "$short" -q -o "$t/ranks" "${@:2}" partition.adapt=false partition.oversubscribe=true partition.bind=no 2>"$t/err" &&
        equal "$t/some" "$t/ranks"
    check "the same bits: $1"
}
forks "more load" traffic.load=0.2
b='jobs[1].name=b jobs[1].program=stencil jobs[1].extents=3,3 jobs[1].steps=300 jobs[1].bytes=2KiB'
forks "a further job" $b 'jobs[1].compute_time=7 us' 'jobs[1].compute_jitter=1 us'
forks "a job that begins later" $b 'jobs[1].compute_time=7 us' 'jobs[1].start=4 ms'
again=$(jq '.result.simulated_time_ps / 2 | floor' "$t/some/summary.json")
resumed "$t/again" $b 'jobs[1].compute_time=7 us' 'jobs[1].start=4 ms' run.checkpoint.at="$again ps" && saved=$(echo "$t"/again/checkpoints/*) &&
    resumed "$t/fork" && equal "$t/some" "$t/fork"
check "a fork is saved and resumed"
# run.end of a fork is on the simulated clock; of a job that has not ended, sums are those until then.
saved "$t/late" "$((3 * at / 2))"
end=$((7 * at / 4))
resumed "$t/some" run.end="$end ps"; grep -q 'run.end: .* is on the simulated clock; with the .* that this run has skipped it is about .* of the whole run' "$t/err" &&
    result "$t/some" ".result | .simulated_time_ps == $end and .jobs[0].finish_ps == null and .skip.time_ps > $end and .skip.low_ps < .skip.time_ps and .skip.time_ps < .skip.high_ps"
check "a set end of a fork is on the simulated clock, and the run says what it is on the other one"
run -o "$t/all" "$t/fork.cfg" run.skip.enabled=false run.end="$(jq .result.skip.time_ps "$t/some/summary.json") ps" && jq -ne --slurpfile f "$t/all/summary.json" \
    --slurpfile s "$t/some/summary.json" '[$f[0], $s[0]] | map(.result | .jobs[0].messages, .packets_delivered) | .[2] / .[0], .[3] / .[1] | . > 0.95 and . < 1.05' >"$t/out" &&
    ! grep -q false "$t/out"
check "sums are those of the steps until then"
saved=$short
resumed "$t/some" $b 'jobs[1].background=true' && result "$t/some" '.result.skip | .skipped and (.reason | contains("runs in the background"))'
check "a background job that comes with a fork ends skipping"

"$m" -q -o "$t/warned" "$t/stencil.cfg" output.period="10 us" output.waits=true output.critical_path="64 KiB" partition.bind=no 2>"$t/err" && [ "$(grep -c 'run.skip: what output.critical_path, output.period collect' "$t/err")" = 1 ]
check "what is lost is said"
jq -e '.result.jobs[0].estimated | .steps - .simulated_steps == ([.gaps[].steps] | add) and (.gaps | length) == 2' "$t/skip/summary.json" >/dev/null
check "where steps are missing is said"
refused() { # NAME TEXT WORD...
    ! run -o "$t/no" "$t/stencil.cfg" "${@:3}" && grep -qF "$2" "$t/err"
    check "refused: $1"
}
refused "a precision of 0" 'run.skip.precision: too small' run.skip.precision=0
refused "no windows" 'run.skip.windows' run.skip.windows=0
refused "a key without skipping" 'run.skip.precision: means nothing' run.skip.enabled=false run.skip.precision=0.1
reason "windows longer than the run" '30 windows would be most of them' stencil run.skip.windows=30 'jobs[0].steps=100'
