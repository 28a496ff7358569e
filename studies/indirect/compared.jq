# On the usual switches: all against direct routes, and adaptive against static detours. Two adaptive detours: other switches against the usual ones.
# With one thing changed: the static detour against direct routes.
.tag as $tag | .result.jobs[0].finish_ps as $value | ($tag.rate + " GB/s") as $rate
| {contender: (if $tag.mode == "direct" then "direct" else "\($tag.mode) \($tag.detours)" end), $value} as $this
| if $tag.cause != "usual" then $this + {group: "\($rate) with \($tag.cause)"} else
  (select($tag.switch == "usual") | $this + {group: $rate}),
  (select($tag.switch == "usual" and $tag.mode != "direct") | {group: "\($rate) with \($tag.detours) detours", contender: $tag.mode, $value}),
  (select($tag.rate == "3.125" and $tag.mode == "adaptive" and $tag.detours == "2") | {group: "\($rate) with adaptive 2", contender: $tag.switch, $value})
  end
