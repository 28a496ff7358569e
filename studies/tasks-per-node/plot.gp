# What four times as fast a part of the machine gives, by the number of tasks on a node: the higher line is the bottleneck.
set title "512 tasks, one adapter a node: run time with something four times as fast"
set xlabel "tasks on a node"
set logscale x 2
set xrange [0.8:80]
set ylabel "time / time with it four times as fast"
set yrange [0.95:*]
set key below
rows(faster, memory) = sprintf("< awk -F, '$1 == \"job\" && $3 == 1 && $4 == %s && $8 == \"%s\"' results.csv", memory, faster)
plot rows("processors", "1") using 2:10 with linespoints title "processors", \
     rows("adapters", "1") using 2:10 with linespoints title "adapters", \
     rows("memory", "1") using 2:10 with linespoints title "memory controllers", \
     rows("copies", "1") using 2:10 with linespoints title "copies inside nodes", \
     rows("adapters", "0") using 2:10 with linespoints dashtype 2 title "adapters, a job that needs no memory", \
     rows("processors", "0") using 2:10 with linespoints dashtype 2 title "processors, likewise"
