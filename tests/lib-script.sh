# lib-script.sh - what test scripts have in common, sourced from the top folder: the program in $marssim, a scratch folder in $work
# that goes with the script, mpirun as root and with more ranks than cores, and the lines of the report.
#
# The report shows beginning and end of the file named in $shown (relative to where the script then is) when a case fails: what a rank
# said is before what mpirun says of it.

# Most scripts read results by jq; some look by themselves whether it is there.
command -v jq >/dev/null || grep -qs 'command -v jq' "${BASH_SOURCE[@]:1}" || ! grep -qsw jq "${BASH_SOURCE[@]:1}" ||
    { echo "SKIP: jq is missing (tools/install-deps.sh check)"; exit 0; }

top=$PWD
marssim=$(readlink -f "${MARSSIM:-./marssim}")
work=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_odls_base_sigkill_timeout=0 # mpirun sleeps two seconds after each refusal otherwise
# For jobs of which several ranks compare results: with links of 20 ns they meet every 100 ns, half a million times in a short trace.
far=topology.latency=2us
number=0
shown=$work/err

both_ends() { # FILE: its first and last lines
    if [ "$(wc -l <"$1")" -le 24 ]; then cat "$1"; else head -n 12 "$1" && echo ... && tail -n 12 "$1"; fi
}

verdict() { # WHY-NOT NAME: one line of the report
    number=$((number + 1))
    if [ -z "$1" ]; then
        echo "ok $number $2"
    else
        echo "not ok $number $2: $1"
        [ ! -e "$shown" ] || both_ends "$shown" | cut -c1-300 | sed 's/^/    /'
    fi
}

check() { # NAME: the last command is to have succeeded
    local status=$?
    verdict "$([ $status -eq 0 ] || echo "exit status $status")" "$1"
}

ends() { # STATUS WORDS COMMAND...: the command ends so, and these words, a pattern of grep, are on standard error; none: whatever is there
    local status=0
    timeout 120 "${@:3}" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ $status -eq "$1" ] && { [ -z "$2" ] || grep -q -e "$2" "$work/err"; } && return
    echo "ends with $status, not with $1 and: $2" >>"$work/err"
    return 1
}

refused() { # WORDS ARGUMENTS...: marssim with these arguments ends with exit status 2 and these words in the message
    ends 2 "$1" "$marssim" -q "${@:2}" partition.bind=no
}

profile_of() { # TRACE: calls, bytes and time of each task and function, as marstrace --profile writes them of a program
    echo task,function,calls,bytes,time_ns
    "$(dirname "$marssim")/marsconv" --stats --json "$1" | jq -r '.functions[] | [.task, .function, .calls, .bytes, .time_ns] | join(",")'
}

in_browser() { # SCRIPT PAGE...: of tests/tools, which drives a browser; without a driver each page is drawn to its end, and no script of it fails
    local browser page
    browser=$(command -v chromium || command -v chromium-browser)
    if [ -z "$browser" ]; then
        echo "SKIP: no browser: chromium is missing"
    elif command -v node >/dev/null && node -e 'require("playwright-core")' 2>/dev/null; then
        node "$top/tests/tools/$1" "$browser" "$PWD" >page.log 2>err
        check "the browser came to the end"
        cat page.log
    else
        for page in "${@:2}"; do
            timeout 120 "$browser" --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$work/browser" --dump-dom "file://$PWD/$page#all" >dom 2>err &&
                grep -q '<body data-ready="yes"' dom && ! grep -q 'data-failed=' dom
            check "$page is drawn in a browser"
        done
        echo "SKIP: no driver for the browser: node with playwright-core in NODE_PATH"
    fi
}

has_hdf5() { # whether marssim was built with it
    "$marssim" -q -o "$work/has-hdf5" "$top/configs/star-pingpong.cfg" jobs[0].steps=1 output.hdf5=true 2>"$work/err" || ! grep -q 'built without HDF5' "$work/err" ||
        { echo "SKIP: this marssim was built without HDF5" && return 1; }
}

# Ranks that append what they say to the files out and err, and may end with an error. mpirun of Open MPI 4.1 now and then hangs in its own
# end then (a thread of PMIx 4.2 waits for a lock that nobody gives back, when all ranks are gone): it is ended, and tried again.
bounded_mpirun() { # SECONDS WORD...: mpirun WORD...; 124 when there is no end three times
    local try status seconds=$1
    shift
    for try in 1 2 3; do
        rm -f out err
        timeout -k 5 "$seconds" mpirun "$@" >launcher 2>&1 </dev/null
        status=$?
        [ $status -eq 124 ] || break
    done
    return $status
}

# All limits are times of a machine that is not very busy, of a program without sanitizers: TEST_PATIENCE=10 makes them ten times as long.
timeout() { # [-k SECONDS] SECONDS COMMAND...
    local after=()
    [ "$1" = -k ] && after=(-k "$2") && shift 2
    [ "${*:2:4}" != "mpirun -n 1 $marssim" ] || set -- "$1" "${@:5}" # one rank needs no launcher
    command timeout "${after[@]}" $(($1 * ${TEST_PATIENCE:-1})) "${@:2}"
}
