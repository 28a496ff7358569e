-- Time against the same without noise; the law: what a step of g takes longer on average when it waits once for the slowest of n independent sources of
-- detours d, one in each period p: d (1 - integral over y of (1 - (g + (1 - y) d) / p)^n), where g + d < p. Times in us.
CREATE VIEW results AS
WITH RECURSIVE step(y) AS (SELECT 0.0025 UNION ALL SELECT y + 0.005 FROM step WHERE y < 0.995),
     run AS (SELECT *, "jobs[job0].tasks" AS tasks, coalesce("jobs[0].steps", 10) AS reductions, coalesce("node.noise.period", '0') AS period,
            coalesce("node.noise.length", '0') AS length, "jobs[job0].finish_ps" AS finish FROM points),
     timed AS (SELECT *, 20000.0 / min(reductions, 10) AS g,
            CAST(period AS REAL) * CASE WHEN period LIKE '%us' THEN 1 WHEN period LIKE '%ms' THEN 1e3 ELSE 1e6 END AS p,
            CAST(length AS REAL) * CASE WHEN length LIKE '%us' THEN 1 ELSE 1e3 END AS d, tasks / CASE "@begin" WHEN 'node' THEN 16 ELSE 1 END AS n FROM run)
SELECT tasks, reductions, period, length, "@begin" AS together, finish / 1e9 AS time_ms,
    finish * 1.0 / (SELECT finish FROM run AS quiet WHERE quiet."@begin" = 'none' AND quiet.tasks = timed.tasks AND quiet.reductions = timed.reductions) AS slowdown,
    CASE WHEN "@begin" IN ('core', 'node') AND g + d < p THEN 1 + d * (1 - (SELECT avg(pow(1 - (g + (1 - y) * d) / p, n)) FROM step)) / g END AS law
FROM timed ORDER BY number;
