#!/bin/sh
# Prints docs/configuration.md: tools/write-reference.sh PROGRAM
set -eu
cat <<'END'
# Configuration

A configuration is a [libconfig](https://hyperrealm.github.io/libconfig/) file; any key can be set on the command line,
too: `marssim FILE key.path=value ...`. Values with units are strings: `"25 GB/s"`, `"200 Gb/s"`, `"100 ns"`, `"4 KiB"`. Every key there
is, with its type, default, range and meaning, as `marssim --help-config` prints it (this page is made from that by
`make docs`, and a test compares them):

```text
END
"$1" --help-config
echo '```'
