# Run time with packets beside that with LogGOPS, whose L is what one message takes on the same network.
. as $points | .[] | select(.tag.model == "packets") | . as $p
| ([$points[] | select(.tag.model == "loggops" and .tag.bytes == $p.tag.bytes and .tag.taper == $p.tag.taper)][0]) as $model
| {bytes: (.tag.bytes | tonumber), taper: (.tag.taper | tonumber), packets_us: (.result.jobs[0].finish_ps / 1e6 | digits(6)),
   loggops_us: (if $model then $model.result.jobs[0].finish_ps / 1e6 | digits(6) else "" end)}
