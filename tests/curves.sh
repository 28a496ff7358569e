#!/bin/bash
# Curves of a cycle-accurate simulator (tests/curves/booksim2.csv): lowest load within 2 %, latency at half of saturation within 5 %,
# saturation within 3 %. UGAL is left out: its saturation misses (docs/validation.md).
export SPAN_US=8
exec tools/compare-curves.sh -t tests/curves/booksim2.csv 'torus8x8|mesh8x8|fattree|dragonfly.*,(min|val),'
