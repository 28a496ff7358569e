# lib-replay.sh - what scripts that replay programs traced by marstrace have in common: sourced from the top folder, with the number of
# nodes in $nodes. Then the scratch folder is the current one, and replay.cfg in it replays the trace of folder t.

. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace
[ -x "$marstrace" ] || { echo "SKIP: the tracer is not built"; exit 0; }
cd "$work" || exit 2
cat >replay.cfg <<END
topology: { kind = "star"; nodes = $nodes; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; trace = "t"; } );
partition: { bind = "no"; adapt = false; oversubscribe = true; };
END

column() { # NAME: of one/tasks.csv, on one line
    awk -F, -v name="$1" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) at = i; next} {printf "%s ", $at}' one/tasks.csv
}

same() { # FOLDER
    [ "$(jq -S .result one/summary.json)" = "$(jq -S .result "$1/summary.json")" ] && cmp one/tasks.csv "$1/tasks.csv" &&
        cmp one/calls.csv "$1/calls.csv" && { [ ! -e "$1/periods.csv" ] || same_series "$1"; }
}

same_series() { # FOLDER
    local table
    for table in job task traffic function communicator; do cmp "one/${table}_series.csv" "$1/${table}_series.csv" || return 1; done
}

# NAME ARGUMENTS...: t is replayed with these, into one/, and with the same results on several ranks, with its cells in other orders, and
# after checkpoints at each eighth.
everywhere() {
    local name=$1 variant ranks order end at saved
    shift
    rm -rf one plain ranks saved resumed
    timeout 60 "$marssim" -q -o one replay.cfg "$@" >err 2>&1 &&
        jq -e '.result.end_reason == "jobs done" and .result.jobs[0].unreceived == 0' one/summary.json >err 2>&1
    check "$name: it is replayed to the end"
    end=$(jq '.result.simulated_time_ps' one/summary.json)
    set -- "$@" "output.period=$((end / 37 + 1)) ps" output.series.{jobs,tasks,traffic,functions,communicators}=periods
    mv one plain && timeout 60 "$marssim" -q -o one replay.cfg "$@" >err 2>&1 && same plain
    check "$name: series change nothing"
    for variant in "1 shuffled" "2 forward" "3 backward" "5 shuffled"; do
        read -r ranks order <<<"$variant"
        timeout 120 mpirun -n "$ranks" "$marssim" -q -o ranks replay.cfg "engine.cell_order=$order" "$@" >err 2>&1 && same ranks >err 2>&1
        check "$name: the same on $ranks ranks, cells $order"
    done
    at=$(for part in 1 2 3 4 5 6 7; do printf '"%d ps",' $((end * part / 8)); done)
    timeout 60 "$marssim" -q -o saved replay.cfg "run.checkpoint.at=[${at%,}]" "$@" >err 2>&1 && same saved >err 2>&1
    check "$name: the same with checkpoints"
    for saved in saved/checkpoints/*; do
        timeout 120 mpirun -n 2 "$marssim" -q -o resumed --resume "$saved" >err 2>&1 && same resumed >err 2>&1 || break
    done
    check "$name: the same after each of them"
}

counts() { # FOLDER: messages and bytes of each task, and its calls
    awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i ~ /^(messages|bytes)_/) wanted[i] = 1; next}
        {for (i = 1; i <= NF; i++) if (wanted[i]) printf "%s ", $i; print ""}' "$1/tasks.csv"
    awk -F, 'NR > 1 && $2 !~ /Init|Comm_|Finalize/ {print $1, $2, $3}' "$1/calls.csv" | sort
}

same_counts() { # FOLDER OTHER: of what two tracers have recorded
    counts "$1" >one.counts
    counts "$2" >other.counts
    [ -s one.counts ] && diff one.counts other.counts >err 2>&1
}

# NAME TRACE: a trace of another tool becomes one of marstrace: the same results of its replay on 1 and 3 ranks, in which
# --check finds nothing, whole or in part.
converted() {
    local name=$1 trace=$2 ranks marsconv
    marsconv=$(dirname "$marssim")/marsconv
    rm -rf converted.mars part.mars one
    "$marsconv" --to mars "$trace" converted.mars >err 2>&1 && "$marssim" -q -o one replay.cfg "jobs[0].trace=\"$trace\"" >err 2>&1
    for ranks in 1 3; do
        mpirun -n $ranks "$marssim" -q -o mars replay.cfg 'jobs[0].trace="converted.mars"' >err 2>&1 && cmp one/tasks.csv mars/tasks.csv >err 2>&1
        check "$name: the trace of marstrace that it becomes has the same results on $ranks ranks"
    done
    "$marsconv" --check "$trace" >out 2>err && grep -q 'nothing found' out && "$marsconv" --check converted.mars >out 2>err
    check "$name: it passes marsconv --check, before and after"
    diff <("$marsconv" --stats "$trace" 2>err | sed 1d) <("$marsconv" --stats converted.mars | sed 1d) >err
    check "$name: and has the same statistics"
    "$marsconv" --to mars --cut tasks=0-1 "$trace" part.mars >err 2>&1 && "$marsconv" --check part.mars >err 2>&1
    check "$name: a part of it is whole"
}
