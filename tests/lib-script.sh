# lib-script.sh - what test scripts have in common, sourced from the top folder: the program in $marssim, a scratch folder in $work
# that goes with the script, mpirun as root and with more ranks than cores, and the lines of the report.
#
# The report shows the end of the file named in $shown (relative to where the script then is) when a case fails.

top=$PWD
marssim=$(readlink -f "${MARSSIM:-./marssim}")
work=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_odls_base_sigkill_timeout=0 # mpirun sleeps two seconds after each refusal otherwise
number=0
shown=$work/err

verdict() { # WHY-NOT NAME: one line of the report
    number=$((number + 1))
    if [ -z "$1" ]; then
        echo "ok $number $2"
    else
        echo "not ok $number $2: $1"
        [ ! -e "$shown" ] || tail -n 20 "$shown" | cut -c1-300 | sed 's/^/    /'
    fi
}

check() { # NAME: the last command is to have succeeded
    local status=$?
    verdict "$([ $status -eq 0 ] || echo "exit status $status")" "$1"
}
