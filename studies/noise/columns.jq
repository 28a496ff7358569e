# Time against the same without noise; the law: what a step of g takes longer on average when it waits once for the slowest of n independent sources of
# detours d, one in each period p: d (1 - integral over y of (1 - (g + (1 - y) d) / p)^n), where g + d < p.
def span: capture("^(?<n>[0-9.]+)(?<u>us|ms|s)$") | (.n | tonumber) * {us: 1, ms: 1000, s: 1000000}[.u];
def law($n; $g; $p; $d): $d * (1 - ([range(0; 200) | 1 - ($g + (1 - (. + 0.5) / 200) * $d) / $p | pow(.; $n)] | add / 200));
. as $points | .[] | . as $p
| ([$points[] | select(.tag.tasks == $p.tag.tasks and .tag.steps == $p.tag.steps and .tag.begin == "none")][0].result.jobs[0].finish_ps) as $quiet
| ($p.set["jobs[0].compute_time"] | span) as $work
| {tasks: .tag.tasks, reductions: .tag.steps, period: .tag.period, length: .tag.length, together: .tag.begin,
   time_ms: (.result.jobs[0].finish_ps / 1e9 | digits(6)),
   slowdown: (.result.jobs[0].finish_ps / $quiet | digits(5)),
   law: (if .tag.begin == "none" or .tag.begin == "same" then ""
     else (.tag.period | span) as $period | (.tag.length | span) as $length
     | if $work + $length >= $period then ""
       else 1 + law((.tag.tasks | tonumber) / (if .tag.begin == "node" then 16 else 1 end); $work; $period; $length) / $work | digits(5) end end)}
