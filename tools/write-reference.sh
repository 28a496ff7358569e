#!/bin/sh
# Prints docs/configuration.md: tools/write-reference.sh PROGRAM
set -eu
cat <<'END'
# Configuration

A configuration is a [libconfig](https://hyperrealm.github.io/libconfig/) file; any key can be set on the command line,
too: `marssim FILE key.path=value ...`. Values with units are strings: `"25 GB/s"`, `"200 Gb/s"`, `"100 ns"`, `"4 KiB"`. Every key there
is, with its type, default, range and meaning, as `marssim --help-config` prints it (this page is made from that by
`make docs`, and a test compares them).

The same in JSON is read, too: a file that begins with `{`. `marssim --json FILE` prints a configuration so, and `marssim --schema >marssim.schema.json`
a JSON schema of all keys, with types, ranges, choices and what belongs to which kind; `--schema FILE`, or `plugins=libmine.so` behind it, has
the keys of plugins, too. An editor that knows JSON schemas completes and checks a file which begins with
`{ "$schema": "marssim.schema.json",`; any checker does the same for others (`marssim --json system.cfg | ...`). What satisfies the schema may
still be refused when the run is built.

Lists have members, `jobs[0]`, `jobs[1]`, ... On the command line a member can be named, too: `jobs[NAME].KEY=VALUE`; `jobs[*].KEY=VALUE` stands
for all that are there so far, `jobs[NAME].enabled=false` switches one off, and `jobs[NAME].program=VALUE` with a new name adds one (services by
`services[NAME].kind`). File names on the command line are those of the current folder, or relative to the configuration like its own.
END
# A heading for each group, which --help-config prints as a line of its own behind an empty one.
"$1" --help-config | awk '
    begins && NF { printf "%s\n## %s\n\n```text\n", (NR > 1 ? "```\n" : ""), $0; begins = 0; next }
    NF == 0 { begins = 1; next }
    { print }
    BEGIN { begins = 1 }
    END { print "```" }'
