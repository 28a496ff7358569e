# lib-runs.sh - for scripts that compare runs on several ranks: sourced from the top folder. The program is $m, the scratch folder $t; what a run says
# goes to $t/err.

. tests/lib-script.sh
m=$marssim t=$work
run() { "$m" -q "$@" partition.bind=no 2>"$t/err"; }
ranks() { # RANKS ARGUMENTS
    timeout 120 mpirun -n "$1" "$m" -q "${@:2}" partition.adapt=false partition.oversubscribe=true partition.bind=no 2>"$t/err"
}
# FOLDER FOLDER: the same result and the same tables: tasks, links, and those that $tables names.
equal() {
    local f
    for f in tasks links ${tables:-}; do cmp "$1/$f.csv" "$2/$f.csv" || return 1; done
    cmp <(jq -S .result "$1/summary.json") <(jq -S .result "$2/summary.json")
}
# FOLDER FOLDER: the same result, and all tables, series and timelines.
alike() {
    local of='.result | del(.timelines)'
    cmp <(jq -S "$of" "$1/summary.json") <(jq -S "$of" "$2/summary.json") &&
        diff -rq "$1" "$2" | grep -v 'system.cfg\|summary\.\|started.json\|checkpoints' | { ! grep .; }
}
# FILE TASKS "FROM TO BYTES [DELAY]"...: a GOAL schedule of messages, sent at once, or behind a calculation of so many nanoseconds
messages_goal() {
    local file=$1 tasks=$2 at n from to bytes delay
    shift 2
    { echo "num_ranks $tasks"
      for ((at = 0; at < tasks; at++)); do
          echo "rank $at {"
          n=0
          while read -r from to bytes delay; do
              [ "$from" = "$at" ] && echo "s$n: send ${bytes}b to $to tag $n"
              [ "$from" = "$at" ] && [ -n "$delay" ] && echo "c$n: calc $delay" && echo "s$n requires c$n"
              [ "$to" = "$at" ] && echo "r$n: recv ${bytes}b from $from tag $n"
              n=$((n + 1))
          done < <(printf '%s\n' "$@")
          echo "}"
      done; } >"$file"
}
# NAME EXPECTED UNIT CONFIGURATION WORD...: when each task ends, in this many ps
finish_times() {
    local name=$1 wanted=$2 unit=$3 found
    shift 3
    run -o "$t/hand" "$@" &&
        found=$(awk -F, -v unit="$unit" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            NR > 1 { printf "%s%s", n++ ? " " : "", unit == 1 ? $at["finish_ps"] : $at["finish_ps"] / unit }' "$t/hand/tasks.csv") &&
        { [ "$found" = "$wanted" ] || { echo "$found" >>"$t/err"; false; }; }
    check "$name"
}
# The same bits: a case is run on 1, 2, 3 and 5 ranks, in every order of cells, and saved and resumed again and again, on one rank and on more; all
# results and tables are compared with what one rank writes into $t/one at once. The others of all cases of a script run when it ends, by one start
# of each number of ranks (tests/run/test_equal_bits.c).
# NAME CONFIGURATION KEYS...
all_alike() {
    local name=$1 config=$2
    rm -rf "$t/one"
    run -o "$t/one" "${@:2}" || { verdict "exit status $?" "$name" && return; }
    mkdir -p "$work/same/$(printf %03d $cases)" # what all others must equal; the script may write what was read anew, but then nothing is equal
    cp -r "$t/one" "$work/same/$(printf %03d $cases)/0" && echo 0 >"$work/same/$(printf %03d $cases).status"
    cases=$((cases + 1))
    if [[ $config == "$t"/* ]]; then # the script may write it anew
        cp "$config" "${config%.cfg}-case$cases.cfg"
        config=${config%.cfg}-case$cases.cfg
    fi
    printf '%s\t' "$name" "$config" "${@:3}" >>"$work/same/cases"
    echo >>"$work/same/cases"
}
# NAME KEYS...: of $t/c.cfg
same_bits() { all_alike "$1" "$t/c.cfg" "${@:2}"; }
cases=0
# By itself at the end; before, where the script changes files that a configuration names.
same_bits_run() {
    local driver
    [ $cases -gt 0 ] || return
    for driver in "${BUILD:-$(dirname "$marssim")}" "$top/build/release"; do
        [ -x "$driver/tests/test_equal_bits" ] && break
    done
    "$driver/tests/test_equal_bits" --cases "$work/same" 2>&1 || echo "not ok the same bits of $cases cases"
    cases=0
    rm -rf "$work/same"
}
trap 'same_bits_run; chmod -R u+w "$work"; rm -rf "$work"' EXIT
