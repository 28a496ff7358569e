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
# NAME KEYS...: $t/c.cfg with these keys on 1, 2, 3 and 5 ranks, and saved in the middle and resumed.
same_bits() {
    local n name=$1
    shift
    rm -rf "$t"/[0-9] "$t/saved" "$t/resumed"
    run -o "$t/1" "$t/c.cfg" "$@"
    check "$name"
    for n in 2 3 5; do
        ranks $n -o "$t/$n" "$t/c.cfg" "$@" && equal "$t/1" "$t/$n"
        check "$name: equal on $n ranks"
    done
    ranks 3 -o "$t/saved" "$t/c.cfg" "$@" "run.checkpoint.at=[71 us, 125 us]" && equal "$t/1" "$t/saved" &&
        ranks 2 --resume "$(ls -d "$t"/saved/checkpoints/checkpoint-* | head -n 1)" -o "$t/resumed" && equal "$t/1" "$t/resumed" &&
        run --resume "$t/saved/checkpoints" -o "$t/resumed" && equal "$t/1" "$t/resumed"
    check "$name: saved on three ranks, resumed on two and on one"
}
# FOLDER FOLDER: the same result, and all tables, series and timelines.
alike() {
    local of='.result | del(.timelines)'
    cmp <(jq -S "$of" "$1/summary.json") <(jq -S "$of" "$2/summary.json") &&
        diff -rq "$1" "$2" | grep -v 'system.cfg\|summary\.\|started.json\|checkpoints' | { ! grep .; }
}
# NAME CONFIGURATION KEYS...: alike on 1, 2, 3 and 5 ranks, in $t/one; and from each of some checkpoints on, on one to three ranks in turn.
all_alike() {
    local name=$1 n=0 why= end at folder
    shift
    rm -rf "$t/one" "$t/saved"
    run -o "$t/one" "$@" || why="one rank: exit status $?"
    for n in 2 3 5; do
        rm -rf "$t/many"
        ranks $n -o "$t/many" "$@" || why+=" $n ranks: exit status $?"
        alike "$t/one" "$t/many" >>"$t/err" 2>&1 || why+=" $n ranks: differs"
    done
    end=$(jq .result.simulated_time_ps "$t/one/summary.json")
    at=$(for n in 1 3 4 6; do printf '"%d ps",' $((end * n / 7)); done)
    ranks 2 -o "$t/saved" "$@" "run.checkpoint.at=[${at%,}]" run.checkpoint.keep=9 || why+=" saving: exit status $?"
    alike "$t/one" "$t/saved" >>"$t/err" 2>&1 || why+=" saving changes results"
    n=0
    for folder in "$t"/saved/checkpoints/checkpoint-*; do
        n=$((n % 3 + 1))
        rm -rf "$t/on"
        cp -r "$t/saved" "$t/on"
        ranks $n -o "$t/on" --resume "$folder" || why+=" ${folder##*-}, $n ranks: exit status $?"
        alike "$t/one" "$t/on" >>"$t/err" 2>&1 || why+=" ${folder##*-}, $n ranks: differs"
    done
    [ $n -gt 0 ] || why+=" no checkpoints"
    verdict "$why" "$name: the same on 1, 2, 3, 5 ranks and after --resume"
}
