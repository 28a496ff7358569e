# Bandwidth by record, for each level of MPI-IO.
set title "8 clients and 8 file servers of PIOsimHD, aggregate_reorder"
set xlabel "record in KiB"
set logscale x
set xrange [80:150000]
set ylabel "MiB/s"
set yrange [0:*]
set key below
rows(level, operation) = sprintf("< awk -F, '$1 == \"aggregate_reorder\" && $4 == %d && $3 == \"%s\"' records.csv", level, operation)
plot for [level = 0:3] rows(level, "write") using 2:6 with linespoints title sprintf("level %d, written", level), \
     for [level = 0:3] rows(level, "read") using 2:6 with linespoints dashtype 2 title sprintf("level %d, read", level)
