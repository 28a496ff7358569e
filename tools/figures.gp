# What figures of tools/validate-machines have in common; `target` is set before. Those of marssweep look the same.
# Colours: Okabe and Ito's, distinguished with any colour vision; points differ in shape, too.
set terminal svg size 760, 440 dynamic font "sans-serif,13" background "white" noenhanced
set output target
set datafile separator ","
set datafile missing ""
set key below center horizontal Left reverse samplen 2 spacing 1.2
set grid linecolor rgb "#d8d8d8" linewidth 0.7
set border 3 linecolor rgb "#404040"
set tics nomirror
set linetype 1 linecolor rgb "#0072B2" linewidth 2 pointtype 7
set linetype 2 linecolor rgb "#D55E00" linewidth 2 pointtype 5
set linetype 3 linecolor rgb "#009E73" linewidth 2 pointtype 9
set linetype 4 linecolor rgb "#CC79A7" linewidth 2 pointtype 13
set linetype 5 linecolor rgb "#E69F00" linewidth 2 pointtype 11
set linetype 6 linecolor rgb "#56B4E9" linewidth 2 pointtype 3
set linetype 7 linecolor rgb "#000000" linewidth 2 pointtype 1
set linetype 8 linecolor rgb "#7f7f7f" linewidth 2 pointtype 2
