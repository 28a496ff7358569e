-- Run time: the mean of the load's jobs. Links by class of length, and their rates.
CREATE VIEW timed AS
SELECT *, coalesce("@equal", 'cost') AS equal, replace("@network", '_', ' ') AS network, replace("@design", '_', ' ') AS design, replace("@job", '_', ' ') AS job,
        coalesce("jobs[stencil].finish_ps", "jobs[weather].finish_ps", ("jobs[lammps0].finish_ps" + "jobs[lammps1].finish_ps" + "jobs[lammps2].finish_ps" +
            "jobs[lammps3].finish_ps" + "jobs[lammps4].finish_ps" + "jobs[lammps5].finish_ps" + "jobs[lammps6].finish_ps" + "jobs[lammps7].finish_ps") / 8.0) / 1e6 AS run_time,
        CASE "@network" WHEN 'three_levels' THEN "link_classes[level 1].directions" ELSE coalesce("link_classes[x].directions", 0) END AS board,
        CASE "@network" WHEN 'dragonfly' THEN "link_classes[level 1].directions" ELSE coalesce("link_classes[y].directions", "link_classes[level 2].directions") END AS rack,
        CASE "@network" WHEN 'dragonfly' THEN "link_classes[level 2].directions"
            ELSE coalesce("link_classes[z].directions", "link_classes[level 3].directions", 0) END AS room,
        max(coalesce("link_classes[node].max_utilisation", 0), coalesce("link_classes[level 1].max_utilisation", 0), coalesce("link_classes[level 2].max_utilisation", 0),
            coalesce("link_classes[level 3].max_utilisation", 0), coalesce("link_classes[x].max_utilisation", 0), coalesce("link_classes[y].max_utilisation", 0),
            coalesce("link_classes[z].max_utilisation", 0)) AS busiest_link, '[' || replace("@rates", '/', ',') || ']' AS rates, coalesce("@condition", 'as_it_is') AS condition
FROM points;

-- Cost: bandwidth x (weight of the link's length class + weights of its ports at switches), of the links that the simulated network has; the fat tree of equal links
-- costs 1. Its first shape has these links at equal cost, too, and was run once.
CREATE VIEW results AS
WITH shown AS (SELECT * FROM timed JOIN (SELECT 'links' AS kind UNION ALL SELECT 'cost') ON kind = equal OR (network = 'fat tree' AND design = 'equal')
        WHERE condition = 'as_it_is'),
     tree AS (SELECT job, run_time AS tree FROM timed WHERE network = 'fat tree' AND design = 'equal' AND condition = 'as_it_is'),
     best AS (SELECT job, kind, min(run_time) AS best FROM shown WHERE network = 'fat tree' GROUP BY job, kind)
SELECT kind AS equal, network, design, job, "@rates" AS GBps_board_rack_room,
    (board / 2 * (rates ->> 0) * (1 + 2 * 12) + rack / 2 * (rates ->> 1) * (2 + 2 * 12) + room / 2 * (rates ->> 2) * (6 + 2 * 12) + 256 * 12.5 * (1 + 12)) /
        (12.5 * (256 * (1 + 12) + 256 * (2 + 2 * 12) + 256 * (6 + 2 * 12))) AS relative_cost,
    run_time AS run_time_us, run_time / tree AS relative_run_time, run_time / best AS relative_to_best_tree,
    "packet_latency_ps.mean" / 1e6 AS packet_latency_us, "control_wait_ps.mean" / 1e6 AS control_wait_us, "hops.mean" AS hops, busiest_link
FROM shown JOIN tree USING (job) JOIN best USING (job, kind)
ORDER BY kind DESC, min(number) OVER (PARTITION BY kind, network), min(number) OVER (PARTITION BY kind, network, design),
    instr('stencil in order, stencil at random, weather, LAMMPS', job);

-- Run times of the networks, by load: the fat tree comes first, the others are measured against it.
CREATE VIEW compared AS
SELECT job AS "group", network AS contender, number AS place, condition, run_time AS value FROM timed WHERE "@condition" IS NOT NULL;
