#!/bin/bash
# OpenSM's tables with service levels and virtual lanes: dumps that were captured from a ring of six switches routed by LASH, and, where
# OpenSM and a simulated subnet are installed, the whole chain with several engines.
set -u
cd "$(dirname "$0")/../.." || exit 2
marssim=${MARSSIM:?is not set; run the tests by make check}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

result() { # STATUS NAME
    if [ "$1" -eq 0 ]; then echo "ok $2"; else echo "not ok $2"; fi
}

config() { # FABRIC TABLE
    cat <<END
topology: { kind = "fabric"; file = "$1"; latency = "100 ns"; };
routing: { algorithm = "table"; table = "$2"; };
traffic: { pattern = "uniform"; load = 0.9; };
run: { end = "100 us"; };
END
}

says() { # PART NAME FILE WORD...: the program's output with these words has this part
    local part=$1 name=$2 file=$3
    shift 3
    "$marssim" "$file" "$@" >"$work/log" 2>&1
    grep -qF -- "$part" "$work/log"
    result $? "$name"
    grep -qF -- "$part" "$work/log" || sed 's/^/# /' "$work/log"
}

ring=$PWD/tests/routing/fabrics/ring-lash
config "$ring.ibnetdiscover" "$ring.lfts" >"$work/ring.cfg"
lanes="routing.path_sl=$ring.path-sl routing.sl2vl=$ring.sl2vl"

# Shortest paths round a ring of six wait for each other in a circle; on the three lanes of LASH they do not.
says 'can deadlock' "without service levels the ring can deadlock" "$work/ring.cfg" --check
# shellcheck disable=SC2086 # two words
says 'channels   3 needed' "LASH has three lanes on the ring" "$work/ring.cfg" --check $lanes
# shellcheck disable=SC2086
says 'deadlock   none' "and they are free of deadlock" "$work/ring.cfg" --check $lanes
# shellcheck disable=SC2086
says 'needs 3 virtual channels' "two channels are too few" "$work/ring.cfg" --check $lanes switch.channels=2
says 'deadlock   none' "without sl2vl lane n is of level n" "$work/ring.cfg" --check "routing.path_sl=$ring.path-sl"

# The same from the other form of the levels.
awk -F'\\.+' '/^dlid/ { to = $2 } /^slid/ { from = $2 } /^sl\./ { level[from, to] = substr($2, 3); lids[from] }
    END { for (from in lids) { printf "Channel Adapter 0x%016x, base LID %d, \"H\", port 1\n# LID  : SL : MTU : RATE\n", from, from
          for (to in lids) if (from != to) printf "0x%04X : %-2d : 4   : 3   \n", to, level[from, to]
          print "0x00FF : UNREACHABLE\n" } }' "$ring.path-sl" >"$work/records"
says 'channels   3 needed' "opensm-path-records.dump" "$work/ring.cfg" --check "routing.path_sl=$work/records" "routing.sl2vl=$ring.sl2vl"

# What is wrong is refused.
sed '0,/^0x/{/^0x/d}' "$work/records" >"$work/few"
says 'pairs of nodes have no service level here; the first is from' "missing levels" "$work/ring.cfg" --check "routing.path_sl=$work/few"
sed '0,/ : 1  : /s// : 16 : /' "$work/records" >"$work/high"
says 'service level 16: they are 0 to 15' "a level that does not exist" "$work/ring.cfg" --check "routing.path_sl=$work/high"
echo nonsense >"$work/none"
says 'none:1: "nonsense" is no line of' "levels that are none" "$work/ring.cfg" --check "routing.path_sl=$work/none"
says 'none:1: a line reads: port in' "lanes that are none" "$work/ring.cfg" --check "routing.path_sl=$ring.path-sl" "routing.sl2vl=$work/none"
sed 's/^1   2   : 0  1  2 /1   2   : 0  15 2 /' "$ring.sl2vl" >"$work/manager"
says 'has no virtual lane for it from port 1 to port 2' "packets on the manager's lane" "$work/ring.cfg" --check \
    "routing.path_sl=$ring.path-sl" "routing.sl2vl=$work/manager"
says 'routing.sl2vl' "lanes without levels" "$work/ring.cfg" --check "routing.sl2vl=$ring.sl2vl"

# The same bits on any number of ranks, under full load from end to end.
for variant in "1 forward" "2 shuffled" "3 backward" "5 shuffled"; do
    ranks=${variant% *}
    # shellcheck disable=SC2086
    mpirun -n "$ranks" "$marssim" -q -o "$work/out$ranks" "$work/ring.cfg" $lanes "engine.cell_order=${variant#* }" \
        partition.oversubscribe=true >"$work/log" 2>&1 || sed 's/^/# /' "$work/log"
    cmp -s "$work/out1/links.csv" "$work/out$ranks/links.csv"
    result $? "the same bits on $ranks ranks, cells $variant"
done

# The chain.
for command in ibsim opensm ibnetdiscover python3; do
    command -v "$command" >/dev/null && continue
    echo "SKIP: $command is not installed (tools/install-deps.sh opensm), so OpenSM is not run"
    exit 0
done
chain() { # NET ENGINE PART OPTION...
    local net=$1 engine=$2 part=$3 more=""
    shift 3
    tools/run-opensm "$net" "$engine" "$work/$engine" "$@" 2>"$work/log" || sed 's/^/# /' "$work/log"
    config "$work/$engine/fabric.ibnetdiscover" "$work/$engine/fabric.lfts" >"$work/chain.cfg"
    [ ! -e "$work/$engine/fabric.sl2vl" ] ||
        more="routing.path_sl=$work/$engine/fabric.path-sl routing.sl2vl=$work/$engine/fabric.sl2vl"
    # shellcheck disable=SC2086
    says "$part" "OpenSM's $engine, as it is dumped here and now" "$work/chain.cfg" --check $more
}
chain tests/routing/fabrics/tree.net ftree 'deadlock   none'
chain tests/routing/fabrics/tree.net updn 'deadlock   none'
chain tests/routing/fabrics/ring.net minhop 'can deadlock'
chain tests/routing/fabrics/ring.net lash 'deadlock   none' -Q
chain tests/routing/fabrics/ring.net dfsssp 'deadlock   none' -Q

# Larger networks, made of their links; what an engine cannot route is refused, and not routed by another.
net() { # a net file from lines of two names each, those that begin with H are hosts
    awk '{ for (i = 1; i <= 2; i++) { other = $(3 - i); if (!n[$i]++) name[++names] = $i; to[$i, n[$i]] = other; port[$i, n[$i]] = n[other] + (i == 1) } }
        END { for (k = 1; k <= names; k++) { x = name[k]; print (x ~ /^H/ ? "Hca " : "Switch ") n[x] " \"" x "\""
              for (i = 1; i <= n[x]; i++) print "[" i "] \"" to[x, i] "\"[" port[x, i] "]"; print "" } }'
}
refuses() { # NAME NET ENGINE WORDS
    cp -r tests/routing/fabrics "$work/stale"
    touch "$work/stale/fabric.lfts"
    ! tools/run-opensm "$2" "$3" "$work/stale" -Q 2>"$work/log" && grep -q "$3 does not route this network" "$work/log" &&
        grep -q "$4" "$work/log" && [ ! -e "$work/stale/fabric.lfts" ]
    result $? "$1"
    rm -rf "$work/stale"
}
awk 'BEGIN { n = 8; for (x = 0; x < n; x++) for (y = 0; y < n; y++) { print "S" x "_" y, "H" x "_" y
    print "S" x "_" y, "S" (x + 1) % n "_" y; print "S" x "_" y, "S" x "_" (y + 1) % n } }' | net >"$work/torus.net"
awk 'BEGIN { for (g = 0; g < 9; g++) for (a = 0; a < 4; a++) { s = g * 4 + a; print "S" s, "H" 2 * s; print "S" s, "H" 2 * s + 1
    for (b = a + 1; b < 4; b++) print "S" s, "S" g * 4 + b }
    for (g = 0; g < 9; g++) for (k = g + 1; k < 9; k++) print "S" g * 4 + int((k - 1) / 2), "S" k * 4 + int(g / 2) }' | net >"$work/dragonfly.net"
refuses "updn on a torus" "$work/torus.net" updn 'no root nodes were found'
refuses "ftree on a dragonfly" "$work/dragonfly.net" ftree 'more than one root'
refuses "an engine that does not exist" tests/routing/fabrics/ring.net nonsense 'nonsense'
# With an options file for quality of service: its tables are in force at the ports, marssim takes them from the file, and the lanes stay free of deadlock.
{ echo 'qos TRUE'; echo 'qos_max_vls 8'; echo 'qos_high_limit 0'; echo 'qos_vlarb_high 1:192,2:64'; echo 'qos_vlarb_low 0:64,1:64,2:32,3:64,4:255,5:1,6:64,7:64'
  echo 'qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7'; } >"$work/opensm.conf"
served() { # NET
    chain "$1" lash 'deadlock   none' -Q -F "$work/opensm.conf"
    awk 'function hex(text, i, n) { for (i = 3; i <= length(text); i++) if (substr(text, i, 1) != " ") n = 16 * n + index("123456789ABCDEF", toupper(substr(text, i, 1))); return n + 0 }
        /^# Low/ { low = 1 } /^# High/ { low = 0 } /^VL / { n = split($0, lane, "|") }
        /^WEIGHT/ { split($0, weight, "|"); text = ""; for (i = 2; i < n; i++) if (hex(weight[i])) text = text (text ? "," : "") hex(lane[i]) ":" hex(weight[i])
            print (low ? "qos_vlarb_low " : "qos_vlarb_high ") text }' "$work/lash/fabric.vlarb" | sort -u | diff - <(grep vlarb "$work/opensm.conf" | sort) >"$work/log"
    result $? "the options file's tables are in force at the ports"
    says 'busiest links' "and a run takes them" "$work/chain.cfg" routing.path_sl="$work/lash/fabric.path-sl" routing.sl2vl="$work/lash/fabric.sl2vl" switch.lanes=vl \
        switch.vl_file="$work/opensm.conf" run.end=10us -o "$work/served"
    says 'busiest links' "from what smpquery prints, too" "$work/chain.cfg" routing.path_sl="$work/lash/fabric.path-sl" routing.sl2vl="$work/lash/fabric.sl2vl" switch.lanes=vl \
        switch.vl_file="$work/lash/fabric.vlarb" run.end=10us -o "$work/ports"
}
PORTS=all served tests/routing/fabrics/ring.net
cmp -s "$work/served/links.csv" "$work/ports/links.csv" # the simulator keeps limits at 0
result $? "which is the same at all ports"
served "$work/torus.net"
served "$work/dragonfly.net"
chain "$work/dragonfly.net" minhop 'can deadlock'
