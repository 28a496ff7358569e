# Run time with each kind of progress against that with the adapter's, by eager limit, on three networks; computation as traced.
set multiplot layout 1, 3 title "LAMMPS, 32 tasks: who makes progress while a task computes"
set xlabel "eager limit"
set xrange [-0.4:2.4]
set xtics ("0 B" 0, "8 KiB" 1, "1 GiB" 2)
set yrange [0.99:1.1]
set ylabel "run time / that with adapter"
set key below center vertical maxrows 4
set bmargin 8
factor = system("tail -n +2 table.csv | cut -d, -f3 | sort -rn | head -n 1") # computation as traced, where it is there
place(limit) = limit eq "0B" ? 0 : limit eq "8KiB" ? 1 : 2
do for [network in system("tail -n +2 table.csv | cut -d, -f1 | awk '!seen[$1]++' | xargs")] {
    set title network
    rows(mode) = sprintf("< awk -F, '$1 == \"%s\" && $4 == \"%s\" && $3 == %s' table.csv", network, mode, factor)
    plot rows("calls") using (place(strcol(2))):8 with linespoints title "calls", \
         rows("thread") using (place(strcol(2))):8 with linespoints title "thread", \
         rows("thread-1us") using (place(strcol(2))):8 with linespoints title "thread, 1 us each time"
}
unset multiplot
