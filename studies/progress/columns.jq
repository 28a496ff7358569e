# Run time, normalised to progress by the adapter on the same network, with the same limit and computation.
def same($p): .tag.network == $p.tag.network and .set["mpi.eager_limit"] == $p.set["mpi.eager_limit"]
    and .set["jobs[0].processor_factor"] == $p.set["jobs[0].processor_factor"];
. as $points | .[] | . as $p
| ([$points[] | select(same($p) and .tag.mode == "adapter")][0]) as $adapter
| {network: .tag.network, eager_limit: .set["mpi.eager_limit"], processor_factor: (.set["jobs[0].processor_factor"] | tonumber), progress: .tag.mode,
   run_time_us: (.result.jobs[0].finish_ps / 1e6 | digits(6)),
   relative_run_time: (if $adapter then .result.jobs[0].finish_ps / $adapter.result.jobs[0].finish_ps | digits(6) else "" end)}
