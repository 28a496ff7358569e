# Ratio of 90th percentiles beside an incast, simulated against measured.
set title "beside an incast: 90th percentile / that alone"
set xlabel "measured"
set ylabel "simulated"
set logscale xy
set xrange [0.9:15]
set yrange [0.9:15]
set key left top
rows(machine, control) = sprintf("< awk -F, '$1 == \"%s\" && $5 == \"incast\" && $7 == \"%s\" && $8 == \"\" && $16 != \"\"' results.csv", machine, control)
plot x with lines dashtype 2 linecolor "gray" title "equal", 1.5 * x with lines dashtype 3 linecolor "gray" notitle, x / 1.5 with lines dashtype 3 linecolor "gray" title "1.5 times", \
     rows("leonardo", "none") using 16:12 with points pointtype 7 title "Leonardo", \
     rows("lumi", "rtt") using 16:12 with points pointtype 5 title "LUMI, with congestion control", \
     rows("lumi", "none") using 16:12 with points pointtype 4 title "LUMI, without"
