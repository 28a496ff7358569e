#!/bin/sh
# Runs one libFuzzer program over its corpus: tests/run-fuzz.sh PROGRAM SECONDS
#
# Seeds are tests/fuzz/corpus/NAME for fuzz_NAME; what it finds meanwhile stays in build/fuzz. A crash leaves the
# input there and ends with its status.
set -u
program=$1 seconds=$2
folder=$(dirname "$program")
name=$(basename "$program")
name=${name#fuzz_}
seeds=tests/fuzz/corpus/$name
found=$folder/corpus/$name
mkdir -p "$found"
[ -d "$seeds" ] || seeds=""
echo "fuzzing $name for $seconds s"
# Leaks of MPI and of libconfig (after a syntax error) are not ours to report here; the sanitize target looks for ours.
# shellcheck disable=SC2086 # no folder of seeds, no argument
ASAN_OPTIONS=detect_leaks=0 "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -close_fd_mask=1 -print_final_stats=1 \
    -artifact_prefix="$folder/$name-" "$found" $seeds >"$folder/$name.log" 2>&1
status=$?
grep -E '^(stat::number_of_executed_units|SUMMARY)' "$folder/$name.log"
if [ $status -ne 0 ]; then
    tail -n 60 "$folder/$name.log"
    echo "fuzzing $name failed; the input is $folder/$name-*" >&2
fi
exit $status
