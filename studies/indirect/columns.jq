# Run time of the application alone, normalised to that with direct routes on the same links and switches.
. as $points | .[] | . as $p
| ([$points[] | select(.tag.mode == "direct" and .tag.rate == $p.tag.rate and .tag.switch == $p.tag.switch and .tag.cause == $p.tag.cause)][0]) as $direct
| {rack_link_GBps: (.tag.rate | tonumber), switch: .tag.switch, cause: .tag.cause, mode: .tag.mode, detours: (.tag.detours | tonumber),
   run_time_us: (.result.jobs[0].finish_ps / 1e6),
   relative_run_time: (if $direct then .result.jobs[0].finish_ps / $direct.result.jobs[0].finish_ps else null end),
   hops: .result.hops.mean, use_level3_max: .links["level 3"].utilisation_max, out_of_order_packets: .result.out_of_order_packets}
| with_entries(if .value | type == "number" then .value |= digits(4) else . end)
