#!/bin/bash
# The tracer on real programs: tests/tools/tracer.sh
#
# Small programs of tests/tools/tracer/ are compiled and run under mpirun and marstrace; their traces must say what the programs did.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace
cd "$work" || exit 2

mpicc -O1 -o ring "$top/tests/tools/tracer/ring.c" >err 2>&1
check "the program is built"

# ---- the whole way ----

mpirun -n 3 "$marstrace" -o t --profile ./ring 5 >err 2>&1
check "three tasks are traced"
"$marstrace" --list t >list 2>err
# 5 passes of Irecv, Isend, Waitall, Allreduce; Init, rank, size, split, free, Finalize
[ "$(grep -c '^[012]\.0 ' list)" -eq $((3 * (5 * 4 + 6))) ]
check "every call is there"
[ "$(grep -c 'MPI_Isend .* bytes=2048 .* dest=1 tag=7 comm=1 request=2$' list)" -eq 5 ]
check "task 0 sends to task 1"
# The receive is of any source and is answered by the left neighbour; the send is none.
[ "$(grep -c '^1\.0 .*MPI_Waitall .*requests=\[1,2\] done=\[0,0,7,2048,1,-5,0,0\]$' list)" -eq 5 ]
check "the source that a wildcard found"
cut -d, -f1-4 t/profile.csv | sort >counted
profile_of t 2>err | cut -d, -f1-4 | sort >read
cmp counted read >err 2>&1 && grep -q '^2,MPI_Isend,5,10240$' read
check "the trace has the calls and bytes that were counted"
ends 2 'that is a trace: marsconv --stats' "$marstrace" --profile t
check "a trace is profiled by marsconv"

"$marstrace" --merge t -o t.mars 2>err && "$marstrace" --list t.mars 2>>err | cmp - list >>err 2>&1
check "merged, it says the same"

# ---- what is cut, or dies ----

head -c $(($(stat -c %s t.mars) - 20)) t.mars >cut.mars
"$marstrace" --list cut.mars 2>err | cmp -s - list && grep -q 'it was cut' err
check "without its index it is read, with a warning"
# Open MPI 4.1 may itself hang when a task is killed.
timeout -k 5 40 mpirun -n 3 "$marstrace" -o dead ./ring 2000 1 >err 2>&1
"$marstrace" --list dead >list 2>err
grep -q 'task 1 did not come to its end' err && [ "$(grep -c '^1\.0 .*MPI_Isend' list)" -eq 2000 ]
check "a killed task leaves all it did"
[ ! -s err ] || sed -i '/did not come to its end/d' err

# ---- clocks, regions, threads ----

mpicc -O1 -o phases "$top/tests/tools/tracer/phases.c" >err 2>&1 &&
    mpicc -O1 -rdynamic -o late "$top/tests/tools/tracer/phases.c" "$top/tests/tools/tracer/late.c" -ldl >>err 2>&1 && mpicc -O1 -o threads "$top/tests/tools/tracer/threads.c" -lpthread >>err 2>&1 &&
    mpicc -O1 -o born "$top/tests/tools/tracer/born.c" -lpthread >>err 2>&1
check "programs for them are built"
# Against the clock that the tasks read themselves in the same run: how fast a busy machine computes decides nothing.
computed() { # TASKS PROGRAM: CPU time of the computations by the trace, and by the tasks, agree within 10 %
    mpirun -n "$1" "$marstrace" -o t ./"$2" 40000000 >own 2>err0 && "$marstrace" --list t >list 2>err &&
        awk 'FNR == NR { own += $1; next } /MPI_(Allreduce|Barrier)/ { for (i = 4; i <= NF; i++) {
            if ($i ~ /^gap=/) sum += substr($i, 5); if ($i ~ /^away=/) sum -= substr($i, 6) } }
            END { print sum " ns by the trace, " own " by the tasks"; exit !(own > 0 && sum > 0.9 * own && sum < 1.1 * own) }' own list >err
}
computed 2 phases && computed 8 phases
check "the CPU time of computations, on few tasks and on many"
computed 2 born && MARSTRACE_NO_RSEQ=1 computed 2 born
check "and of threads before their first call"
awk 'FNR == NR { own += $1; next } sub(/^[01] other_threads_ns=/, "") { sum += $0 } END { print sum, own; exit !(sum > 0.9 * own && sum < 1.1 * own) }' own list >out &&
    grep -q 'task 0: threads that do not call MPI, or no more, ran for' err0
check "what they compute behind the last one is told"
MARSTRACE_NO_RSEQ=1 computed 4 late && computed 4 late
check "and of threads that lose the processor while the clocks are read"
"$marstrace" --list t | grep -q '^0 clock=rseq$' && MARSTRACE_NO_RSEQ=1 mpirun -n 2 "$marstrace" -o t ./phases >err 2>&1 &&
    "$marstrace" --list t | grep -q '^0 clock=read$'
check "the trace says how CPU time was taken"
GLIBC_TUNABLES=glibc.pthread.rseq=0 mpirun -n 2 "$marstrace" -o t ./phases >out 2>err && [ "$("$marstrace" --list t | grep -c '^[01] clock=read$')" -eq 2 ] &&
    [ "$(grep -c 'the CPU clock is read at each call' err)" -eq 1 ]
check "and what that costs is told once"
if chrt -f 1 true 2>err; then
    mpirun -n 2 chrt -f 1 "$marstrace" -o t ./phases >out 2>err && [ "$("$marstrace" --list t | grep -c '^[01] clock=rseq$')" -eq 2 ] && [ ! -s err ]
    check "it is taken so under real-time scheduling, too"
fi
if grep -qs '^tsc$' /sys/devices/system/clocksource/clocksource0/current_clocksource && grep -qs 'constant_tsc.*nonstop_tsc' /proc/cpuinfo; then
    # Half a second of computation, of which a rate that is off by 20 ppm would lose 10 us.
    mpirun -n 2 "$marstrace" -o t ./phases 40000000 >err 2>&1 && "$marstrace" --list t >err &&
        awk '/^[01] tsc_hz=/ { rates++ } /^[01] tsc_off_ns=/ { sub(/.*=/, ""); off += ($0 + 0 > -100000 && $0 + 0 < 100000) } END { exit rates != 2 || off != 2 }' err
    check "the processor's counter keeps time"
    MARSTRACE_NO_TSC=1 mpirun -n 2 "$marstrace" -o t ./phases >err 2>&1 && ! "$marstrace" --list t | grep -q tsc_
    check "without it the system's clock does"
fi

region() { # EXPECTED OPTION: the calls between Init and Finalize, the same at both tasks
    mpirun -n 2 "$marstrace" --region "$2" -o t ./phases >err 2>&1
    # shellcheck disable=SC2086 # an empty list of calls is no word
    for task in 0 1; do
        [ "$("$marstrace" --list t | sed -n "s/^$task\.0 [0-9]* MPI_\([A-Za-z]*\).*/\1/p" | xargs)" = "$(echo Init $1 Finalize)" ] || return 1
    done
}
region "Pcontrol Allreduce Barrier Allreduce Pcontrol" pcontrol
check "a region by MPI_Pcontrol"
region "Allreduce Barrier" 9-10
check "a region by number of collectives"
region "Barrier Allreduce Barrier Allreduce Barrier" MPI_Barrier:8-
check "a region by number of a function's calls"
region "" 3600s-
check "a region by time"
mpirun -n 2 "$marstrace" -o t ./threads >err 2>&1
[ "$("$marstrace" --list t | grep -c '^1\.0 .*MPI_Isend.*tag=0 comm=3')" -eq 500 ] &&
    [ "$("$marstrace" --list t | grep -c '^1\.1 .*MPI_Isend.*tag=1 comm=4')" -eq 600 ]
check "threads are streams of their own"

# ---- polls: what is asked again is not looked up again ----

polled() { # MPICC MPIRUN: each test, how often it found nothing, and the numbers of what it was asked
    "$1" -O1 -w -o polls "$top/tests/tools/tracer/polls.c" -lpthread >err 2>&1 && "$2" -n 1 "$marstrace" -o t --profile ./polls >err 2>&1 &&
        "$marstrace" --list t | sed -n 's/^0\.0 [0-9]* //; T; s/ \(gap\|away\|time\|rest\)=[0-9]*//g; p' >got &&
        diff "$top/tests/tools/tracer/polls.txt" got >>err 2>&1 && cut -d, -f1-4 t/profile.csv | sort >counted &&
        profile_of t 2>err | cut -d, -f1-4 | sort | cmp counted - >>err 2>&1
}
polled mpicc mpirun
check "tests that find nothing, and then something"
if [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
    polled mpicc.mpich mpirun.mpich
    check "and under MPICH"
fi

# ---- calls that do not return ----

# Not under MPICH, whose UCX ends the program then.
mpicc -O1 -o jump "$top/tests/tools/tracer/jump.c" >err 2>&1 && timeout 60 mpirun -n 2 "$marstrace" -o t --profile ./jump >err 2>&1 &&
    [ "$(grep -c 'MPI_Recv was left by longjmp' err)" -eq 2 ] && "$marstrace" --list t |
    sed -n 's/^1\.0 [0-9]* //; T; /MPI_Test /d; s/ \(gap\|away\|time\|buffer\|recvbuffer\)=[0-9]*//g; p' >got && diff "$top/tests/tools/tracer/jump.txt" got >>err 2>&1
check "calls left by a signal's handler or a callback, and what follows"
printf 'topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "1 us"; };\njobs: ( { program = "trace"; trace = "t"; } );\n' >jump.cfg &&
    "$marssim" -q -o jumped jump.cfg >err 2>&1
check "which can be replayed"
mpicxx -O1 -o thrown "$top/tests/tools/tracer/thrown.cc" >err 2>&1 && mpirun -n 2 "$marstrace" -o t ./thrown >err 2>&1 &&
    [ "$("$marstrace" --list t | grep -c '^[01]\.0 .*MPI_\(Reduce_local .*error=-1\|Barrier\|Finalize\)')" -eq 6 ]
check "a call left by an exception"

# Most of these tests are counted without looking at the clock: their number and the time of all is right, and computation between them.
mpicc -O1 -o waiting "$top/tests/tools/tracer/waiting.c" >err 2>&1 && mpirun -n 1 "$marstrace" -o t ./waiting >own 2>err && "$marstrace" --list t >list 2>>err &&
    awk 'FNR == NR { polls[NR] = $1; computed[NR] = $2; wall[NR] = $3; next }
        / MPI_Get_version / { way++; next }
        way && /^0\.0 .* MPI_/ { gap = rest = time = 0; n = 1
            for (i = 4; i <= NF; i++) { split($i, word, "="); if (word[1] == "gap") gap = word[2]; if (word[1] == "rest") rest = word[2]
                if (word[1] == "away") gap -= word[2]; if (word[1] == "time") time = word[2]; if (word[1] == "polls") n = word[2]
                if ($i ~ /^away=/) time += word[2] }
            all[way] += gap + rest + time; own[way] += gap + rest; if (/ flag=0( |$)/ || / MPI_Testsome /) made[way] += n }
        END { for (w = 1; w <= 5; w++) {
            print w, made[w], polls[w], all[w], wall[w], own[w], computed[w]
            bad += made[w] != polls[w] || all[w] > 1.01 * wall[w] + 1e5 || all[w] < 0.9 * wall[w] - 5e6
            bad += computed[w] && (own[w] > 1.1 * computed[w] || own[w] < 0.9 * computed[w]) }
            exit bad > 0 }' own list >err
check "polls that are not timed: their number, all time, and the computation between them"
fortran_polled() { # MPIF90 MPIRUN MODULE [SED]: what was found, and how many polls found nothing before
    "$1" -O1 -cpp -DWAY="$3" $([ "$3" = mpi ] || echo -DF08) -o waiting-f "$top/tests/tools/tracer/waiting.f90" >err 2>&1 &&
        timeout 100 "$2" -n 1 "$marstrace" -o t --profile ./waiting-f >err 2>&1 && "$marstrace" --list t | sed -n 's/^0\.0 [0-9]* //; T
            s/ \(gap\|away\|time\|rest\)=[0-9]*//g; /MPI_\(Test\|Iprobe\|Wait\)/p' >got && diff <(sed "${4-}" "$top/tests/tools/tracer/waiting.txt") <(sed "${4-}" got) >>err 2>&1 &&
        cut -d, -f1-4 t/profile.csv | sort >counted && profile_of t 2>err | cut -d, -f1-4 | sort | cmp counted - >>err 2>&1
}
if command -v mpif90 >/dev/null; then
    fortran_polled mpif90 mpirun mpi && fortran_polled mpif90 mpirun mpi_f08
    check "polls that are not timed, in Fortran"
fi
if [ -e "${marstrace%/*}/libmarstrace-mpich.so" ] && command -v mpif90.mpich >/dev/null; then
    fortran_polled mpif90.mpich mpirun.mpich mpi && fortran_polled mpif90.mpich mpirun.mpich mpi_f08 's/ requests=.*//' # which ones its mpi_f08 does not say (docs/tracer.md)
    check "and under MPICH"
fi

# ---- files and counters ----

mpicc -O1 -o posix "$top/tests/tools/tracer/posix.c" >err 2>&1 && mpirun -n 2 "$marstrace" --io -o t ./posix >err 2>&1 &&
    "$marstrace" --list t | sed -n 's/^0\.0 [0-9]* //; T; s/ \(gap\|away\|time\)=[0-9]*//g; s/posix-[0-9]*/posix/; p' >got &&
    diff "$top/tests/tools/tracer/posix.txt" got >>err 2>&1
check "files of POSIX with --io"
# Where random datatypes of views have their bytes, as the trace has it, and as MPI_Pack does.
mpicc -O1 -o maps "$top/tests/tools/tracer/maps.c" >err 2>&1 && mpirun -n 1 "$marstrace" -o t ./maps "$PWD/maps.data" >wanted 2>err &&
    "$marstrace" --list t | awk '/ map of datatype [0-9]*:/ && !/: 1 at 0$/ { at = 0; sum = 0
        for (i = 6; i <= NF; ) { bytes = $i; from = $(i + 2); i += 3; count = outer = 1; by = wide = 0
            if ($i == "x") { count = $(i + 1); by = $(i + 3); i += 4 }
            if ($i == "x") { outer = $(i + 1); wide = $(i + 3); i += 4 }
            for (o = 0; o < outer; o++) for (c = 0; c < count; c++) for (b = 0; b < bytes; b++) sum += ++at * (from + o * wide + c * by + b) }
        printf "%.0f %d\n", sum, at }' >got && grep -v '^0 1$' wanted | diff - got >>err 2>&1 && [ "$(wc -l <got)" -gt 150 ]
check "maps of datatypes"
# The stand-in counts 1000 and 7 each time it is read: when a call begins and when it is over. Up to MPI_Pcontrol(0).
gcc -shared -fPIC -o papi.so "$top/tests/tools/tracer/papi.c" >err 2>&1 &&
    MARSTRACE_PAPI=$PWD/papi.so MARSTRACE_COUNTERS=PAPI_TOT_INS,PAPI_L3_TCM mpirun -n 2 "$marstrace" -o t ./phases >err 2>&1
[ "$("$marstrace" --list t | grep -c '^1\.0 .* counted=1000,7 .*comm=1$')" -eq 8 ]
check "hardware counters of computations, by a stand-in for PAPI"

# ---- each family of MPI, both libraries, both languages ----

calls() { # FOLDER [FORTRAN]: the calls of task 0 without times, and without what is up to chance (there: pages)
    "$marstrace" --list "$1" | sed -n 's/^0\.0 [0-9]* //; T; s/ \(gap\|away\|time\|polls\|rest\)=[0-9]*//g; p' |
        grep -v -e flag=0 -e Waitsome | if [ "${2:-}" ]; then sed 's/ \(recv\)*buffer=[0-9]*//g'; else cat; fi
}
ids() { # FOLDER: communicators that not all their members know by one number
    "$marstrace" --list "$1" | sed -n 's/.* id=\([0-9a-f]*\) size=\([0-9]*\) .* \(members=[^ ]*\).*/\1 \2 \3/p' | sort |
        uniq -c | awk '$1 != $3' # (of an intercommunicator the two sides have different members, and the same number)
}
traced() { # NAME EXPECTED PROGRAM MPIRUN [FORTRAN]: it is traced on 4 tasks, and its calls are as expected
    rm -rf t
    "$4" -n 4 "$marstrace" -o t --profile "./$3" >err 2>&1 && calls t "${5:-}" >got && diff "$2" got >>err 2>&1
    check "$1"
}

mpicc -O1 -o families "$top/tests/tools/tracer/families.c" >err 2>&1
check "a program with every family of calls is built"
traced "its calls, under Open MPI" "$top/tests/tools/tracer/families.txt" families mpirun
[ -z "$(ids t)" ]
check "communicators have one number at all their members, and no other has it"
cut -d, -f1-4 t/profile.csv | sort >counted
profile_of t 2>err | cut -d, -f1-4 | sort | cmp counted - >err 2>&1
check "every call and byte as counted"
if command -v mpif90 >/dev/null && mpif90 -o plain "$top/tests/tools/tracer/plain.f90" >err 2>&1; then
    traced "calls of Fortran, use mpi" "$top/tests/tools/tracer/fortran.txt" plain mpirun fortran
    mpif90 -o f08 "$top/tests/tools/tracer/f08.f90" >err 2>&1
    traced "and use mpi_f08" "$top/tests/tools/tracer/fortran.txt" f08 mpirun fortran
else
    echo "SKIP: no Fortran compiler (gfortran)"
fi
if [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
    mpicc.mpich -O1 -w -o families-mpich "$top/tests/tools/tracer/families.c" >err 2>&1
    traced "calls under MPICH" "$top/tests/tools/tracer/families.txt" families-mpich mpirun.mpich
    [ -z "$(ids t)" ]
    check "its communicators' numbers"
    if mpif90.mpich -o plain-mpich "$top/tests/tools/tracer/plain.f90" >err 2>&1; then
        traced "and of Fortran" "$top/tests/tools/tracer/fortran.txt" plain-mpich mpirun.mpich fortran
        # Its mpi_f08 says in MPI_Waitany 0 for the first request, not 1: what completed is not known.
        mpif90.mpich -o f08-mpich "$top/tests/tools/tracer/f08.f90" >err 2>&1
        rm -rf t
        mpirun.mpich -n 4 "$marstrace" -o t ./f08-mpich >err 2>&1 && calls t fortran | sed 's/ request.*//' >got &&
            sed 's/ request.*//' "$top/tests/tools/tracer/fortran.txt" | diff - got >>err 2>&1
        check "and of mpi_f08"
    fi
else
    echo "SKIP: marssim was built without MPICH (mpich, libmpich-dev)"
fi

# ---- bad input ----

no() { # WORDS COMMAND...
    ends 2 "$@"
}
no "no such program" "$marstrace" ./missing && no "expected 1ns" "$marstrace" --resolution 5 ./ring &&
    no "expected cpu or wall" "$marstrace" --clock sun ./ring && no "needs -o" "$marstrace" --merge t &&
    no "expected pcontrol" "$marstrace" --region 7 ./ring
check "bad options are refused"
no "not a trace" "$marstrace" --list ring && no "no files task-" "$marstrace" --list /
check "so is what is no trace"
cp t.mars bad.mars
printf '\x07' | dd of=bad.mars bs=1 seek=8 conv=notrunc status=none
no "damaged: the checksum of its head" "$marstrace" --list bad.mars
check "and a damaged head"
cp t.mars bad.mars
printf 'xxxx' | dd of=bad.mars bs=1 seek=200 conv=notrunc status=none
no "block at byte" "$marstrace" --list bad.mars
check "and a damaged block, named by its place"
rm dead/task-000001.mars*
no "task 1 is missing" "$marstrace" --list dead
check "and a missing task"
