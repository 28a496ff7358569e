#!/bin/bash
# docs/configuration.md is what --help-config prints, and the tables of docs/results.md are those of --help-results:
# `make docs` writes them again.
set -u
cd "$(dirname "$0")/../.." || exit 2
marssim=${MARSSIM:-./marssim}
made=$(mktemp) || exit 2
trap 'rm -f "$made"' EXIT
failed=0
compare() { # WRITER PAGE
    "$1" "$marssim" >"$made" || { echo "not ok $1 fails"; failed=1; return; }
    if diff -u "$2" "$made"; then
        echo "ok $2 says what the program knows"
    else
        echo "not ok $2 is old: make docs"
        failed=1
    fi
}
compare tools/write-reference.sh docs/configuration.md
compare tools/write-results.sh docs/results.md
exit $failed
