# lib-skip.sh - runs that skip steps (run.skip); sourced by tests/run/skip*.sh behind lib-runs.sh, whose folder $t it uses.

result() { jq -e "$2" "$1/summary.json" >/dev/null; }
reason() { # NAME TEXT CONFIGURATION WORD...
    run -o "$t/why" "$t/$3.cfg" "${@:4}" && jq -e --arg text "$2" '.result.skip | .skipped == false and .share_simulated == 1 and (.reason | contains($text))' \
        "$t/why/summary.json" >/dev/null
    check "$1"
}

# ---- of a trace or a schedule ----

trace_config() { # NAME TRACE
    cat >"$t/$1.cfg" <<END
topology: { kind="torus"; extents=[2,2]; bandwidth="1 GB/s"; latency="1 us"; };
output: { links=false; };
run: { seed=1; skip: { enabled=true; }; };
jobs: ( { name="t"; program="trace"; trace="$2"; } );
END
}
trace_covers() { # FULL ESTIMATED SHARE: within the interval, and 2 %
    jq -ne --slurpfile f "$1/summary.json" --slurpfile s "$2/summary.json" --argjson share "$3" '$f[0].result.jobs[0].finish_ps as $full |
        $s[0].result | .skip.skipped and .skip.share_simulated < $share and (.jobs[0] | .estimated.low_ps <= $full and $full <= .estimated.high_ps and
        (.finish_ps / $full - 1 | fabs) < 0.02 and .estimated.simulated_finish_ps < 0.6 * $full)' >/dev/null
}
steps() { # STATUS TEXT PATH: what marsconv says
    "$(dirname "$m")/marsconv" --steps "$3" >"$t/steps" 2>"$t/err"
    [ $? = "$1" ] && grep -qF "$2" "$t/steps"
}
