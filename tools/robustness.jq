# From all points of a study with their variants to robustness.csv: which conditions a comparison survives (tools/run-study).
#
# `compared` (studies/NAME/compared.jq) maps a point to {group, contender, value}: contenders of one group are compared by value, less is
# better. The first contender of a group is what the others are measured against. A point without a variant is the condition "as_it_is".

def mean: add / length;
# One row for each group and contender: the ratio to the first, in each condition.
def robustness($points):
    [$points[] | (compared + {condition: (.tag.condition // "as_it_is"), seed: (.set["run.seed"] // "0")})] as $runs
    | (reduce $runs[].condition as $c ([]; if index($c) then . else . + [$c] end)) as $conditions
    | (reduce ($runs[] | [.group, .contender]) as $c ([]; if index([$c]) then . else . + [$c] end)) as $all
    | $all[] | .[0] as $group | .[1] as $contender
    | ([$all[] | select(.[0] == $group)][0][1]) as $first
    | [$conditions[] as $condition
        | [$runs[] | select(.group == $group and .condition == $condition)] as $here
        | ([$here[] | select(.contender == $contender)]) as $own | ([$here[] | select(.contender == $first)]) as $reference
        | select(($own | length) > 0 and ($reference | length) > 0)
        | {$condition, ratio: (([$own[].value] | mean) / ([$reference[].value] | mean)),
           least: (([$own[].value] | min) / ([$reference[].value] | max)),
           most: (([$own[].value] | max) / ([$reference[].value] | min)),
           spread: ([[$own[].value], [$reference[].value]] | map((max - min) / (mean)) | max)}] as $ratios
    | {$group, $contender, against: $first}
      + ($ratios | map({key: .condition, value: (.ratio | digits(3))}) | from_entries)
      + {least: ($ratios | map(.least) | min | digits(3)), most: ($ratios | map(.most) | max | digits(3)),
         seed_spread: ($ratios | map(.spread) | max | digits(2)),
         claim: (if $contender == $first then "" elif ($ratios | any(.ratio | isnan)) then "none" elif ($ratios | all(.most < 0.99)) then "faster" elif ($ratios | all(.least > 1.01)) then "slower"
                 elif ($ratios | all(.least > 0.95 and .most < 1.05)) then "equal within 5 %" else "none" end),
         eager_differs: ([$runs[] | select(.group == $group and .contender == $contender)]
             | group_by(.condition) | map({key: .[0].condition, value: (map(.value) | mean)}) | from_entries as $mean
             | [["as_it_is", "eager"], ["rendezvous_0.1us", "eager_0.1us"], ["rendezvous_1us", "eager_1us"]]
             | map(select($mean[.[0]] and $mean[.[1]]) | ($mean[.[1]] / $mean[.[0]] - 1)) 
             | if length == 0 then "" else (max_by(fabs)) as $worst | if ($worst | fabs) > 0.1 then "\($worst * 100 | round) %" else "no" end end)};
robustness(.)
