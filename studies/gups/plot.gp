# Accepted throughput against size: bounds as lines, simulation as points.
set bmargin 8
set title "GUPS on boards and racks: the bottleneck moves from level 3 to level 2"
set xlabel "nodes"
set ylabel "updates accepted per node (GB/s of payload)"
set yrange [0:10]
set xrange [0:*]
plot 'results.csv' skip 1 using 2:($15 < 60 ? $7 : NaN) with lines linetype 2 dashtype 2 title "bound, level 3", \
     '' skip 1 using 2:($15 < 60 ? $6 : NaN) with lines linetype 1 dashtype 4 title "bound, level 2", \
     '' skip 1 using 2:($15 < 60 ? $11 : NaN) with lines linetype 8 linewidth 1 title "bound, fullest link of all", \
     '' skip 1 using 2:($3 == 1 ? $8 : NaN) with points linetype 7 pointtype 7 title "simulated, evenly dealt links", \
     '' skip 1 using 2:($3 == 0 && $15 < 60 ? $8 : NaN) with points linetype 3 pointtype 8 title "simulated, others", \
     '' skip 1 using 2:($15 == 60 ? $8 : NaN) with points linetype 4 pointtype 12 title "the same after 60 us instead of 10"
