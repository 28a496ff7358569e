# lib-instructions.sh - instructions per packet-hop by valgrind's callgrind; sourced by tests/run/instructions.sh and bench/instructions.sh,
# which set `program` (built for x86-64-v3: valgrind does not know every processor) and `out`, a folder.

why_not() { # prints why nothing can be counted
    command -v valgrind >/dev/null || { echo "valgrind is not installed: nobody counts instructions"; return; }
    grep -Eq '^flags.* avx2 (.* )?bmi2 ' /proc/cpuinfo 2>/dev/null ||
        { echo "this processor is not an x86-64-v3, for which the program is counted"; return; }
    [ -x "$program" ] || echo "no program at $program: make counted builds it"
}

# All instructions of a run, and its packet-hops.
count() { # FILE OVERRIDE...
    local refs hops
    refs=$(valgrind --tool=callgrind --callgrind-out-file="$out/callgrind" "$program" -q -o "$out/run" "$@" 2>&1 |
        sed -n 's/.*Collected : //p')
    hops=$(sed -n 's/^ *"packet_hops": \([0-9]*\),*$/\1/p' "$out/run/summary.json")
    rm -rf "$out/run"
    echo "${refs:-0} ${hops:-0}"
}

measure() { # SHORT LONG FILE OVERRIDE...: instructions per packet-hop
    local short=$1 long=$2
    shift 2
    { count "$@" "$short" && count "$@" "$long"; } |
        awk 'NR == 1 { i = $1; h = $2 } END { if ($2 > h && h > 0) printf "%.1f\n", ($1 - i) / ($2 - h); else print 0 }'
}
