#!/bin/bash
# Runs every test of a build and counts: tests/run-tests.sh BUILD
#
# Tests are BUILD/tests/test_* (cmocka; every test function counts) and *.sh in tests and its folders, except run-*.sh and lib*.sh. A
# cmocka test whose name ends in _ranks runs alone and again under mpirun on 2 and 3 ranks, each of these one more test. A
# script counts its lines "ok ..." and "not ok ...", or, when it prints none, as one test by its exit status; a line
# "SKIP: why" counts as skipped. Scripts run in the repository's top folder and find the program in $MARSSIM. The
# output of what fails is shown; the last line is "N passed, N failed" (", N skipped" when there are any).
#
# Called by make, which sets what mpirun needs; alone: `make check-built`.
# TEST_JOBS (one more than there are cores) tests run side by side, TEST_SECONDS (3600, for busy machines) is what one may take, TESTS="a b" runs only those named.
# TEST_PATIENCE=10 makes what scripts wait for a command ten times as long.
# REST=1: what has passed since the programs and the test were made is counted and not run again, so that an interrupted run continues.
set -u
cd "$(dirname "$0")/.." || exit 2

listed() { # FAILED|SKIPPED LOG: the sum over cmocka's "[  FAILED  ] N test(s), listed below"
    sed -n "s/^\[  $1 *\] \([0-9][0-9]*\) test(s), listed below.*/\1/p" "$2" | awk '{n += $1} END {print n + 0}'
}

# Under mpirun: the Makefile exports what Open MPI wants from root and from more ranks than cores.
run_ranks() { # PROGRAM RANKS OUT
    timeout -k 10 "$limit" mpirun -n "$2" "$1" >"$3.mpi" 2>&1 </dev/null && return 0
    printf '\n--- under mpirun -n %s, exit status %d:\n' "$2" "$?"
    cat "$3.mpi"
    return 1
}

# One test: writes OUT.log and OUT.count ("passed failed skipped").
run_one() {
    local test=$1 out=$2 status passed failed skipped
    local command=("$test")
    [[ $test == *.sh ]] && command=(bash "$test")
    local limit=${TEST_SECONDS:-3600} ranks
    SECONDS=0
    timeout -k 10 "$limit" "${command[@]}" >"$out.log" 2>&1 </dev/null
    status=$?
    [ $status -eq 124 ] && echo "no end within $limit s" >>"$out.log"
    if [[ $test == *.sh ]]; then
        passed=$(grep -c '^ok ' "$out.log")
        failed=$(grep -c '^not ok ' "$out.log")
        skipped=$(grep -c '^SKIP: ' "$out.log")
        [ $((passed + failed + skipped)) -eq 0 ] && [ $status -eq 0 ] && passed=1
    else
        passed=$(grep -c '^\[       OK \]' "$out.log")
        failed=$(listed FAILED "$out.log")
        skipped=$(listed SKIPPED "$out.log")
        skipped=$((skipped + $(grep -c '^SKIP: ' "$out.log")))
    fi
    [ $status -ne 0 ] && [ "$failed" -eq 0 ] && failed=1 # it crashed, or hung
    [[ $test == *_ranks ]] && for ranks in 2 3; do
        if run_ranks "$test" "$ranks" "$out" >>"$out.log"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
    echo "$passed $failed $skipped" >"$out.count"
    if [ "$failed" -gt 0 ]; then
        { printf '\n--- %s failed (exit status %d):\n' "$test" "$status" && tail -n 200 "$out.log"; } >"$out.show"
        cat "$out.show"
    else
        times >"$out.times" # of this shell, and what it waited for
        printf '  %-44s %s passed%s, %d s (%s of processors)\n' "${test#"$BUILD"/}" "$passed" "$([ "$skipped" -gt 0 ] && echo ", $skipped skipped")" \
            "$SECONDS" "$(sed -n '2s/ / + /p' "$out.times")"
        grep '^SKIP: ' "$out.log" | sed 's/^/    /'
    fi
    return 0
}

# A folder of its own for what a test and its mpirun leave for a while: two mpirun that begin and end at the same time can
# take the session folder they share from each other ("A call to mkdir was unable to create the desired directory").
if [ "${1:-}" = --one ]; then
    BUILD=$2
    TMPDIR=$(mktemp -d /tmp/marssim-check-XXXXXX) || exit 1
    export TMPDIR
    trap 'chmod -R u+w "$TMPDIR"; rm -rf "$TMPDIR"' EXIT
    run_one "$3" "$4/$(basename "$3")"
    exit 0
fi

BUILD=${1:?usage: tests/run-tests.sh BUILD}
[ -x "$BUILD/marssim" ] || { echo "tests/run-tests.sh: no program in $BUILD: make check-built builds it and all tests" >&2; exit 2; }
export BUILD MARSSIM=${MARSSIM:-$PWD/$BUILD/marssim}
# mpirun starts in half its processor time without what one machine does not need: hwloc's plugins (X11, OpenCL), its looks at PCI devices and
# tours of all cores, libraries of networks, and files of PMIx in shared memory. Whoever wants more says so to mpirun.
export HWLOC_PLUGINS_BLACKLIST=hwloc_gl.so,hwloc_opencl.so,hwloc_pci.so HWLOC_COMPONENTS=-linuxio,-x86 PMIX_MCA_gds=hash OMPI_MCA_pml=^cm,ucx
logs=$BUILD/test-logs
[ -n "${REST:-}" ] || rm -rf "$logs"
mkdir -p "$logs"

# Whether a test has passed since it, the programs and what scripts have in common were made; if not, nothing is left to be counted.
passed_before() { # TEST
    local out file
    out=$logs/$(basename "$1")
    if [ -e "$out.count" ] && [ ! -e "$out.show" ]; then
        for file in "$1" "$BUILD"/{marssim,marstrace,marsconv,marsreport,marsmovie,marsnoise,marsbench,marssweep,*.so} tests/lib*.sh; do
            [ "$file" -nt "$out.count" ] && break
        done
        [ "$file" -nt "$out.count" ] || return 0
    fi
    rm -f "$out".{log,count,show}
    return 1
}

tests=() counts=()
for test in tests/*/test_*.c tests/*/*.sh tests/test_*.c tests/*.sh; do
    [ -e "$test" ] || continue
    name=$(basename "${test%.*}")
    [[ $test == *.sh && ($name == run-* || $name == lib*) ]] && continue
    [ -z "${TESTS:-}" ] || [[ " $TESTS " == *" $name "* ]] || continue
    [[ $test == *.c ]] && test=$BUILD/tests/$name
    counts+=("$logs/$(basename "$test").count")
    passed_before "$test" || tests+=("$test")
done
[ ${#tests[@]} -eq 0 ] || printf '%s\n' "${tests[@]}" | xargs -P "${TEST_JOBS:-$(($(nproc) + 1))}" -I{} "$0" --one "$BUILD" {} "$logs"

read -r passed failed skipped < <(cat /dev/null "${counts[@]}" 2>/dev/null |
    awk '{p += $1; f += $2; s += $3} END {print p + 0, f + 0, s + 0}')
echo
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
