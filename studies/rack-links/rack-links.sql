-- Throughput: what all tasks together receive per second of run time. Speedup: against one link.
CREATE VIEW results AS
SELECT own."@pattern" AS pattern, own."@level2" AS level2_GBps, own."@links" AS links, own."jobs[job0].finish_ps" / 1e6 AS run_time_us,
    1e3 * own.bytes_delivered / own."jobs[job0].finish_ps" AS throughput_GBps, 1.0 * one."jobs[job0].finish_ps" / own."jobs[job0].finish_ps" AS speedup,
    own."link_classes[level 1].mean_utilisation" AS use_level1, own."link_classes[level 2].mean_utilisation" AS use_level2,
    own."link_classes[level 3].mean_utilisation" AS use_level3, own."link_classes[level 3].max_utilisation" AS use_level3_max,
    own."link_classes[level 2].max_utilisation" AS use_level2_max
FROM points AS own JOIN points AS one USING ("@pattern", "@level2")
WHERE coalesce(own."@condition", 'as_it_is') = 'as_it_is' AND coalesce(one."@condition", 'as_it_is') = 'as_it_is' AND one."@links" = 1
ORDER BY pattern = 'step', own.number;

-- All numbers of links against one; sixteen and eight against four; level 2 of 25 GB/s against 10.
CREATE VIEW compared AS
WITH one AS (SELECT "@pattern" AS pattern, "@level2" AS level2, "@links" AS links, number, "@condition" AS condition, "jobs[job0].finish_ps" AS finish
    FROM points WHERE "@condition" IS NOT NULL)
SELECT pattern || ' with level 2 of ' || level2 || ' GB/s' AS "group", links AS contender, number AS place, condition, finish AS value FROM one
UNION ALL SELECT pattern || ' with level 2 of ' || level2 || ' GB/s from 4 links', links, number, condition, finish FROM one WHERE links >= 4
UNION ALL SELECT 'halo with ' || links || ' links', 'level 2 ' || level2 || ' GB/s', number, condition, finish FROM one WHERE pattern = 'halo';
