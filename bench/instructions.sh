#!/bin/bash
# Instructions per packet-hop of the workloads of bench/, as bench/counted says: bench/instructions.sh [WORKLOAD ...]
#
# Prints lines "workload,instructions", for bench/table.awk; nothing, and why on standard error, where they cannot be counted.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/lib-instructions.sh
program=build/release-x86-64-v3/marssim
reason=$(why_not)
[ -z "$reason" ] || { echo "SKIP: $reason" >&2; exit 0; }
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
wanted=" $* "

while IFS='|' read -r names arguments short long; do
    chosen=
    for name in $names; do
        [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] && chosen+=" $name"
    done
    [ -n "$chosen" ] || continue
    [ -t 2 ] && printf '\r\033[K%s: instructions' "${chosen# }" >&2
    figure=$(measure ${short// /} ${long// /} $arguments)
    [ "$figure" = 0 ] && { echo "${chosen# }: cannot be counted" >&2; continue; }
    for name in $chosen; do
        echo "$name,$figure"
    done
done < <(grep -v '^#' bench/counted)
[ -t 2 ] && printf '\r\033[K' >&2
exit 0
