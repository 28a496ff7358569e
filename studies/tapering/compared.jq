# Placements and bandwidths against sequential placement on a full tree; the smaller tree only (points).
{group: "\(.tag.switch) with 128 nodes", contender: "\(.tag.placement) \(.set["topology.taper"] | tonumber * 100) %",
 value: ([.result.jobs[].finish_ps] | add / length)}
