# Run time on four networks, as a fraction of that on the fat tree: equal nodes and links on the left, equal cost on the right.
set multiplot layout 1, 2 title "Four networks of 256 nodes, four loads"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 border -1
set ylabel "run time / run time on the fat tree"
set yrange [0:4]
set xrange [-0.6:3.6]
set xtics scale 0 rotate by 20 right
unset xlabel
networks = "fat_tree torus dragonfly hierarchical"
do for [equal in "nodes cost"] {
    set title "equal " . (equal eq "nodes" ? "links (12.5 GB/s)" : "cost")
    # One job after the other within each network's column: rows of the table are selected by both.
    plot for [i = 1:4] sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\"' %s", equal, word(networks, i), csv) using 7:xtic(3) \
        linetype i title word(networks, i)
}
unset multiplot
