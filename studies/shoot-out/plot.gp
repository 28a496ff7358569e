# Run time on three networks as a fraction of that on the fat tree, at equal cost: on the left all in the shape that they have with equal links, on
# the right each in the best of its eight, there with the range over all conditions of the protocol (robustness.csv).
set multiplot layout 1, 2 title "Four networks of 256 nodes at equal cost, four loads"
set style data histograms
set style fill solid 0.9 border -1
set ylabel "run time / run time on the fat tree"
set yrange [0:4.6] # room for the legend above the bars
set bmargin 3.5
set xrange [-0.6:3.6]
set xtics scale 0 ("stencil\nin order" 0, "stencil\nat random" 1, "weather" 2, "LAMMPS" 3)
unset xlabel
set key top right inside vertical maxrows 4 Left reverse width 0
networks = "torus dragonfly three_levels"
name(i) = i == 3 ? "three levels" : word(networks, i)
set title "one shape each"
set style histogram clustered gap 1
plot for [i = 1:3] sprintf("< awk -F, '$1 == \"cost\" && $2 == \"%s\" && $3 == \"equal\"' results.csv", name(i)) using 8 linetype i title name(i), \
    1 with lines linetype 7 title "fat tree"
set title "best of eight shapes each; bars: all conditions"
set yrange [0:1.7]
set style histogram errorbars gap 1 linewidth 1.5
# In the order of the loads on the axis, which is not that of the designs.
row(i) = sprintf("< for j in 'stencil in order' 'stencil at random' weather LAMMPS; do awk -F, -v j=\"$j\" 'NR == 1 {for (c = 1; c <= NF; c++) at[$c] = c} $1 == j && $2 == \"%s\" {print $at[\"as_it_is\"] \",\" $at[\"least\"] \",\" $at[\"most\"]}' robustness.csv; done", \
    name(i))
plot for [i = 1:3] row(i) using 1:2:3 linetype i title name(i), 1 with lines linetype 7 title "fat tree"
unset multiplot
