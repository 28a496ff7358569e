# Time, what shares of it the tasks computed, stood for memory, or waited; how busy the busiest controller and adapter were; and how much shorter it is with something
# four times as fast (part job), sixteen times as fast or for nothing (part reduce).
def same($a; $b): all("part", "tasks", "adapters", "memory", "algorithm", "size", "order"; . as $t | $a.tag[$t] == $b.tag[$t]);
. as $points | .[] | . as $p
| ([$points[] | select(.tag.faster == "none" and same(.; $p))][0].result.jobs[0].finish_ps) as $time
| .result as $r
| {part: .tag.part, tasks_per_node: (.tag.tasks // ""), adapters: (.tag.adapters // ""), memory: (.tag.memory // ""), algorithm: (.tag.algorithm // ""),
   size: (.tag.size // ""), order: (.tag.order // ""), faster: .tag.faster,
   time_us: ($r.jobs[0].finish_ps / 1e6 | digits(6)), speedup: ($time / $r.jobs[0].finish_ps | digits(4)),
   computing: ($r.jobs[0].time_shares.compute | digits(3)), stalled: ($r.jobs[0].time_shares.stalled | digits(3)),
   waiting: ($r.jobs[0].time_shares.wait | digits(3)), controller_max: ($r.node.controllers.max_utilisation | digits(3)),
   adapter_max: (.links.node.utilisation_max | digits(3))}
