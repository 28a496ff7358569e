# Run time (as a fraction of that with one link) and throughput against the number of links.
set multiplot layout 1, 2 title "Communication of a weather code: links between each two of four racks"
set xlabel "level-3 links per pair of racks"
set logscale x 2
set xtics (1, 2, 4, 8, 16)
set xrange [0.9:18]
set bmargin 11
set key below center vertical maxrows 5
names = "all halo transpose reduction"
titles = "'all together' 'halo exchange' 'transposes' 'reductions'"
wide = "halo exchange, level 2 of 25 GB/s"
set ylabel "run time / run time with one link"
set yrange [0:1.3]
plot for [i = 1:4] 'results.csv' skip 1 using 3:(strcol(1) eq word(names, i) && $2 == 10 ? 1 / $6 : NaN) with linespoints linetype i title word(titles, i), \
     'results.csv' skip 1 using 3:(strcol(1) eq "halo" && $2 == 25 ? 1 / $6 : NaN) with linespoints linetype 5 dashtype 2 title wide
set ylabel "throughput (GB/s)"
set yrange [50:5000]
set logscale y
plot for [i = 1:4] 'results.csv' skip 1 using 3:(strcol(1) eq word(names, i) && $2 == 10 ? $5 : NaN) with linespoints linetype i title word(titles, i), \
     'results.csv' skip 1 using 3:(strcol(1) eq "halo" && $2 == 25 ? $5 : NaN) with linespoints linetype 5 dashtype 2 title wide
unset multiplot
