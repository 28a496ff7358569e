# What noise of 2.5 % costs a loop of 2 ms and a reduction, by the number of tasks, for each length of its detours.
set title "10 x (2 ms of computation, reduction of 8 bytes); noise takes 2.5 % of each core"
set xlabel "tasks"
set logscale x 2
set xrange [32:131072]
set ylabel "time / time without noise"
set logscale y
set key left top
rows(begin, period) = sprintf("< awk -F, '$5 == \"%s\" && $3 == \"%s\" && $2 == 10' results.csv", begin, period)
plot rows("core", "1s") using 1:7 with linespoints title "25 ms each s, each core by itself", \
     rows("core", "100ms") using 1:7 with linespoints title "2.5 ms each 100 ms", \
     rows("core", "10ms") using 1:7 with linespoints title "250 us each 10 ms", \
     rows("core", "1ms") using 1:7 with linespoints title "25 us each ms", \
     rows("core", "100us") using 1:7 with linespoints title "2.5 us each 100 us", \
     rows("same", "10ms") using 1:7 with linespoints title "250 us each 10 ms, all together"
