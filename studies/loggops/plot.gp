# Run time with each model against the size of a message: the full tree and the tapered one.
set bmargin 7
set key below center vertical maxrows 2
set title "Eight random permutations of 64 nodes: packets and LogGOPS"
set xlabel "bytes of a message"
set logscale x 2
set xrange [40:100000]
set xtics (64, 1024, 4096, 16384, 65536)
set logscale y
set ylabel "run time (us)"
rows(taper) = sprintf("< awk -F, '$2 == %s' results.csv", taper)
tree(taper) = taper eq "1" ? "full tree" : "a quarter of the bandwidth"
plot for [t in "1 0.25"] rows(t) using 1:3 with linespoints title "packets, " . tree(t), \
     for [t in "1 0.25"] rows(t) using 1:4 with linespoints dashtype 2 title "LogGOPS, " . tree(t)
