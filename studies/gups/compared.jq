# Simulated time per update against the bound of README.md, for evenly dealt links (a fraction of the node links' bandwidth, whatever that is).
(.set["topology.groups"] | split(",")[2] | tonumber) as $racks | (64 / 96 * (16 * $racks - 1)) as $f
| {group: "\($racks) racks", contender: "bound", value: (25 / ([$f * 5 / (4 + 8 * ($racks - 1)), $f * 4 / 256] | min))},
  {group: "\($racks) racks", contender: "simulated", value: (1 / .result.accepted_load)}
