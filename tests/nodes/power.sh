#!/bin/bash
# Energy of cores, memory, adapters and links, by hand; the same on any number of ranks; what means nothing is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/one.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 4; controller_bandwidth = "30 GB/s"; power = { core_busy = 10.0; core_idle = 2.0; memory_byte = 50.0; }; };
jobs = ( { program = "stencil"; extents = [1]; steps = 1; compute_time = "1 us"; memory_bandwidth = "20 GB/s"; } );
power = { adapter_busy = 9.0; adapter_idle = 3.0; link_busy = 5.0; link_idle = 1.0; };
END
near() { # FOLDER NAME JOULES: to one part in 10^12
    jq -e --argjson want "$3" ".result.power.$2 - \$want | fabs <= 1e-12 * (\$want + 1e-12)" "$1/summary.json" >"$t/out" || { jq .result.power "$1/summary.json" >"$t/out"; false; }
}
# In 1 us one of 8 cores has work: 10 W and 7 x 2 W. It draws 20,000 bytes. 2 adapters and 4 directions of links are idle.
run -o "$t/one" "$t/one.cfg" && near "$t/one" cores_j 24e-6
check "cores"
near "$t/one" memory_j 1e-6 && near "$t/one" adapters_j 6e-6 && near "$t/one" links_j 4e-6 && near "$t/one" energy_j 35e-6 && near "$t/one" mean_w 35
check "memory, adapters and links that are idle, and the sum"
grep -q "^power  *35 W on average, 3.5e-05 J: cores 68.6 %" "$t/one/summary.txt"
check "and in the text"
run -o "$t/off" "$t/one.cfg" power.link_off=0.25 && near "$t/off" links_j 1e-6
check "links that are off"
# A message of 1,000 bytes in each direction takes 100 ns on each of the four directions.
run -o "$t/two" "$t/one.cfg" 'jobs=({program="pingpong";bytes="1000 B";steps=1;})' adapter.header="0 B" power.link_off=0.25 &&
    end=$(jq .result.simulated_time_ps "$t/two/summary.json") &&
    near "$t/two" links_j "$(jq -n "4 * (100000 * 5 + ($end - 100000)) / 1e12")" && near "$t/two" adapters_j "$(jq -n "2 * (100000 * 9 + ($end - 100000) * 3) / 1e12")"
check "links and adapters that are busy"
cat >"$t/net.cfg" <<'END'
topology = { kind = "torus"; extents = [3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 2; power = { core_busy = 10.0; memory_byte = 7.5; }; };
jobs = ( { program = "stencil"; extents = [3, 6]; steps = 4; compute_time = "3 us"; bytes = "3 kB"; tasks_per_node = 2; } );
power = { link_busy = 5.0; link_idle = 1.0; link_off = 0.125; adapter_idle = 0.3; };
END
all_alike "power" "$t/net.cfg"
mv "$t/one" "$t/1"
run -o "$t/simple" "$t/net.cfg" && sed 's/power = {[^}]*};//; /^power/d' "$t/net.cfg" >"$t/without.cfg" && run -o "$t/without" "$t/without.cfg" &&
    cmp <(cut -d, -f1-13 "$t/simple/tasks.csv") <(cut -d, -f1-13 "$t/without/tasks.csv")
check "tasks end when they end without"
run -o "$t/r" "$t/one.cfg" node.power.core_busy=-1
[ $? -eq 2 ] && grep -q "node.power.core_busy" "$t/err"
check "a power below 0 is refused"
run -o "$t/r" "$t/one.cfg" power.cores=1
[ $? -eq 2 ] && grep -q "power.cores" "$t/err"
check "a key that is none is refused"
