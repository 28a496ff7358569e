-- Run time: the mean of the jobs. Up to level l: bytes on links between levels l - 1 and l, which have taper^(l - 1) of the bandwidth of node links, over bytes on node
-- links; each goes up once and down once.
CREATE VIEW timed AS
SELECT *, coalesce("@condition", 'as_it_is') AS condition,
    CASE "@nodes" WHEN 128 THEN ("jobs[lammps0].finish_ps" + "jobs[lammps1].finish_ps" + "jobs[lammps2].finish_ps" + "jobs[lammps3].finish_ps") / 4.0
    ELSE ("jobs[lammps0].finish_ps" + "jobs[lammps1].finish_ps" + "jobs[lammps2].finish_ps" + "jobs[lammps3].finish_ps" + "jobs[lammps4].finish_ps" +
        "jobs[lammps5].finish_ps" + "jobs[lammps6].finish_ps" + "jobs[lammps7].finish_ps" + "jobs[lammps8].finish_ps" + "jobs[lammps9].finish_ps" +
        "jobs[lammps10].finish_ps" + "jobs[lammps11].finish_ps" + "jobs[lammps12].finish_ps" + "jobs[lammps13].finish_ps" + "jobs[lammps14].finish_ps" + "jobs[lammps15].finish_ps") / 16.0 END AS finish,
    "link_classes[node].mean_utilisation" * "link_classes[node].directions" AS ends FROM points;

CREATE VIEW results AS
SELECT "@nodes" AS nodes, "@processors" AS processors, "@placement" AS placement, "@switch" AS switch, 100 * (1 - "topology.taper") AS reduction_percent,
    "packet_latency_ps.mean" / 1e6 AS packet_delay_us, finish / 1e9 AS run_time_ms,
    100 * "link_classes[level 2].mean_utilisation" * "link_classes[level 2].directions" * "topology.taper" / ends AS up_to_level2_percent,
    100 * coalesce("link_classes[level 3].mean_utilisation" * "link_classes[level 3].directions", 0) * pow("topology.taper", 2) / ends AS up_to_level3_percent,
    100 * coalesce("link_classes[level 4].mean_utilisation" * "link_classes[level 4].directions", 0) * pow("topology.taper", 3) / ends AS up_to_level4_percent,
    "link_classes[level 2].mean_utilisation" AS use_level2
FROM timed WHERE condition = 'as_it_is' ORDER BY nodes DESC, processors, number;

-- Placements and bandwidths against sequential placement on a full tree; the smaller tree only.
CREATE VIEW compared AS
SELECT '8x8 with 128 nodes' AS "group", "@placement" || ' ' || CAST(100 * "topology.taper" AS INTEGER) || ' %' AS contender, number AS place, condition, finish AS value
FROM timed WHERE "@condition" IS NOT NULL;
