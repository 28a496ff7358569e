# Run time (as a fraction of that with one link) and throughput against the number of links.
set multiplot layout 1, 2 title "Communication of a weather code: links between each two of four racks"
set xlabel "level-3 links per pair of racks"
set logscale x 2
set xtics (1, 2, 4, 8, 16)
set xrange [0.9:18]
names = "all halo transpose reduction"
titles = "'all together' 'halo exchange' 'transposes' 'reductions'"
set ylabel "run time / run time with one link"
set yrange [0:1.3]
plot for [i = 1:4] csv skip 1 using 2:(strcol(1) eq word(names, i) ? 1 / $5 : NaN) with linespoints linetype i title word(titles, i)
set ylabel "throughput (GB/s)"
set yrange [50:2000]
set logscale y
plot for [i = 1:4] csv skip 1 using 2:(strcol(1) eq word(names, i) ? $4 : NaN) with linespoints linetype i title word(titles, i)
unset multiplot
