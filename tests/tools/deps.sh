#!/bin/bash
# What a build needs and what it can do without: tests/tools/deps.sh
#
# Where nothing can be installed (a PATH without apt, sudo or compilers of MPI) one message names what is missing; where something can, apt
# waits for its lock; without OTF2, HDF5, cairo and SQLite the program is built, and refuses what they are for.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
clean=(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL)
modules="gsl jansson libconfig hwloc libzstd"

path_without() { # COMMAND...: the folder $work/bin with all other commands there are
    rm -rf "$work/bin" && mkdir "$work/bin" && ln -s /usr/bin/* "$work/bin" && ln -sf /usr/local/bin/* "$work/bin" && cd "$work/bin" && rm -f apt-get sudo "$@" && cd "$top"
}

path_without mpicc mpicc.openmpi pkg-config otf2-config
ends 2 "" "${clean[@]}" PATH="$work/bin" make BUILD="$work/none" all
[ "$(grep -c '^missing' "$work/err")" = 1 ] && ! grep -q ' CC ' "$work/out" && grep -q '^  Debian, Ubuntu: apt-get install .*libopenmpi-dev' "$work/err" &&
    grep -q '^  Fedora:         dnf install .*openmpi-devel' "$work/err" && grep -q '^  Spack:          spack install .*openmpi' "$work/err"
check "without apt one message names what is missing on Debian, Fedora and by Spack, before anything is compiled"

path_without gnuplot gfortran
ends 0 '^without gnuplot-nox (Fedora: gnuplot, Spack: gnuplot): no tests of figures$' env PATH="$work/bin" tools/install-deps.sh build check &&
    grep -q '^without gfortran ' "$work/err" && ! grep -q '^missing' "$work/err"
check "what only tests use is left out with a line each"

path_without gnuplot
for fake in apt-get id; do
    printf '#!/bin/sh\n[ %s = id ] && echo 0 || echo "$@" >>"%s/apt"\n' $fake "$work" >"$work/bin/$fake" && chmod +x "$work/bin/$fake"
done
env PATH="$work/bin" tools/install-deps.sh check >"$work/out" 2>"$work/err" && [ "$(grep -c 'DPkg::Lock::Timeout=' "$work/apt")" = 2 ] && grep -q " gnuplot-nox$" "$work/apt"
check "apt waits for the lock of another apt"

"${clean[@]}" -u BUILD make -n -B demo >"$work/out" 2>"$work/err" && grep -q ' CC marssim.c' "$work/out" && ! grep -q -e marsconv -e tracer -e cairo "$work/out"
check "the demo builds marssim and marsreport only"
[ "$("${clean[@]}" make -pn help 2>"$work/err" | sed -n 's/^MAKEFLAGS = .* -j\([0-9]*\).*/\1/p')" = "$(nproc)" ]
check "make uses the cores there are"

# ---- without what can be left out ----

library=$(dirname "$marssim")/libmarssim.a
[ -e "$library" ] || { echo "SKIP: no $library: make check-built"; exit 0; }
mkdir "$work/modules" && for module in $modules; do
    for folder in $(pkg-config --variable pc_path pkg-config | tr : ' ') ${PKG_CONFIG_PATH:+${PKG_CONFIG_PATH//:/ }}; do
        [ ! -e "$folder/$module.pc" ] || ln -sf "$folder/$module.pc" "$work/modules"
    done
done
export PKG_CONFIG_LIBDIR=$work/modules
unset PKG_CONFIG_PATH
[ "$("${clean[@]}" make -pn help 2>"$work/err" | sed -n 's/^PROGRAMS := //p' | xargs)" = "marssim marstrace marsconv marsreport marsnoise marsbench" ]
check "without cairo there is no marsmovie, without SQLite no marssweep"
# Only the objects that call them are compiled again: linked first, they are in the place of those in the library.
"${clean[@]}" make BUILD="$work/b" OBJECTS= \
    EXTRA="$(printf "$work/b/%s.o " stats/hdf5 stats/hdf5_load stats/timelines/otf2 traces/otf2/archive) $library ${EXTRA:-}" "$work/b/marssim" >"$work/out" 2>"$work/err" &&
    [ "$(grep -c '^without ' "$work/err")" = 4 ] && "$work/b/marssim" -q -o "$work/plain" configs/star-pingpong.cfg >"$work/out" 2>"$work/err"
check "without OTF2, HDF5, cairo and SQLite marssim is built and runs"
marssim=$work/b/marssim
refused 'output.hdf5.*built without HDF5' configs/star-pingpong.cfg output.hdf5=true -o "$work/h5"
check "output.hdf5 is refused"
refused 'output.timeline: otf2: .*built without OTF2' configs/star-pingpong.cfg output.timeline=otf2 -o "$work/otf2"
check "so is a timeline of OTF2"
