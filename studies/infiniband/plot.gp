# What 128, 32 and 8 contributors to a hot spot leave to the background, and what they have of the hot link, without control and with two settings.
set title "648 hosts: a hot spot beside background at half load"
set xlabel "contributors"
set ylabel "share of a link"
set yrange [0:1.05]
set xrange [6:170]
set logscale x 2
set xtics (8, 32, 128)
set key below
rows(control) = sprintf("< awk -F, '$2 == \"%s\" && $3 == \"as_it_is\"' hot_spot.csv", control)
plot for [c in "none a10 tuned"] rows(c) using 1:4 with linespoints title "background, " . c, \
     for [c in "none a10 tuned"] rows(c) using 1:5 with linespoints dashtype 2 title "hot link, " . c
