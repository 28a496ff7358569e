#!/bin/bash
# The tutorial docs/first-hour.md: tests/tools/first-hour.sh
#
# Every command of it is run in its order, in an empty folder with the programs; what it says of their figures is what they print.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
built=$(dirname "$(readlink -f "$marssim")")
for program in marsreport marssweep; do
    [ -x "$built/$program" ] || { echo "SKIP: $program is not built"; exit 0; }
done
cd "$work" || exit 2
ln -s "$built"/mars{sim,report,sweep} .
# Indented lines: files up to END, and commands, each into a script of its own.
awk '/^    cat >.*END/ { file = 1; name = sprintf("step-%02d", ++n) }
     /^    \.\// { name = sprintf("step-%02d", ++n) }
     name != "" { sub(/^    /, ""); print >name }
     !file || $0 == "END" { if (name != "") close(name); name = ""; file = 0 }' "$top/docs/first-hour.md"
check "there are commands: $(ls step-* | wc -l)"
for step in step-*; do
    bash "$step" >"$step.out" 2>err
    check "$(head -n 1 "$step" | cut -c1-100)"
done
# A block of the page that is no command is what a command prints.
says() { # FILE WORDS: the page and a command's output have them
    grep -qF -- "$2" "$top/docs/first-hour.md" && grep -qF -- "$2" $1 >err
    check "it prints: $2"
}
says 'step-*.out' "bottleneck  computation: job halo waits 45 % of its tasks' time, and the busiest"
says 'step-*.out' "0.25            random             3     2.38 ± 0.20             4.865 ± 0.043"
says 'step-*.out' "1               contiguous         3     0.7877 ± 0              1.377 ± 0"
grep -q 'finished .* 1\.060 ' step-*.out && grep -q 'finished .* 1\.183 ' step-*.out
check "and the slowdowns of 1.06 and 1.18"
[ "$(jq '.result.jobs[0].finish_ps / 1e6 | round' results/quarter/summary.json)" = 1145 ]
check "1.145 ms on the thin tree"
[ -s results/quarter/report.html ]
check "the page is there"
