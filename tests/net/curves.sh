#!/bin/bash
# Curves of a cycle-accurate simulator (tests/net/curves/booksim2.csv): lowest load within 2 %, half of saturation 5 %, the last
# row below saturation 10 % in latency, saturation 3 %; tests/net/curves/misses.txt has the bounds of what misses that
# (docs/validation.md says why). Both matchings where the crossbar is no faster than the links.
export SPAN_US=8
tools/compare-curves.sh -t tests/net/curves/booksim2.csv
# Topologies of low diameter (tests/net/curves/low-diameter.csv).
tools/compare-curves.sh -t tests/net/curves/low-diameter.csv "min,1,ideal|,8,ideal$|^hyperx_4x4.*,valiant,8,${LONG:+|,8,}"
MATCHING=separable tools/compare-curves.sh -t tests/net/curves/low-diameter.csv ',1,std$'
MATCHING=separable tools/compare-curves.sh -t tests/net/curves/booksim2.csv "$([ -n "${LONG:-}" ] || echo '^mesh.*'),std$"
# Permutations at full injection: accepted is the mean of the max-min fair rates, within 1 %.
SPAN_US=20 tools/compare-curves.sh tests/net/curves/max-min.csv | awk '$1 == "1.0000" {
    printf "%s permutation %d at full injection: %s accepted, max-min %s\n", ($2 / $3 - 1) ^ 2 <= 1e-4 ? "ok" : "not ok", ++n, $2, $3}'
