#!/bin/bash
# The JSON schema of configurations, and configurations in JSON: tests/kernel/schema.sh
#
# What the program takes satisfies the schema, and what it refuses while it reads does not: for each key there is, on two systems. The
# checker is tests/kernel/schema.jq, which knows the keywords that are used; where Python has jsonschema, that judges the schema itself.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
shown=$work/log
checker=$PWD/tests/kernel

schema() { jq -L "$checker" --slurpfile s "$work/schema" "include \"schema\"; \$s[0] as \$s | $1" "${@:2}"; }

"$marssim" --schema >"$work/schema" 2>"$work/log" && jq -e '."$schema" == "https://json-schema.org/draft/2020-12/schema"' "$work/schema" >/dev/null
check "marssim --schema writes JSON"
if python3 -c 'import jsonschema' 2>/dev/null; then
    python3 -c 'import json, sys, jsonschema; jsonschema.Draft202012Validator.check_schema(json.load(open(sys.argv[1])))' "$work/schema" 2>"$work/log"
    check "it is a schema of draft 2020-12"
fi
"$marssim" --help-config | sed -n 's/^  \([a-z][^: ]*\):.*/\1/p' | sort >"$work/keys"
schema '$s | [leaves([]) | select(.schema.deprecated | not) | .path | key] | sort[]' -nr | sort | diff - "$work/keys" >"$work/log"
check "it has the keys of the reference: $(wc -l <"$work/keys")"
schema '[$s | leaves([]).schema | select((.description | length) < 10)] == []' -ne >"$work/log"
check "each says what it means"

for file in configs/*.cfg; do "$marssim" --json "$file" >>"$work/shipped" 2>>"$work/log" || echo "$file" >>"$work/log"; done
[ "$(schema 'valid($s; $s)' -c "$work/shipped" | sort | uniq -c | tr -s ' ')" = " $(ls configs/*.cfg | wc -l) true" ]
check "the shipped configurations satisfy it"

cd "$work" || exit 2
config=$checker/../../configs/torus-uniform.cfg
"$marssim" --json "$config" topology.extents=3,3 'run.end="3 us"' 'run.warmup="1 us"' >a.json && "$marssim" --json a.json >b.json && cmp a.json b.json >log
check "a configuration in JSON is read like the other"
"$marssim" -q -o one "$config" topology.extents=3,3 'run.end="3 us"' 'run.warmup="1 us"' >log 2>&1 && "$marssim" -q -o two a.json >log 2>&1 &&
    [ "$(jq -S .result one/summary.json)" = "$(jq -S .result two/summary.json)" ]
check "and gives the same results"

# A value for each key, its default or first choice, and one of no type that any key has (wrong in any system: on the first one, or by LONG=1 on
# both): the program and the schema agree. Each value is a start of the program: a third of them, or by LONG=1 all.
cat >cross.jq <<'END'
include "schema"; $s[0] as $s | .[0] as $base |
[$s | leaves([])] | .[] | .path as $p | .schema as $l | ($l.default // ($l.enum // ["1 us"])[0], if $wrong then {} else empty end) as $value |
$base | setpath($p; $value)
END
wrong=true
for system in torus-uniform fat-tree-lammps; do
    "$marssim" --json "$checker/../../configs/$system.cfg" | jq -cs -L "$checker" --slurpfile s schema --argjson wrong $wrong -f cross.jq | awk -v every=${LONG:+1} 'NR % (every ? 1 : 3) == 0' >cases
    while IFS= read -r case; do
        printf '%s\n' "$case" >case.json
        if "$marssim" --json case.json >/dev/null 2>&1; then echo true; else echo false; fi
    done <cases >program
    schema 'valid($s; $s)' cases >said
    paste program said cases | awk -F '\t' '$1 != $2' >log
    [ ! -s log ] && [ "$(grep -c true said)" -gt 15 ] && [ "$(grep -c false said)" -gt 60 ]
    check "$system: program and schema agree about $(wc -l <cases) values"
    [ -n "${LONG:-}" ] || wrong=false
done

wrong() { # JQ: a change that makes a.json wrong
    jq -c "$1" a.json >w.json
    "$marssim" --json w.json >log 2>&1
    [ $? -eq 2 ] && schema 'valid($s; $s) | not' -e w.json >>log
    check "refused by both: $1"
}
wrong '.topology.latency = "100 n"'
wrong '.topology.latency = 100'
wrong '.topology.bandwidth = "1e3 "'
wrong '.topology.extents = [3, 0]'
wrong '.topology.extents = [3, 2.5]'
wrong '.topology.kind = "tree"'
wrong '.topology.length = 3'
wrong '.topology.down = [2]'
wrong '.traffic.load = "much"'
wrong '.switch.channels = 100000'
wrong '.adapter.packet_size = "4 KB/s"'
wrong '.jobs = {}'
wrong '.jobs = [{"program": "pingpong", "trace": "x"}]'
wrong '.traffic.size_law = "list" | .traffic.hotspots = 3'

bad() { # MESSAGE TEXT
    printf '%b' "$2" >bad.json
    "$marssim" --json bad.json >log 2>&1
    [ $? -eq 2 ] && grep -q -F -- "$1" log
    check "refused: $1"
}
bad 'bad.json:2: JSON has no comments' '{\n# one\n}'
bad 'bad.json:3: "a b" is no key' '{ "run":\n {\n"a b": 1 } }'
bad 'bad.json:1: the "{" at the beginning is never closed' '{ "run": { }'
bad 'bad.json:1: "]" does not match' '{ "run": { } ]'
bad 'bad.json:2: behind the last "}" nothing may follow' '{ }\n, { }'
bad 'bad.json:1: null is no value' '{ "run": null }'
bad 'bad.json:2: the string is not closed' '{ "run":\n "x'
bad 'bad.json:1: the string is not closed' '{ "run\n": { } }'
bad 'bad.json:4: run.ende: unknown' '{ "$comment"\n:\n"x", "run":\n{ "ende": 1 } }'
bad 'bad.json:1: \q has no meaning' '{ "run": { "end": "\\q" } }'
bad 'bad.json:2: run.ende: unknown key; did you mean run.end?' '{ "run":\n { "ende": "1 us" } }'
bad 'bad.json:1: "=" has no meaning in JSON' '{ "run" = 1 }'
printf '{ "$schema": "x.json", "$comment": "a {", "topology": { "file": "a\\u00e9\\ud83d\\ude00\\"\\\\" , "kind": "file" } }' >u.json
"$marssim" --json u.json >log 2>&1 && [ "$(jq -r .topology.file log)" = "$(printf 'a\xc3\xa9\xf0\x9f\x98\x80"\\')" ] && schema 'valid($s; $s)' -e u.json >>log
check "escapes and notes"
