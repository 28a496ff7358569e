#!/bin/bash
# docs/configuration.md is what --help-config prints: `make docs` writes it anew.
set -u
cd "$(dirname "$0")/.." || exit 2
marssim=${MARSSIM:-./marssim}
made=$(mktemp) || exit 2
trap 'rm -f "$made"' EXIT
tools/write-reference.sh "$marssim" >"$made" || { echo "not ok --help-config fails"; exit 1; }
if diff -u docs/configuration.md "$made"; then
    echo "ok docs/configuration.md says what the program knows"
else
    echo "not ok docs/configuration.md is old: make docs"
    exit 1
fi
