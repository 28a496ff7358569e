#!/bin/bash
# What a run reads: tests/run/inputs.sh
#
# Ranks that read different files, or were given different words, end with status 2 and one message that names the file and both ranks;
# here they do so in different working directories. A configuration from a pipe is read by rank 0 and handed on. What is no regular file
# is refused at once, never read without end or waited for.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
traces=$PWD/tests/traces
cd "$work" || exit 2
seconds=60

apart() { # WORD...: rank 0 in folder a, ranks 1 and 2 in folder b
    bounded_mpirun $seconds -wdir a -n 1 sh -c 'exec "$0" "$@" 2>>../err' "$marssim" -q "$@" : \
        -wdir b -n 2 sh -c 'exec "$0" "$@" 2>>../err' "$marssim" -q "$@"
}

same() { # WORD...: nothing differs yet
    apart "$@"
    verdict "$([ $? -eq 0 ] || echo "exit status $?")" "the same on all ranks: $*"
}

differs() { # FILE WORD...: is the one that is not the same
    local file=$1 status
    shift
    apart "$@"
    status=$?
    verdict "$([ $status -eq 2 ] || echo "exit status $status"
        [ "$(grep -c '^marssim: error: ' err)" -eq 1 ] || echo "not one message"
        grep -q "^marssim: error: $file: is not the same on all ranks: .* on rank 0 (.*), .* on rank [12] (.*)\$" err || echo "does not name $file")" \
        "$file differs: $*"
}

mkdir a b
printf 'switch s\nswitch t\nlink s t 10ns 1GB/s\nnode a s 10ns 1GB/s\nnode b t 10ns 1GB/s\n' >a/net.txt
sed 's/node a/node c t 10ns 1GB\/s\n&/' a/net.txt >other.txt
cat >a/net.cfg <<'END'
topology: { kind = "file"; file = "net.txt"; };
@include "traffic.inc"
partition: { oversubscribe = true; };
END
echo 'traffic: { pattern = "uniform"; load = 0.1; size = "64 B"; messages = 3; };' >a/traffic.inc
echo 'link 0 1 2' >a/weights.txt
cat >a/star.cfg <<'END'
topology: { kind = "star"; nodes = 8; bandwidth = "10 GB/s"; latency = "100 ns"; };
jobs: ( { program = "trace"; trace = "trace"; placement = "file"; placement_file = "places.txt"; } );
partition: { oversubscribe = true; };
END
seq 0 7 >a/places.txt
mkdir a/trace
cp "$traces"/npb-is.S-8/* a/trace
again() {
    rm -rf b
    cp -r a b
}

again && same net.cfg
again && sed -i 's/net.txt/.\/net.txt/' b/net.cfg && differs net.cfg net.cfg
again && sed -i 's/0.1/0.2/' b/traffic.inc && differs net.cfg net.cfg
again && cp other.txt b/net.txt && differs net.txt net.cfg
again && echo garbage >b/net.txt && differs net.txt net.cfg
again && same net.cfg routing.algorithm=shortest routing.weights=file routing.weight_file=weights.txt
again && echo 'link 0 1 3' >b/weights.txt && differs weights.txt net.cfg routing.algorithm=shortest routing.weights=file routing.weight_file=weights.txt
(cd a && "$marssim" -q --write-table=table.txt net.cfg)
again && same net.cfg routing.algorithm=table routing.table=table.txt
again && echo '# another' >>b/table.txt && differs table.txt net.cfg routing.algorithm=table routing.table=table.txt
again && same star.cfg
again && seq 7 -1 0 >b/places.txt && differs places.txt star.cfg
one=$(cd a/trace && echo *-3.txt*)
again && { case $one in
*.zst) zstd -qdc "a/trace/$one" | sed '5s/^/# \n/' | zstd -qfo "b/trace/$one" ;;
*) sed -i '5s/^/# \n/' "b/trace/$one" ;;
esac; } && differs trace star.cfg # one rank reads it for all, but all see its size
again && rm b/trace/*-7.txt* && differs trace star.cfg
if [ -x "${marssim%/*}/marsconv" ]; then
    "${marssim%/*}/marsconv" --to mars a/trace a/own
    again && same star.cfg 'jobs[0].trace="own"'
    rm -r b/own
    "${marssim%/*}/marsconv" --to mars --cut time=:5ms a/trace b/own 2>/dev/null
    differs own star.cfg 'jobs[0].trace="own"'
    rm -r a/own
fi

bounded_mpirun $seconds -n 1 sh -c 'cd a; exec "$0" "$@" 2>>../err' "$marssim" -q net.cfg : \
    -n 1 sh -c 'cd a; exec "$0" "$@" 2>>../err' "$marssim" -q star.cfg
verdict "$([ $? -eq 2 ] || echo status; grep -q '^marssim: error: command line: is not the same on all ranks: "marssim .* net.cfg" on rank 0 .*star.cfg" on rank 1' err || echo text)" \
    'each rank another configuration'

# ---- a configuration from a pipe ----

for ranks in 1 2 3; do
    (cd a && timeout -k 5 $seconds mpirun -n $ranks "$marssim" -q -o "../ranks$ranks" /dev/stdin <net.cfg) >out 2>err
    verdict "$([ $? -eq 0 ] || echo refused; cmp -s ranks1/links.csv ranks$ranks/links.csv || echo 'other results')" "standard input on $ranks ranks"
done
mkfifo a/pipe
{ sed 's/kind/kinds/' a/net.cfg >a/pipe & } 2>/dev/null
(cd a && timeout -k 5 $seconds mpirun -n 2 "$marssim" -q pipe) >out 2>err </dev/null
verdict "$([ $? -eq 2 ] || echo status; grep -q '^marssim: error: pipe:1: topology.kinds: unknown key' err || echo text)" 'a mistake in a named pipe'
(cd a && "$marssim" -q <(cat net.cfg)) >out 2>err
verdict "$([ $? -eq 0 ] || echo refused)" 'process substitution on one rank'

# ---- no regular files ----

truncate -s 100G a/huge
for file in /dev/zero /dev/null pipe . huge; do
    what='is no regular file'
    [ $file = . ] && what='is a folder; a file is expected'
    [ $file = huge ] && what='is larger than the limit of 4 GiB'
    for words in "topology.file=$file" "routing.algorithm=table routing.table=$file" "partition.method=file partition.file=$file" \
        "routing.algorithm=shortest routing.weights=file routing.weight_file=$file"; do
        # shellcheck disable=SC2086
        (cd a && timeout -k 5 10 "$marssim" -q net.cfg $words) >out 2>err </dev/null
        verdict "$([ $? -eq 2 ] || echo status; grep -q "^marssim: error: .*$what" err || echo text)" "$words"
    done
    (cd a && timeout -k 5 10 "$marssim" -q star.cfg "jobs[0].placement_file=$file") >out 2>err </dev/null
    verdict "$([ $? -eq 2 ] || echo status; grep -q "^marssim: error: .*$what" err || echo text)" "placement_file=$file"
done
rm a/trace/"$one"
for make in 'mkfifo' 'mkdir' 'ln -s /dev/zero'; do
    $make "a/trace/$one"
    (cd a && timeout -k 5 10 "$marssim" -q star.cfg) >out 2>err </dev/null
    verdict "$([ $? -eq 2 ] || echo status; grep -qE "^marssim: error: .*$one: is (no regular file|a folder)" err || echo text)" "$make $one"
    rm -rf "a/trace/$one"
done

# ---- pipes as traces, and in folders of them ----

marsconv=$(dirname "$marssim")/marsconv
mkdir -p a/p/d a/p/mars a/p/otf2/traces a/p/otf2e/traces a/p/all
mkfifo a/p/{plain,x.mars,x.goal,x.ti,x.otf2,x.dim,x.driven} a/p/mars/0.mars a/p/mars/{0,task-0.mars,run.mars} a/p/otf2/traces.otf2 \
    a/p/otf2e/traces/0.evt a/p/otf2e/traces.def a/p/all/pmpi-trace-rank-0.txt
printf '\0\0OTF2 is no more than its first bytes' >a/p/otf2e/traces.otf2
printf 'x.ti\n' >a/p/list.txt
piped() { # NAME COMMAND...: exit status 1 or 2 with a message, and no waiting
    local status
    (cd a && timeout -k 5 10 "${@:2}") >out 2>err </dev/null
    status=$?
    verdict "$([ $status -eq 2 ] || [ $status -eq 1 ] || echo "exit status $status"; grep -q 'error: .' err || grep -q 'marsconv: .' err || echo text)" "$1"
}
for trace in a/p/*; do
    trace=${trace#a/}
    for format in auto mars liballprof goal simgrid otf2 dimemas driven; do
        piped "trace $trace as $format" "$marssim" -q star.cfg "jobs[0].trace=$trace" "jobs[0].format=$format"
    done
    [ -x "$marsconv" ] || continue
    piped "marsconv --stats $trace" "$marsconv" --stats "$trace"
    piped "marsconv --check $trace" "$marsconv" --check "$trace"
    piped "marsconv $trace" "$marsconv" "$trace" -o converted
done
mkdir a/p/saved && mkfifo a/p/saved/index
printf '@include "p/plain"\n' >a/including.cfg
for words in "star.cfg node.noise.kind=file node.noise.file=p/plain" "star.cfg node.hwloc=p/plain" "net.cfg topology.kind=fabric topology.latency=1ns topology.bandwidth=1GB/s topology.file=p/plain" \
    "net.cfg plugins=p/plain" "--resume p/saved" "including.cfg" \
    "net.cfg traffic.pattern=permutation traffic.permutation_file=p/plain"; do
    # shellcheck disable=SC2086
    piped "$words" "$marssim" -q $words
    grep -q 'is no regular file' err
    check "which is what it says"
done

# ---- names that would break lines ----

printf 'topology: { kind = "star"; nodes = 4; bandwidth = "1 GB/s"; latency = "1 us"; }; jobs = ({ program = "stencil"; extents = [4]; name = "a\\nb"; });' >a/name.cfg
refused '^marssim: error: a/name.cfg:1: jobs\[0\].name: holds the control character 0x0a' a/name.cfg
check "a line's end in a name is refused"
refused '^marssim: error: command line: jobs\[0\].name\|word [0-9]* of it holds a control character$' a/star.cfg $'jobs[0].name="a\tb"'
check "on the command line, too"
