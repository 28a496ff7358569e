#!/bin/sh
# Installs what building marssim needs, when it is missing.
#
#   tools/install-deps.sh [--name] [build] [check] [lint] [fuzz] [studies] [opensm]      (nothing named: build)
#
# Each need is tested by use (a command that runs, a header that compiles), not by package name, so that an Open MPI
# of one's own counts. On Debian and Ubuntu what is missing is installed by apt, as root or through sudo. Elsewhere,
# and with --name, one message says how it is called there and the script ends with status 1; where only something
# is missing that the program can be built or tested without, it says what is left out and ends with status 0.
set -u

naming=""
[ "${1:-}" = --name ] && naming=yes && shift
[ $# -gt 0 ] || set -- build
debian="" fedora="" spack="" optional="" left_out=""

need() { # STATUS DEBIAN FEDORA SPACK [WITHOUT]: the packages when the test ended with another status than 0; what is left out without them
    [ "$1" -ne 0 ] || return
    if [ $# -eq 5 ]; then
        optional="$optional $2"
        left_out="$left_out
without $2 (Fedora: $3, Spack: $4): $5"
    else
        debian="$debian $2" fedora="$fedora $3" spack="$spack $4"
    fi
}

command_of() { # COMMAND DEBIAN FEDORA SPACK [WITHOUT]
    command -v "$1" >/dev/null 2>&1
    status=$?
    shift
    need $status "$@"
}

header_of() { # "HEADERS" DEBIAN FEDORA SPACK [WITHOUT]
    command -v "${CC:-gcc}" >/dev/null 2>&1 && {
        # shellcheck disable=SC2086 # words of their own
        for header in $1; do echo "#include <$header>"; done | "${CC:-gcc}" ${CFLAGS:-} -E -x c -w - >/dev/null 2>&1
    }
    status=$?
    shift
    need $status "$@"
}

module_of() { # "MODULES" DEBIAN FEDORA SPACK [WITHOUT]: of pkg-config, one of them
    status=1
    for module in $1; do
        pkg-config --exists "$module" 2>/dev/null && status=0
    done
    shift
    need $status "$@"
}

need_build() {
    command_of "${CC:-gcc}" gcc gcc gcc
    command_of make make make gmake
    header_of "stdio.h" libc6-dev glibc-devel glibc
    command_of pkg-config pkg-config pkgconf-pkg-config pkgconf
    command_of xz xz-utils xz xz
    mpicc --showme:compile >/dev/null 2>&1
    need $? libopenmpi-dev openmpi-devel openmpi
    command_of mpirun openmpi-bin openmpi openmpi
    header_of "metis.h" libmetis-dev metis-devel metis
    header_of "Random123/philox.h" librandom123-dev Random123-devel random123
    module_of hwloc libhwloc-dev hwloc-devel hwloc
    module_of gsl libgsl-dev gsl-devel gsl
    module_of libconfig libconfig-dev libconfig-devel libconfig
    module_of jansson libjansson-dev jansson-devel jansson
    module_of libzstd libzstd-dev libzstd-devel zstd
    module_of cairo libcairo2-dev cairo-devel cairo "no marsmovie"
    module_of sqlite3 libsqlite3-dev sqlite-devel sqlite "no marssweep"
    module_of "hdf5-openmpi hdf5 hdf5-serial" libhdf5-openmpi-dev hdf5-openmpi-devel hdf5 "no results.h5"
    module_of otf2 libopen-trace-format2-dev otf2-devel otf2 "no timelines and traces of OTF2"
}

# A second MPI library and Fortran: the tracer is built for and tested with them, too. Tests skip what is not there.
need_check() {
    header_of "stdarg.h stddef.h setjmp.h stdint.h cmocka.h" libcmocka-dev libcmocka-devel cmocka
    command_of gfortran gfortran gcc-gfortran gcc "no tests of Fortran programs"
    command_of mpicc.mpich libmpich-dev mpich-devel mpich "no tracer for MPICH"
    command_of mpirun.mpich mpich mpich mpich "no tests with MPICH"
    command_of gnuplot gnuplot-nox gnuplot gnuplot "no tests of figures"
    command_of jq jq jq jq "no tests of JSON"
    command_of flock util-linux util-linux util-linux "no tests of locks"
}

need_lint() {
    command_of clang-format clang-format clang-tools-extra llvm
    command_of clang-tidy clang-tidy clang-tools-extra llvm
    command_of cppcheck cppcheck cppcheck cppcheck
}

# libFuzzer's runtime is a package per version of clang; without clang, the distribution's default decides.
need_fuzz() {
    command_of clang clang clang llvm
    version=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
    [ -n "$version" ] || version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\).*/\1/p')
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d,
          unsigned long n) { return d && n ? 0 : 0; }' |
        clang -fsanitize=fuzzer,address -x c -o /dev/null - >/dev/null 2>&1
    need $? "libclang-rt-${version:-14}-dev" compiler-rt llvm
}

need_studies() {
    command_of gnuplot gnuplot-nox gnuplot gnuplot
    module_of sqlite3 libsqlite3-dev sqlite-devel sqlite
}

# A subnet manager and a simulated subnet for it: only tools/run-opensm wants them, and nothing installs them unasked.
need_opensm() {
    command_of opensm opensm opensm opensm
    command_of ibsim ibsim-utils ibsim ibsim
    command_of ibnetdiscover infiniband-diags infiniband-diags rdma-core
    command_of python3 python3 python3 python
    ls /usr/lib/*/umad2sim/libumad2sim.so >/dev/null 2>&1
    need $? libumad2sim0 ibsim ibsim
}

for what in "$@"; do
    case $what in
    build | check | lint | fuzz | studies | opensm) "need_$what" ;;
    *)
        echo "usage: $0 [--name] [build] [check] [lint] [fuzz] [studies] [opensm]" >&2
        exit 2
        ;;
    esac
done
[ -n "$debian$optional" ] || exit 0

# What is missing by its names everywhere, and what is left out; ends the script.
name() {
    [ -z "$left_out" ] || echo "$left_out" | sed 1d >&2
    [ -n "$debian" ] || exit 0
    words() { printf '%s\n' "$@" | sort -u | xargs; }
    # shellcheck disable=SC2086 # lists of packages, one word each
    cat >&2 <<END
missing:
  Debian, Ubuntu: apt-get install $(words $debian)
  Fedora:         dnf install $(words $fedora); module load mpi/openmpi-x86_64
  Spack:          spack install $(words $spack); spack load $(words $spack)
END
    exit 1
}

[ -z "$naming" ] && command -v apt-get >/dev/null 2>&1 || name
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || name
    as_root=sudo
fi
echo "installing what is missing: ${as_root:+sudo }apt-get install$debian$optional"
export DEBIAN_FRONTEND=noninteractive
# Another process of dpkg or apt, as new machines start them by themselves, is waited for.
wait_for_lock="-o DPkg::Lock::Timeout=600"
install() { # PACKAGE...
    # shellcheck disable=SC2086 # lists of words
    [ $# -eq 0 ] || $as_root apt-get install -y -qq --no-install-recommends $wait_for_lock "$@" >/dev/null
}
# shellcheck disable=SC2086
$as_root apt-get update -qq $wait_for_lock || echo "the package lists could not be renewed; trying with the old ones" >&2
# shellcheck disable=SC2086
install $debian $optional || { install $debian && debian=""; name; }
