# Packet delay against the reduction of bandwidth per level: sequential placement on the left, random on the right, one scale.
set bmargin 7
set key below center vertical maxrows 2
set multiplot layout 1, 2 title "LAMMPS on fat trees of 512 nodes: bandwidth reduced at each level"
set xlabel "bandwidth reduction per level (%)"
set xtics 25
set xrange [-5:80]
set logscale y
set yrange [0.2:20]
set ytics (0.2, 0.5, 1, 2, 5, 10, 20)
set ylabel "mean packet delay (us)"
sizes = "4x4 8x8 16x16 32x32"
do for [placement in "sequential random"] {
    set title placement . " placement"
    plot for [i = 1:4] 'results.csv' skip 1 using 5:($1 == 512 && $2 == 0 && strcol(3) eq placement && strcol(4) eq word(sizes, i) ? $6 : NaN) \
        with linespoints linetype i title word(sizes, i) . " switches"
}
unset multiplot
