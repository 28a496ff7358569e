# lib-runs.sh - for scripts that compare runs on several ranks: sourced from the top folder. The program is $m, the scratch folder $t; what a run says
# goes to $t/err.

. tests/lib-script.sh
m=$marssim t=$work
run() { "$m" -q "$@" partition.bind=no 2>"$t/err"; }
ranks() { # RANKS ARGUMENTS
    timeout 120 mpirun -n "$1" "$m" -q "${@:2}" partition.adapt=false partition.oversubscribe=true partition.bind=no 2>"$t/err"
}
