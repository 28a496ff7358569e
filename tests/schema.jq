# The part of JSON schema that marssim --schema uses: "valid($schema; $schema)" of a value. A keyword that is not known here is an error.
def known: ["$schema", "$comment", "$defs", "$ref", "title", "description", "default", "deprecated", "enumDescriptions", "type", "enum",
    "pattern", "minimum", "maximum", "minItems", "required", "properties", "patternProperties", "additionalProperties", "items",
    "allOf", "anyOf", "not", "if", "then", "else"];
def is_type($t): if $t == "integer" then type == "number" and floor == . else type == $t end;
def at($root; $ref): $root | getpath($ref | ltrimstr("#/") | split("/"));

def valid($s; $root):
    def members: . as $v | all(keys_unsorted[]; . as $k |
        if ($s.properties // {}) | has($k) then $v[$k] | valid($s.properties[$k]; $root)
        elif any(($s.patternProperties // {} | keys[]); . as $p | $k | test($p))
        then all(($s.patternProperties | keys[]); . as $p | ($k | test($p) | not) or ($v[$k] | valid($s.patternProperties[$p]; $root)))
        else $s.additionalProperties != false end);
    if ($s | type) == "boolean" then $s
    elif ($s | keys_unsorted) - known != [] then error("unknown keyword: \(($s | keys_unsorted) - known)")
    else . as $v | type as $type |
        ($s.type == null or is_type($s.type))
        and ($s.enum == null or any($s.enum[]; . == $v))
        and ($s["$ref"] == null or valid(at($root; $s["$ref"]); $root))
        and ($type != "string" or $s.pattern == null or test($s.pattern))
        and ($type != "number" or (($s.minimum == null or . >= $s.minimum) and ($s.maximum == null or . <= $s.maximum)))
        and ($type != "array" or (($s.minItems == null or length >= $s.minItems)
            and ($s.items == null or all(.[]; valid($s.items; $root)))))
        and ($type != "object" or (all(($s.required // [])[]; . as $k | $v | has($k)) and members))
        and all(($s.allOf // [])[]; . as $t | $v | valid($t; $root))
        and ($s.anyOf == null or any($s.anyOf[]; . as $t | $v | valid($t; $root)))
        and (($s | has("not") | not) or (valid($s.not; $root) | not))
        and (($s | has("if") | not) or
            if valid($s.if; $root) then ($s | has("then") | not) or valid($s.then; $root)
            else ($s | has("else") | not) or valid($s.else; $root) end)
    end;

# Its keys as paths, with their schemas: {path, schema}.
def leaves($at):
    .properties | to_entries[] |
    if .value.type == "object" then .key as $k | .value | leaves($at + [$k])
    elif .value.items.properties then .key as $k | .value.items | leaves($at + [$k, 0])
    else {path: ($at + [.key]), schema: .value} end;
def key: reduce .[] as $step (""; if $step == 0 then . + "[]" elif . == "" then $step else . + "." + $step end);
