# All numbers of links against one; sixteen and eight against four; level 2 of 25 GB/s against 10.
.tag as $tag | .result.jobs[0].finish_ps as $value | "\($tag.pattern) with level 2 of \($tag.level2) GB/s" as $group
| {$group, contender: $tag.links, $value},
  (select($tag.links == "4" or $tag.links == "8" or $tag.links == "16") | {group: "\($group) from 4 links", contender: $tag.links, $value}),
  (select($tag.pattern == "halo") | {group: "halo with \($tag.links) links", contender: "level 2 \($tag.level2) GB/s", $value})
