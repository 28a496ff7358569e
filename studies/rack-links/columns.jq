# Throughput: what all tasks together receive per second of run time. The reference of a pattern is its point with one link.
. as $points | .[] | . as $p
| ($points[] | select(.tag.pattern == $p.tag.pattern and .tag.level2 == $p.tag.level2 and .tag.links == "1")) as $one
| .result.jobs[0] as $job
| {pattern: .tag.pattern, level2_GBps: (.tag.level2 | tonumber), links: (.tag.links | tonumber), run_time_us: ($job.finish_ps / 1e6),
   throughput_GBps: (1000 * .result.bytes_delivered / $job.finish_ps), speedup: ($one.result.jobs[0].finish_ps / $job.finish_ps),
   use_level1: .links["level 1"].utilisation, use_level2: .links["level 2"].utilisation, use_level3: .links["level 3"].utilisation,
   use_level3_max: .links["level 3"].utilisation_max, use_level2_max: .links["level 2"].utilisation_max}
| with_entries(if .value | type == "number" then .value |= digits(4) else . end)
