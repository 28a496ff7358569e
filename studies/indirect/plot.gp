# Run time normalised to direct routes against the number of detours; the bound is the level of 16 links between each two racks.
set multiplot layout 1, 3 title "LAMMPS on two of five racks: detours over third racks"
set xlabel "detour racks"
set xrange [-0.3:3.3]
set xtics (0, 1, 2, 3)
set yrange [0:1.15]
set ylabel "run time / run time with direct routes"
set key below center vertical maxrows 4
set bmargin 9
rates = system("tail -n +2 results.csv | cut -d, -f1 | awk '!seen[$1]++' | xargs")
do for [i = 1:words(rates)] {
    rate = word(rates, i)
    set title "rack links of " . rate . " GB/s"
    same(kind) = sprintf("< awk -F, '$1 == \"%s\" && ($4 == \"direct\" || $4 == \"%s\") && $2 == \"usual\" && $3 == \"usual\"' results.csv", rate, kind)
    bound = real(system(sprintf("awk -F, '$1 == \"%s\" && $4 == \"bound\" {print $7}' results.csv", rate)) . "")
    other = sprintf("< awk -F, '$1 == \"%s\" && $4 == \"adaptive\" && $2 == \"both\"' results.csv", rate)
    if (rate eq "3.125") {
        plot same("static") using 5:7 with linespoints linetype 2 title "static", \
             same("adaptive") using 5:7 with linespoints linetype 1 title "adaptive", \
             other using 5:7 with points linetype 6 pointsize 1.5 title "adaptive, other switches", \
             bound with lines linetype 8 dashtype 2 title "16 links per pair of racks"
    } else {
        plot same("static") using 5:7 with linespoints linetype 2 title "static", \
             same("adaptive") using 5:7 with linespoints linetype 1 title "adaptive", \
             bound with lines linetype 8 dashtype 2 title "16 links per pair of racks"
    }
}
unset multiplot
