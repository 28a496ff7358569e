#!/bin/bash
# Compares marssim with curves of a cycle-accurate simulator: tools/compare-curves.sh [-t] CURVES.csv [PATTERN]
#
# Every row of CURVES whose "topology,traffic,routing,packet_flits,router_set" matches PATTERN (a regular expression,
# default: all) is simulated with the router made alike (docs/validation.md says how) and printed beside the reference.
# Then for each curve: latency at the lowest load, at the row nearest to half of saturation and at the last row below
# saturation, and saturation: the load at which latency is three times the one of the first row, by linear
# interpolation on both curves, or, where it does not get there (long links), the load accepted in overload (the
# highest, when the curve has no such row).
# -t: a test: only these rows; lines "ok" and "not ok". Allowed are 2 % at the lowest load, 5 % at half, 10 % at the
# last row and 3 % of saturation; what is known to be off further is with its bounds in the file misses.txt beside
# CURVES: curve|what|least|most, in percent.
#
# MARSSIM names the program (default ./marssim); SPAN_US (20) is the measured span, 1,000 packets per node and
# microsecond at full load; MATCHING is switch.matching (greedy); OVERRIDES are further KEY=VALUE for all runs.
set -u
test=0
[ "${1:-}" = -t ] && { test=1; shift; }
curves=${1:?usage: tools/compare-curves.sh [-t] CURVES.csv [PATTERN]}
pattern=${2:-.}
program=${MARSSIM:-./marssim}
span=${SPAN_US:-20}
matching=${MATCHING:-greedy}
dir=$(mktemp -d /tmp/marssim-curves-XXXXXX) || exit 1
trap 'rm -r "$dir"' EXIT

# One flit is 1,000 bytes at 1,000 bytes per cycle of 1 ns. Channels last 1 cycle, a switch R cycles. A packet of several flits there
# is a message of as many packets here, which keep one path and channel: flits of several take turns on a link, as there.
last() { echo "${1##*"_$2"}"; } # NAME LETTER: what follows it
extents() { local e=${1#hyperx_}; e=${e%_c*}; echo "${e//x/$2}"; } # NAME BETWEEN
topology() { # NAME: kind and extents; the fraction of uniform traffic that nodes send to themselves is 1/nodes
    case $1 in
    torus8x8) echo 'kind = "torus"; extents = [8, 8]; latency = "1 ns";' ;;
    mesh8x8) echo 'kind = "torus"; extents = [8, 8]; wrap = false; latency = "1 ns";' ;;
    fattree_k4n3) echo 'kind = "fat_tree"; down = [4, 4, 4]; up = [1, 4, 4]; latency = "1 ns";' ;;
    dragonfly_p2_72n) echo 'kind = "hierarchical"; groups = [4, 9]; nodes_per_switch = 2; latency = ["10 ns", "100 ns"];
                            node_latency = "1 ns";' ;;
    dragonfly1_p2_72n) echo 'kind = "dragonfly"; p = 2; a = 4; h = 2; arrangement = "absolute"; latency = "1 ns";' ;;
    slimfly_q*_p*) echo "kind = \"slim_fly\"; q = $(last "${1%_p*}" q); nodes_per_switch = $(last "$1" p); latency = \"1 ns\";" ;;
    polarfly_q*_p*) echo "kind = \"polarfly\"; q = $(last "${1%_p*}" q); nodes_per_switch = $(last "$1" p); latency = \"1 ns\";" ;;
    hyperx_*_c*) echo "kind = \"hyperx\"; extents = [$(extents "$1" ', ')]; nodes_per_switch = $(last "$1" c); latency = \"1 ns\";" ;;
    *) return 1 ;;
    esac
}

router() { # SET: channels, bytes per channel, speed-up, R, credit delay in cycles
    case $1 in
    ideal) echo 8 64000 2 2 0 ;;
    ideal_df) echo 2 256000 2 2 0 ;; # three channels, of which minimal routing uses two; detours: see algorithm
    ideal4_df) echo 2 256000 4 1 0 ;;
    std) echo 8 16000 1 3 1 ;;
    std3) echo 2 16000 1 3 1 ;; # likewise two of three
    *) return 1 ;;
    esac
}

traffic() { # NAME
    case $1 in
    uniform | transpose) echo "$1" ;;
    bad_dragon) echo adversarial ;;
    bitcomp) echo bit_complement ;;
    routerperm | randperm) echo "permutation\"; permutation_file = \"$(dirname "$(realpath "$curves")")/slimfly_q5_$1.txt" ;;
    *) return 1 ;;
    esac
}

algorithm() { # NAME TOPOLOGY: the group "routing"
    case $2,$1 in
    # minimal when hops x queue is least; one switch, 2 flits
    hyperx*,ugal) echo 'algorithm = "ugal"; selection = "credits"; credits = "port"; bias = "2 ns"; valiant = "any";' ;;
    *,dim_order | *,dor | *,min) echo 'algorithm = "minimal";' ;;
    *,nca) echo 'algorithm = "random";' ;;
    # via a switch drawn anywhere; 4 channels here (three there share one before and after the first link between groups)
    *,val | *,valiant) echo 'algorithm = "valiant"; valiant = "any";' ;;
    # minimal when the flits it finds ahead are at most twice those of the detour + 30; flits count from leaving until credited
    *,ugal) echo 'algorithm = "ugal"; valiant = "any"; weight = "double"; selection = "credits"; credits = "port"; bias = "30 ns";' ;;
    # on any graph: minimal when hops x queue is least; four random switches, no bias
    # one switch, minimal when the flits ahead are at most twice those of the detour
    *,ugal_T0) echo 'algorithm = "ugal"; valiant = "any"; weight = "double"; selection = "credits"; credits = "port"; bias = "0 ns";' ;;
    *,ugallnew) echo 'algorithm = "ugal"; candidates = 4; selection = "credits"; credits = "port"; bias = "0 ns";' ;;
    *) return 1 ;;
    esac
}

simulate() { # TOPOLOGY TRAFFIC ROUTING FLITS LOAD SET DRAIN: "accepted network-latency message-latency", latencies in cycles
    local channels buffer speedup cycles credit
    read -r channels buffer speedup cycles credit < <(router "$6")
    # detours need 4 channels here; two of them share what one class has there
    [[ $6 != std && $3 =~ ^(val|ugal)$ ]] && channels=4 buffer=$((buffer / 2))
    cat >"$dir/curve.cfg" <<END
topology: { $(topology "$1") bandwidth = "1000 GB/s"; };
routing: { $(algorithm "$3" "$1") $([ "$4" = 1 ] || echo 'pinning = "message";') };
switch: { channels = $channels; buffer = "$buffer B"; output_queue = "64000 B"; delay = "$cycles ns"; speedup = $speedup;
    credit_delay = "$credit ns"; arbitration = "round_robin"; matching = "$matching"; };
adapter: { packet_size = "1000 B"; header = "0 B"; };
traffic: { pattern = "$(traffic "$2")"; load = $5; size = "$(($4 * 1000)) B"; $([ "$2" = uniform ] && echo 'self = true;')
    arrival = "bernoulli"; slot = "1 ns"; };
run: { warmup = "5 us"; measure = "$span us"; drain = $7; };
output: { links = false; histograms = false; };
END
    "$program" --quiet -o "$dir/out" "$dir/curve.cfg" ${OVERRIDES:-} >&2 || return 1
    awk '/"mean": null/ && (in_net || in_total) {nothing = 1; exit}
         /"accepted_load"/ {a = $2 + 0} /"packet_latency_ps"/ {in_net = 1} /"message_latency_ps"/ {in_total = 1}
         /"mean"/ && in_net {net = $2 / 1000; in_net = 0} /"mean"/ && in_total {total = $2 / 1000; in_total = 0}
         END {if (nothing) exit 1; print a, net, total}' "$dir/out/summary.json"
}

# What marssim leaves out of its statistics, messages to oneself: they cross one switch, R + 3 + (F - 1) cycles.
# Uniform: one in as many as there are nodes; transpose: the diagonal's, 8 of 64 nodes.
self_share() { # TOPOLOGY TRAFFIC
    local q
    case $1,$2 in
    dragonfly*,uniform) echo 72 ;;
    slimfly_*,uniform) q=$(last "${1%_p*}" q); echo $((2 * q * q * $(last "$1" p))) ;;
    polarfly_*,uniform) q=$(last "${1%_p*}" q); echo $(((q * q + q + 1) * $(last "$1" p))) ;;
    hyperx_*,uniform) echo $(($(extents "$1" ' * ') * $(last "$1" c))) ;;
    *,uniform) echo 64 ;;
    *,transpose) echo 8 ;;
    *) echo 0 ;;
    esac
}

row() { # CSV fields: prints "curve|load|reference accepted, latency|accepted, latency"
    local cycles result drain=true
    [ "${10}" = stable ] || drain=false
    read -r _ _ _ cycles _ < <(router "$9")
    result=$(simulate "$1" "$2" "$3" "$4" "$5" "$9" "$drain") || return 1
    echo "$result" | awk -v n="$(self_share "$1" "$2")" -v p="$5" -v t="$((cycles + 3 + $4 - 1))" -v F="$4" \
        -v pattern="$2" -v name="$1 $2 $3 $4 $9$([ "$matching" = greedy ] || echo " $matching")" -v ra="$6" -v rl="$7" -v status="${10}" '{
        share = n ? 1 / n : 0
        accepted = $1 + p * share
        # saturated: a node that waits does not send to itself meanwhile; those on the diagonal never wait
        if (pattern == "uniform" && accepted > $1 / (1 - share)) accepted = $1 / (1 - share)
        latency = (1 - share) * (F > 1 ? $3 : $2) + share * t
        printf "%s|%s|%s|%s|%.5f|%.3f|%s\n", name, p, ra, rl, accepted, latency, status}'
}

# Rows of the reference that are to be run, of each curve in order of load.
select_rows() {
    tr -d '\r' <"$curves" | awk -F, -v test="$test" -v pattern="$pattern" 'NR > 1 && ($1 "," $2 "," $3 "," $4 "," $10) ~ pattern {
        name = $1 "," $2 "," $3 "," $4 "," $10
        if (!(name in n)) order[++curves] = name
        row[name, ++n[name]] = $0; load[name, n[name]] = $5; latency[name, n[name]] = $7; status[name, n[name]] = $11}
    END {
        for (c = 1; c <= curves; c++) {
            name = order[c]; knee = 0; half = 1
            for (i = 1; i <= n[name] && !knee; i++)
                if (latency[name, i] >= 3 * latency[name, 1]) knee = i
            if (!knee) knee = n[name] # saturation is then the load accepted at the last row
            for (i = 1; i <= n[name]; i++) {
                d = load[name, i] - load[name, knee] / 2; e = load[name, half] - load[name, knee] / 2
                if (d * d < e * e) half = i
            }
            for (i = last = 1; i <= n[name]; i++)
                if (latency[name, i] < 3 * latency[name, 1] && status[name, i] ~ /^stable/) last = i
            for (i = 1; i <= n[name]; i++)
                if (!test || i == 1 || i == half || i == last || i == knee || i == knee - 1 || i == n[name]) print row[name, i]
        }
    }'
}

report() { # the table, and what it comes to
    awk -F'|' -v test="$test" -v misses="$(dirname "$curves")/misses.txt" '
    BEGIN {
        while (test && (getline line < misses) > 0)
            if (split(line, m, "|") == 4) {least[m[1], m[2]] = m[3]; most[m[1], m[2]] = m[4]}
    }
    function knee(l, y, n, drained,   i) {
        for (i = 2; i <= n; i++)
            if (y[i] >= 3 * y[1] && (!drained || state[i - 1] ~ /^stable/))
                return l[i - 1] + (l[i] - l[i - 1]) * (3 * y[1] - y[i - 1]) / (y[i] - y[i - 1])
        return 0
    }
    function verdict(kind, where, here, there, limit,   off, low, high, good) {
        off = 100 * (here / there - 1)
        low = (name, kind) in least ? least[name, kind] : -limit
        high = (name, kind) in most ? most[name, kind] : limit
        good = off >= low && off <= high
        printf "%s%-38s %-16s %9.4f  reference %9.4f  %+.2f %%\n", test ? (good ? "ok " : "not ok ") : "", name,
            kind (where == "" ? "" : " " where), here, there, off
    }
    function flush_curve(   i, half, last, a, b) {
        if (!n) return
        a = knee(load, ref, n, 1); b = knee(load, own, n, 0)
        if (!a) {a = ref_accepted; b = own_accepted}
        if (!b) b = own_accepted > load[n] ? own_accepted : load[n] # at least
        for (half = last = i = 1; i <= n; i++) {
            if ((load[i] - a / 2) ^ 2 < (load[half] - a / 2) ^ 2) half = i
            if (ref[i] < 3 * ref[1] && state[i] ~ /^stable/) last = i
        }
        verdict("lowest load", "", own[1], ref[1], 2)
        verdict("half", load[half], own[half], ref[half], 5)
        verdict("last", load[last], own[last], ref[last], 10)
        verdict("saturation", "", b, a, 3)
        n = 0
    }
    $1 != name {flush_curve(); name = $1; if (!test) print "\n" name "\n   load  accepted  reference   latency reference  difference"}
    {
        n++; load[n] = $2; ref[n] = $4; own[n] = $6
        state[n] = $7
        if (n == 1 || $3 > ref_accepted || $7 ~ /overload/) ref_accepted = $3
        if (n == 1 || $5 > own_accepted || $7 ~ /overload/) own_accepted = $5
        if (!test) printf "%7.4f  %8.4f  %9.4f %9.2f %9.2f  %+8.2f %%  %s\n", $2, $5, $3, $6, $4, 100 * ($6 / $4 - 1), $7
        if ($7 ~ /overload/) n--
    }
    END {flush_curve()}'
}

select_rows | while IFS=, read -r t p r f load accepted latency _ _ set status; do
    row "$t" "$p" "$r" "$f" "$load" "$accepted" "$latency" "" "$set" "$status"
done | report
