#!/bin/bash
# No two files call each other both ways: each can be read, and tested, after those that it uses. Checked by the symbols of
# the objects next to $MARSSIM: what a file leaves undefined and another defines is a call (or a table) of the other's.
set -u
build=$(dirname "${MARSSIM:?}")
cd "${1:-$(dirname "$0")/..}" || exit 2

sources=$(find kernel stats routing partition net traces nodes tasks run -name '*.c')
symbols=$(for source in $sources; do
    object=$build/${source%.c}.o
    [ -e "$object" ] && nm "$object" | awk -v file="${source%.c}" 'NF == 2 && $1 == "U" { print "use", file, $2 }
        NF == 3 && $2 ~ /^[TDBRCV]$/ { print "has", file, $3 }'
done)
[ -n "$symbols" ] || { echo "SKIP: no objects in $build"; exit 0; }

ties=$(awk '
    $1 == "has" { owner[$3] = $2 }
    $1 == "use" { user[++uses] = $2; used[uses] = $3 }
    END {
        for (i = 1; i <= uses; i++) {
            to = owner[used[i]]
            if (to != "" && to != user[i])
                calls[user[i], to] = calls[user[i], to] " " used[i]
        }
        for (pair in calls) {
            split(pair, end, SUBSEP)
            if (end[1] < end[2] && (end[2], end[1]) in calls)
                print end[1], end[2] ":" calls[pair] " |" calls[end[2], end[1]]
        }
    }' <<<"$symbols" | sort)
if [ -n "$ties" ]; then
    echo "$ties"
    echo "not ok no two files call each other"
    exit 1
fi
echo "ok no two files call each other"
