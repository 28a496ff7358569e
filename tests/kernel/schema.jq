# The part of JSON schema that marssim --schema uses: "valid($schema; $schema)" of a value. A keyword that is not known here is an error.
def silent: . as $k | ["$schema", "$comment", "$defs", "title", "description", "default", "deprecated", "enumDescriptions", "then", "else"] | index($k) != null;
def is_type($t): if $t == "integer" then type == "number" and floor == . else type == $t end;
def at($root; $ref): $root | getpath($ref | ltrimstr("#/") | split("/"));

# A schema is gone through by its own keywords: most have one or two.
def valid($s; $root):
    . as $v | type as $type |
    def member($k): # of an object
        if $s.properties | has($k) then $v[$k] | valid($s.properties[$k]; $root)
        elif any(($s.patternProperties // {} | keys[]); . as $p | $k | test($p))
        then all(($s.patternProperties | keys[]); . as $p | ($k | test($p) | not) or ($v[$k] | valid($s.patternProperties[$p]; $root)))
        else $s.additionalProperties != false end;
    def keyword($k):
        if $k == "properties" then $type != "object" or
            if $s.additionalProperties == null and $s.patternProperties == null
            then all($s.properties | keys_unsorted[]; . as $name | ($v | has($name) | not) or ($v[$name] | valid($s.properties[$name]; $root)))
            else all($v | keys_unsorted[]; member(.)) end
        elif $k == "required" then $type != "object" or all($s.required[]; . as $name | $v | has($name))
        elif $k == "enum" then any($s.enum[]; . == $v)
        elif $k == "if" then
            if $v | valid($s.if; $root) then ($s | has("then") | not) or ($v | valid($s.then; $root))
            else ($s | has("else") | not) or ($v | valid($s.else; $root)) end
        elif $k == "allOf" then all($s.allOf[]; . as $t | $v | valid($t; $root))
        elif $k == "anyOf" then any($s.anyOf[]; . as $t | $v | valid($t; $root))
        elif $k == "not" then $v | valid($s.not; $root) | not
        elif $k == "type" then $v | is_type($s.type)
        elif $k == "$ref" then $v | valid(at($root; $s["$ref"]); $root)
        elif $k == "pattern" then $type != "string" or ($v | test($s.pattern))
        elif $k == "minimum" then $type != "number" or $v >= $s.minimum
        elif $k == "maximum" then $type != "number" or $v <= $s.maximum
        elif $k == "minItems" then $type != "array" or ($v | length) >= $s.minItems
        elif $k == "items" then $type != "array" or all($v[]; valid($s.items; $root))
        elif ($k == "additionalProperties" or $k == "patternProperties") and ($s | has("properties")) then true
        elif $k | silent then true
        else error("unknown keyword: \($k)") end;
    if ($s | type) == "boolean" then $s else all($s | keys_unsorted[]; keyword(.)) end;

# Its keys as paths, with their schemas: {path, schema}.
def leaves($at):
    .properties | to_entries[] |
    if .value.type == "object" then .key as $k | .value | leaves($at + [$k])
    elif .value.items.properties then .key as $k | .value.items | leaves($at + [$k, 0])
    else {path: ($at + [.key]), schema: .value} end;
def key: reduce .[] as $step (""; if $step == 0 then . + "[]" elif . == "" then $step else . + "." + $step end);
