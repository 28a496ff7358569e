#!/bin/bash
# No two files call each other in both directions, and no files do in a ring: each can be read, and tested, after those that it uses.
# Checked by the symbols of the objects next to $MARSSIM: what a file leaves undefined and another defines is a call (or a
# table) of the other's. Of the tools only rings are looked for.
set -u
build=$(dirname "${MARSSIM:?}")
cd "${1:-$(dirname "$0")/../..}" || exit 2

objects=$(find kernel stats routing partition net traces nodes storage tasks run -name '*.c' | sed 's/c$/o/')
symbols=$(cd "$build" && find $objects 2>/dev/null | xargs -r nm -A 2>/dev/null | sed 's/\.o: */ /' |
    awk 'NF == 3 && $2 == "U" { print "use", $1, $3 } NF == 4 && $3 ~ /^[TDBRCV]$/ { print "has", $1, $4 }')
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

edges() { # FOLDER...: "FILE FILE" where the first uses a symbol that the second has; programs of their own each
    find "$@" -name '*.c' | sort | while read -r source; do [ -e "$build/${source%.c}.o" ] && echo "$build/${source%.c}.o"; done |
        xargs -r nm -A | sed "s|^$build/||; s|\.o:| |" | awk '
            NF == 3 && $2 == "U" { user[++uses] = $1; used[uses] = $3 }
            NF == 4 && $3 ~ /^[TDBRCV]$/ { owner[$4] = $1 }
            END { for (i = 1; i <= uses; i++) if ((to = owner[used[i]]) != "" && to != user[i]) print user[i], to }' | sort -u
}

rings() { # the files that reach each other (Tarjan): a line for each ring, how many and which
    awk '
        function visit(v,   i, w, n, list) {
            low[v] = number[v] = ++visited; stack[++depth] = v; open[v] = 1
            for (i = 1; i <= count[v]; i++) {
                w = next_of[v, i]
                if (!(w in number)) visit(w)
                if (open[w] && low[w] < low[v]) low[v] = low[w]
            }
            if (low[v] != number[v]) return
            do { w = stack[depth--]; open[w] = 0; list = w " " list; n++ } while (w != v)
            if (n > 1) print n, list
        }
        { next_of[$1, ++count[$1]] = $2 }
        END { for (v in count) if (!(v in number)) visit(v) }'
}

found=$({ edges kernel stats routing partition net traces nodes storage tasks run | rings
    for tool in tools/*/; do edges "${tool%/}" | rings; done; } |
    while read -r count files; do echo "$count $(tr ' ' '\n' <<<"$files" | sort | grep -m1 .)"; done | sort)
if [ -n "$found" ]; then
    echo "$found"
    echo "not ok no files call each other in a ring (how many, and one of them)"
    exit 1
fi
echo "ok no files call each other in rings"
