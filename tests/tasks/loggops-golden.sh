#!/bin/bash
# Finish times of LogGOPSim itself (../shared/reference/loggopsim/golden.csv), to the last unit: make check-loggops. Where they differ that
# has one of three reasons, which the schedule shows: several cpus, whose dependencies carry no time there, and whose receives free senders
# on their own cpu; messages of 0 bytes, whose length less one wraps around there; sizes of a message that differ at its two ends (h20 to
# h22). What has such a reason must be equal as soon as that fault alone is asked for (loggops.faults); with all faults all must be.
# A third of them, unless LONG=1.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
reference=$top/../shared/reference/loggopsim
[ -r "$reference/golden.csv" ] || { echo "ok 1 # SKIP no ../shared/reference/loggopsim"; exit 0; }
t=$work
cat >"$t/l.cfg" <<'CFG'
network: { model = "loggops"; };
mpi: { rendezvous = "instant"; };
jobs: ( { program = "trace"; format = "goal"; time_unit = "1 ps"; } );
CFG
reason() { # FILE: why it may differ
    case $1 in *h2[012]_*) echo "sizes differ"; return ;; esac
    grep -q ' 0b' "$reference/$1" && { echo "0 bytes"; return; }
    grep -q 'cpu [1-9]' "$reference/$1" && echo "several cpus"
}
declare -A fault=(["sizes differ"]='["sizes"]' ["0 bytes"]='["zero_bytes"]' ["several cpus"]='["dependencies", "sizes"]')
# Schedules that schedgen has made are simulated once more without the file, by the pattern (tests/tasks/goal/schedgen.txt): all the same.
declare -A pattern
while read -r name parameters; do pattern[goal/$name.goal]=$parameters; done <tests/tasks/goal/schedgen.txt
cat >"$t/p.cfg" <<'CFG'
network: { model = "loggops"; };
mpi: { rendezvous = "instant"; };
jobs: ( { program = "schedule"; time_unit = "1 ps"; } );
CFG
by_pattern() { # FILE: o/tasks.csv must be what the pattern gives, too
    local keys=() key
    for key in ${pattern[$1]}; do keys+=("jobs[0].$key"); done
    mv "$t/o/tasks.csv" "$t/file.csv"
    "$marssim" -q -o "$t/o" "$t/p.cfg" "${keys[@]}" "${parameters[@]}" >"$t/err" 2>&1
    patterns=$((patterns + 1))
    cmp -s "$t/file.csv" "$t/o/tasks.csv" || unlike+=" $1/$params"
}
simulate() { # FILE PARAMS [KEY...]: prints how the finish times differ from those of the tool
    local status file=$1 params=$2
    rm -f "$t/o/tasks.csv"
    "$marssim" -q -o "$t/o" "$t/l.cfg" "jobs[0].trace=$reference/$file" "${parameters[@]}" "${@:3}" >"$t/err" 2>&1
    status=$?
    awk -F, -v file="$file" -v p="$params" -v status=$status '
        FNR == 1 { part++; next }
        part == 1 && $1 == file && $2 == p { want[$3] = $4; next }
        part == 2 { got[$2] = $3; sum += $3; if (!rows++ || $3 < least) least = $3; if ($3 > most) most = $3 }
        END {
            if ("*" in want) { if (status != 1) print "stuck there"; exit }
            if (status != 0) { print "exit status " status; exit }
            got["max"] = most; got["min"] = least; got["sum"] = sum
            for (rank in want) if (got[rank] + 0 != want[rank] + 0) { print "task " rank ": " got[rank] + 0 ", not " want[rank] + 0; exit }
        }' "$reference/golden.csv" "$t/o/tasks.csv" 2>&1
}
looked=0 cases=0 equal=0 unexplained="" patterns=0 unlike="" faulty="" silent="" cautious=0
while IFS=, read -r params L o g G O S; do
    S=${S%$'\r'}
    [ "$params" = params ] && continue
    for file in $(awk -F, -v p="$params" '$2 == p && !seen[$1]++ { print $1 }' "$reference/golden.csv"); do
        looked=$((looked + 1))
        [ -n "${LONG:-}" ] || [ $((looked % 3)) -eq 0 ] || continue
        parameters=("loggops.L=$L ps" "loggops.o=$o ps" "loggops.g=$g ps" "loggops.G=$G ps" "loggops.O=$O ps" "loggops.S=$S B")
        differs=$(simulate "$file" "$params" 'loggops.faults=["dependencies", "zero_bytes", "sizes"]')
        [ -n "$differs" ] && faulty+=" $file/$params: $differs"
        differs=$(simulate "$file" "$params")
        [ -n "${pattern[$file]:-}" ] && by_pattern "$file"
        cases=$((cases + 1))
        named=$(jq -r '.result.unlike_loggopsim // {} | keys | join(" ")' "$t/o/summary.json" 2>/dev/null)
        if [ -z "$differs" ]; then
            equal=$((equal + 1))
            [ -z "$named" ] || cautious=$((cautious + 1))
        else
            [ -n "$named" ] || silent+=" $file/$params"
            why=$(reason "$file")
            echo "# $file, $params: $differs: ${why:-UNEXPLAINED}"
            [ -n "$why" ] && [ -z "$(simulate "$file" "$params" "loggops.faults=${fault[$why]}")" ] || unexplained+=" $file/$params"
        fi
    done
done <"$reference/params.csv"
echo "# $equal of $cases are equal"
verdict "$unexplained" "all others are equal to the last unit, and these with the one fault that is their reason"
verdict "$faulty" "with all faults all are equal"
verdict "$silent" "each that differs says so; $cautious more do that are equal"
echo "# $patterns of them by their pattern, too"
verdict "${unlike:-$([ "$patterns" -ge $((cases / 4)) ] || echo "$patterns patterns")}" "patterns without a file are their files"
verdict "$([ "$cases" -gt 100 ] && [ "$equal" -gt $((cases * 3 / 4)) ] || echo "$equal of $cases")" "and those are most"
