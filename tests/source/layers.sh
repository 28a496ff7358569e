#!/bin/bash
# The order of the folders, checked on every #include: tests/source/layers.sh [TOP]
#
# - A folder includes only itself and folders below it.
# - It enters another folder only by a header that has the name of a room there: net/net.h, tasks/mpi/mpi.h; but for what is
#   inlined where components post, kernel/engine/post.h.
# - What a switch is made of only net/switch/ knows.
# - Few headers are seen from another folder (each inner one is a folder, too); the number may only shrink.
# - Few files see the inside of the engine: whoever changes it compiles less than a tenth.
# - A library is included only by the folder that owns it; the rest of the program goes through that folder.
# marssim.c is above all folders; tests/ and tools/ may look anywhere.
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2

order="kernel stats routing partition net traces nodes storage tasks run"

includes() { # all includes of the program: "FILE LINE HEADER"
    local folder
    for folder in $order; do
        [ -d "$folder" ] && find "$folder" -name '*.[ch]'
    done | sort | { cat; ls *.[ch]; } |
        xargs awk 'match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*/) {
            header = substr($0, RSTART, RLENGTH); sub(/.*[<"]/, "", header); print FILENAME, FNR, header }'
}

check() { # NAME PROGRAM: awk prints what is wrong, one line each
    local wrong
    wrong=$(awk -v order="$order" '
        BEGIN { count = split(order, name, " "); for (i = 1; i <= count; i++) level[name[i]] = i }
        function folder_of(path) { return path ~ "/" ? substr(path, 1, index(path, "/") - 1) : "" }
        { own = folder_of($1); other = folder_of($3); place = $1 ":" $2 ": includes " $3 }
        '"$2" <<<"$list")
    if [ -n "$wrong" ]; then
        echo "$wrong"
        echo "not ok $1"
        failed=1
    else
        echo "ok $1"
    fi
}

list=$(includes)
failed=0
[ -n "$list" ] || { echo "not ok there is something to check"; exit 1; }

check "no include runs upward" '
    own in level && other in level && level[other] > level[own] { print place ", which is above " own "/" }
    $3 ~ /(^|\/)\.\.\// { print place ", a path that leaves its folder" }'

check "folders are entered by the header of a room's name" '
    other in level && own != other && $3 !~ /(^|\/)([^\/]*)\/[^\/]*\.h$/ { next }
    other in level && own != other {
        parts = split($3, part, "/")
        if (part[parts] != part[parts - 1] ".h" && $3 != "kernel/engine/post.h") print place ", which is private to " other "/" }'

check "what a switch is made of only net/switch/ knows" '
    $3 == "net/switch/private.h" && $1 !~ /^net\/switch\// { print place }'

check "libraries stay with their owner" '
    function owner(header) {
        if (header ~ /^(mpi\.h|mpi-ext\.h|libconfig\.h|Random123\/)/) return "kernel"
        if (header ~ /^(jansson\.h|gsl\/gsl_)/) return "stats"
        if (header ~ /^hdf5/) return "stats"
        if (header ~ /^otf2\//) return "stats traces" # timelines out, traces in
        if (header ~ /^metis\.h/) return "partition"
        if (header ~ /^hwloc/) return "partition nodes" # this machine; descriptions of nodes
        if (header ~ /^(zstd|zdict)/) return "kernel traces" # saved state; compressed traces
        if (header ~ /^sqlite3/) return "tools" # marssweep
        return ""
    }
    owner($3) != "" && index(" " owner($3) " ", " " own " ") == 0 {
        print place ", which only " owner($3) " may use" }'

most_seen=60
seen=$({ awk '{ print $1, $3 }' <<<"$list"; grep -roE '^[ \t]*#[ \t]*include "[^"]*"' tools plugin --include='*.[ch]' | sed 's/:.*"\(.*\)"/ \1/'; } |
    awk -v order="$order" 'BEGIN { count = split(order, name, " "); for (i = 1; i <= count; i++) top[name[i]] = 1 }
        function folder(path) { sub(/[^\/]*$/, "", path); return path }
        { split($2, part, "/") } part[1] in top && folder($1) != folder($2) { print $2 }' | sort -u)
if [ "$(wc -l <<<"$seen")" -gt "$most_seen" ]; then
    echo "$seen"
    echo "not ok $(wc -l <<<"$seen") headers are seen from another folder, at most $most_seen"
    failed=1
else
    echo "ok at most $most_seen headers are seen from another folder"
fi

check "less than a tenth of the files see the inside of the engine" '
    { to[$1] = to[$1] " " $3; if ($1 ~ /\.c$/) files[$1] }
    function sees(file,   part, n, i) {
        if (file in known) return known[file]
        if (file == "kernel/engine/post.h" || file == "kernel/engine/wheel.h" || file == "kernel/engine/exchange.h") return 1
        known[file] = 0
        n = split(to[file], part, " ")
        for (i = 1; i <= n; i++) if (sees(part[i])) return known[file] = 1
        return 0
    }
    END { for (file in files) { all++; if (sees(file)) many++ } if (many * 10 >= all) print many, "of", all }'

# Purposes of random numbers that are asked for by name are in the one list, of which a test knows that no two have one number.
unlisted=$(grep -rhoE 'ker_purpose\("[^"]*"\)' $order --include='*.c' | sed 's/.*("\(.*\)")/\1/' | sort -u | while read -r name; do
    grep -q "PURPOSE(\"$name\")" kernel/base/random.h || echo "$name"
done)
[ -z "$unlisted" ] && echo "ok purposes of random numbers are listed" || { echo "not ok purposes of random numbers are listed: $unlisted"; failed=1; }

exit $failed
