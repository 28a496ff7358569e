#!/bin/sh
# Installs what building marssim needs, when it is missing.
#
#   tools/install-deps.sh [build] [trace] [lint] [fuzz] [studies] [opensm]      (nothing named: build)
#
# Each need is tested by use (a command that runs, a header that compiles), not by package name, so that an Open MPI
# of one's own counts. On Debian and Ubuntu what is missing is installed by apt, as root or through sudo; elsewhere
# it is named and the script ends with status 1.
set -u

[ $# -gt 0 ] || set -- build
missing=""

need() { # STATUS PACKAGE: notes the package when the test for it ended with another status than 0
    [ "$1" -eq 0 ] || case " $missing " in
        *" $2 "*) ;;
        *) missing="$missing $2" ;;
    esac
}

command_of() { # COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1
    need $? "$2"
}

header_of() { # "HEADERS" PACKAGE
    command -v gcc >/dev/null 2>&1 && {
        for header in $1; do echo "#include <$header>"; done | gcc -E -x c -w - >/dev/null 2>&1
    }
    need $? "$2"
}

need_build() {
    command_of gcc gcc
    command_of make make
    header_of "stdio.h" libc6-dev
    command_of pkg-config pkg-config
    command_of xz xz-utils
    command_of mpicc libopenmpi-dev
    command_of mpirun openmpi-bin
    header_of "metis.h" libmetis-dev
    header_of "hwloc.h" libhwloc-dev
    header_of "gsl/gsl_rng.h" libgsl-dev
    header_of "libconfig.h" libconfig-dev
    header_of "Random123/philox.h" librandom123-dev
    header_of "jansson.h" libjansson-dev
    header_of "zstd.h" libzstd-dev
    header_of "cairo/cairo.h" libcairo2-dev
    pkg-config --exists hdf5-openmpi 2>/dev/null
    need $? libhdf5-openmpi-dev
    header_of "otf2/otf2.h" libopen-trace-format2-dev
    header_of "stdarg.h stddef.h setjmp.h stdint.h cmocka.h" libcmocka-dev
}

# A second MPI library and Fortran: the tracer is built for and tested with them, too.
need_trace() {
    command_of gfortran gfortran
    command_of mpicc.mpich libmpich-dev
    command_of mpirun.mpich mpich
}

need_lint() {
    command_of clang-format clang-format
    command_of clang-tidy clang-tidy
    command_of cppcheck cppcheck
}

# libFuzzer's runtime is a package per version of clang; without clang, the distribution's default decides.
need_fuzz() {
    command_of clang clang
    version=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
    [ -n "$version" ] || version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\).*/\1/p')
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d,
          unsigned long n) { return d && n ? 0 : 0; }' |
        clang -fsanitize=fuzzer,address -x c -o /dev/null - >/dev/null 2>&1
    need $? "libclang-rt-${version:-14}-dev"
}

need_studies() {
    command_of gnuplot gnuplot-nox
    command_of jq jq
    command_of flock util-linux
}

# A subnet manager and a simulated subnet for it: only tools/run-opensm wants them, and nothing installs them unasked.
need_opensm() {
    command_of opensm opensm
    command_of ibsim ibsim-utils
    command_of ibnetdiscover infiniband-diags
    ls /usr/lib/*/umad2sim/libumad2sim.so >/dev/null 2>&1
    need $? libumad2sim0
}

for what in "$@"; do
    case $what in
    build | trace | lint | fuzz | studies | opensm) "need_$what" ;;
    *)
        echo "usage: $0 [build] [trace] [lint] [fuzz] [studies] [opensm]" >&2
        exit 2
        ;;
    esac
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "missing (by the names of Debian's packages):$missing" >&2
    echo "install them with this system's package manager, then try again" >&2
    exit 1
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "missing:$missing" >&2
        echo "as root: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "installing what is missing: ${as_root:+sudo }apt-get install$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq || echo "the package lists could not be renewed; trying with the old ones" >&2
# shellcheck disable=SC2086 # a list of packages, one word each
if ! $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null; then
    echo "could not install:$missing" >&2
    exit 1
fi
