#!/bin/sh
# Prints docs/results.md with the columns of all tables as the program knows them: tools/write-results.sh PROGRAM
set -eu
columns=$(mktemp)
trap 'rm -f "$columns"' EXIT
"$1" --help-results >"$columns"
cd "$(dirname "$0")/.."
# A table is between its two markers. What it was before is left out. The rows of --help-results are columns that are
# apart by two blanks or more: name, unit, type, merging, meaning.
awk -v columns="$columns" '
    function table(name,    line, on, field, count) {
        while ((getline line <columns) > 0) {
            if (line !~ /^ /) { on = line == name; count = 0; continue }
            if (!on) continue
            sub(/^ +/, "", line)
            if (count++ == 0) { print line "\n\n| column | unit | what | meaning |\n| --- | --- | --- | --- |"; continue }
            split(line, field, /  +/)
            print "| `" field[1] "` | " (field[2] == "-" ? "" : field[2]) " | " field[3] " | " field[5] " |"
        }
        close(columns)
        print ""
    }
    /^<!-- end of columns -->$/ { inside = 0 }
    !inside { print }
    /^<!-- columns of .* -->$/ { inside = 1; table($4) }' docs/results.md
