# libcsv.sh - for test scripts: columns of a CSV file by name, so that a new column changes no test.

# csv_columns FILE NAME...: the rows' cells of these columns, with commas between. No cell may hold a comma.
csv_columns() {
    local file=$1
    shift
    awk -F, -v names="$*" '
        NR == 1 { count = split(names, name, " ")
                  for (i = 1; i <= NF; i++) place[$i] = i
                  for (i = 1; i <= count; i++) if (!(name[i] in place)) { print "no column " name[i]; exit 1 } }
        NR > 1 { line = $place[name[1]]
                 for (i = 2; i <= count; i++) line = line "," $place[name[i]]
                 print line }' "$file"
}
