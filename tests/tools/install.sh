#!/bin/bash
# What `make install` brings: tests/tools/install.sh
#
# The program under test is installed into a scratch folder. There marssim, marssweep, manual pages and completion work, and every
# link of every page leads somewhere.
set -u
cd "$(dirname "$0")/../.." || exit 2
program=$(readlink -f "${MARSSIM:-./marssim}")
. tests/lib-script.sh
shown=$work/log
clean=(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u OPTIMISE -u BUILD -u ARCH -u CFLAGS -u CC -u EXTRA)

"${clean[@]}" make install-files PROGRAM="$program" DESTDIR="$work" PREFIX=/usr >"$work/log" 2>&1
check "installed"
root=$work/usr
cd "$work" || exit 2
"$root/bin/marssim" --version >log 2>&1 && "$root/bin/marssim" -q -o torus "$root/share/marssim/configs/torus-uniform.cfg" \
    topology.extents=4,4 run.warmup=0ns run.end=1us >log 2>&1
check "an installed configuration runs"

# ---- configurations, wherever one is ----

mkdir empty && cd empty || exit 2
for config in $(grep -h -o 'configs/[a-z0-9-]*\.cfg' "$root/share/marssim/README.md" | sort -u); do
    "$root/bin/marssim" --check "$config" >../log 2>&1 || { echo "$config" >>../log; break; }
done
check "the configurations that README names are found"
"$root/bin/marssim" -q configs/fat-tree-lammps.cfg run.end=1us >../log 2>&1 && [ "$(ls results)" = fat-tree-lammps ]
check "results are in the current folder"
ends 2 "configs/none.cfg: cannot be read: No such file or directory, nor is it in $(readlink -f "$root/share/marssim"); marssim --example lists" "$root/bin/marssim" configs/none.cfg
check "one that is nowhere: both places are named"
ends 2 "torus-leanmd: cannot be read: .*; did you mean configs/torus-leanmd.cfg?" "$root/bin/marssim" torus-leanmd
check "one whose folder is forgotten"
mkdir configs && echo 'topology: {' >configs/torus-uniform.cfg
ends 2 "^marssim: error: configs/torus-uniform.cfg:" "$root/bin/marssim" configs/torus-uniform.cfg
check "one in the current folder comes first"
"$root/bin/marssim" --example >../log && for config in "$root"/share/marssim/configs/*.cfg; do
    grep -q "^  $(basename "$config" .cfg) .* [a-z]" ../log || { echo "$config is not listed" >>../log; false; break; }
done
check "--example lists them all, with what they show"
for config in "$root"/share/marssim/configs/*.cfg; do
    name=$(basename "$config" .cfg)
    "$root/bin/marssim" --example "$name" >../log 2>&1 && mv "$root/share/marssim/configs" "$root/away" && "$root/bin/marssim" --check "$name.cfg" >../log 2>&1
    status=$?
    mv "$root/away" "$root/share/marssim/configs"
    [ $status -eq 0 ] || { echo "$name" >>../log; break; }
done
[ $status -eq 0 ]
check "a copy of each has all it needs"
ends 2 "star-pingpong.cfg: is there already" "$root/bin/marssim" --example star-pingpong
check "nothing is written over"
ends 2 "there is none of this name" "$root/bin/marssim" --example nothing
check "a name that is none"
mv traces mine && "$root/bin/marssim" -q configs/fat-tree-lammps.cfg jobs[0].trace=mine/lammps-lj-32 run.end=1us >../log 2>&1 &&
    grep -q "\"$PWD/mine/lammps-lj-32" results/fat-tree-lammps/system.cfg
check "a file on the command line may be one of the current folder"
cd ..

# ---- links ----

bad=""
while read -r page; do
    while read -r link; do
        case $link in http* | mailto:* | '#'*) continue ;; esac
        [ -e "$(dirname "$page")/${link%%#*}" ] || bad+=" ${page#"$root/share/marssim/"}: $link;"
    done < <(grep -o ']([^) ]*)' "$page" | sed 's/^](\(.*\))$/\1/')
done < <(find "$root/share/marssim" -name '*.md')
echo "$bad" >log
[ -z "$bad" ]
check "every link of every page leads somewhere"

# ---- the manual ----

man1=$root/share/man/man1
keys=$("$program" --help-config | sed -n 's/^  \([a-z][^: ]*\):.*/\1/p' | sort)
[ "$(sed -n 's/^\.B \(.*\)/\1/p' "$man1/marssim.1" | sed 's/\\-/-/g' | grep -e '^[a-z]*\(\[\]\)*\.[a-zA-Z]' -e '^plugins$' | sort)" = "$keys" ]
check "every key is in the manual page"
for option in $("$program" --help | grep -o -e '^ .*--[a-z-]*' | grep -o -e '--[a-z-]*$'); do
    grep -q -F -- "${option//-/\\-}" "$man1/marssim.1" || echo "$option"
done >log
[ ! -s log ]
check "and every option"
for tool in marstrace marsconv marsreport marsmovie marsnoise marsbench marssweep; do
    for option in $("$root/bin/$tool" --help | grep -o -e '^ .*--[a-z-]*' | grep -o -e '--[a-z-]*$'); do
        grep -q -F -- "${option//-/\\-}" "$man1/$tool.1" || echo "$tool $option"
    done
done >log
[ ! -s log ]
check "so do those of the tools in their pages"
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww "$man1"/*.1 2>log >/dev/null && [ ! -s log ]
    check "troff has nothing to say"
fi

# ---- the completion ----

complete_line() { # WORDS...: what is offered for the last of them
    bash --norc -c '
        source "$1/$2"; shift
        COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        "_$1" 2>/dev/null
        printf "%s\n" "${COMPREPLY[@]}"' bash "$root/share/bash-completion/completions" "$@"
}
: >my.cfg
[ "$(complete_line marssim --he | xargs)" = "--help --help-config --help-results" ]
check "options are completed"
[ "$(complete_line marssim my)" = my.cfg ]
check "and configuration files"
[ "$(complete_line marssim my.cfg run.en)" = "run.end=" ]
check "and keys"
[ "$(complete_line marssim my.cfg topology.kind=t)" = torus ] && [ "$(complete_line marssim my.cfg 'jobs[3].program=we')" = weather ] &&
    [ "$(complete_line marssim my.cfg run.drain= | xargs)" = "true false" ]
check "and values that have a choice"
[ "$(complete_line marsconv --sta)" = --stats ] && [ "$(complete_line marsconv --to ma)" = mars ]
check "and what marsconv takes"
[ "$(complete_line marstrace --pr)" = --profile ] && [ "$(complete_line marstrace --clock=w)" = wall ] && [ "$(complete_line marstrace -p my)" = my.cfg ]
check "and marstrace"

# ---- studies ----

if [ -x "$root/bin/marssweep" ]; then
    chmod -R a-w "$root/share/marssim"
    "$root/bin/marssweep" -q --quick studies/loggops/loggops.cfg >log 2>&1
    check "an installed study runs"
    [ -s results/loggops-sweep/results.csv ] && [ -z "$(find "$root/share/marssim" -name results)" ]
    check "its results are in the current folder"
    chmod -R u+w "$root/share/marssim"
else
    echo "SKIP: built without SQLite"
fi

# ---- the processor ----

cd "$top" || exit 2
object() { # WORD...: how make would build one object with these words
    "${clean[@]}" make -n -B V=1 "$@" 2>&1
}
object build/release/kernel/base/units.o | grep -q -- '-march=native .*build/release/kernel/base/units.o'
check "in place: for this machine"
object ARCH=x86-64-v3 all | grep -q -- '-march=x86-64-v3 .*build/release-x86-64-v3/kernel/base/units.o'
check "another processor has a build of its own"
object DESTDIR=/nowhere install >"$work/log"
if [ "$(uname -m)" = x86_64 ]; then
    grep -q -- '-march=x86-64 .*build/release-x86-64/kernel/base/units.o' "$work/log" && ! grep -q 'march=native' "$work/log"
    check "installed: for any processor of the kind"
    grep -q '^echo "installing a build for x86-64, which other machines run' "$work/log"
    check "which is said, and why"
fi
object DESTDIR=/nowhere ARCH=native install >"$work/log"
grep -q 'build/release/kernel/base/units.o' "$work/log" && ! grep -q -e 'build/release-' -e '^echo "installing' "$work/log"
check "for this one: what make has built"
