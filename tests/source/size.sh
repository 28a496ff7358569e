#!/bin/bash
# What one reads at a time stays small: tests/source/size.sh [TOP]
#
# - Files of C and scripts: half of them below 200 lines, nine in ten below 400, none above 900. What is one thought is not cut.
# - A function has fewer than 50 lines, but for tests that are a list of cases.
# - A line of C has at most 110 columns.
# - What nearly every file includes of kernel/ has at most 6,000 lines with all that it includes: a compiler's intrinsics alone are 50,000.
# Whoever stays above a limit is here by name, with the reason. One that is here without need is refused, too.
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2
# FILE FUNCTION: lists of what is given and what is expected, one after the other
lists="tests/traces/test_allprof.c test_calls
tests/traces/test_allprof.c test_counts
tests/routing/test_fabric.c test_bad_dumps
tests/routing/test_routing_input.c test_bad_keys"

files=$(find ./*.c kernel stats routing partition net traces nodes storage tasks run plugin tests tools -name '*.[ch]' -o -name '*.sh' | sed 's|^\./||' | sort)
failed=0
report() { # NAME WRONG
    if [ -z "$2" ]; then echo "ok $1"; else printf '%s\nnot ok %s\n' "$2" "$1"; failed=1; fi
}

report "no file has more than 900 lines" "$(wc -l $files | awk '$2 != "total" && $1 > 900 { print $2 ": " $1 " lines" }')"
report "half of the files are below 200 lines, nine in ten below 400" "$(wc -l $files | awk '$2 != "total" { print $1 }' | sort -n |
    awk '{ lines[NR] = $1 } END { if (lines[int(NR / 2)] >= 200 || lines[int(NR * 0.9)] >= 400) print lines[int(NR / 2)], lines[int(NR * 0.9)] }')"
report "no line of C has more than 110 columns" \
    "$(grep -E '\.[ch]$' <<<"$files" | xargs awk 'length($0) > 110 { print FILENAME ":" FNR ": " length($0) " columns" }')"
# As clang-format lays functions out: the name in a line without indentation, and the last brace alone.
long=$(grep -E '\.[ch]$' <<<"$files" | xargs awk '
    FNR == 1 { start = 0 }
    /^[a-z].*\(/ && !/;/ && !/=/ { start = FNR; body = 0; name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
    /^{/ { body = 1 }
    /^}/ { if (start && body && FNR - start >= 49) print FILENAME " " name " " FNR - start + 1; start = 0 }')
report "no function has 50 lines" "$(grep -vF -e "$lists" <<<"$long" | grep .)"
report "the exceptions are needed" "$(while read -r one; do grep -qF "$one " <<<"$long" || echo "$one"; done <<<"$lists")"
included=$(${CC:-gcc} -std=gnu17 -I. $(pkg-config --cflags gsl 2>/dev/null) -E -x c - <<'END' | wc -l
#include "kernel/config/config.h"
#include "kernel/engine/engine.h"
#include "kernel/state/state.h"
END
)
report "the headers of kernel/ are small" "$([ "$included" -gt 1000 ] && [ "$included" -lt 6000 ] || echo "$included lines with what it includes")"
exit $failed
