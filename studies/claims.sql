-- What comparisons survive (docs/studies.md): from the view compared("group", contender, place, condition, value), in which less is better and the
-- first contender of a group by place is what the others are measured against. A value for each seed of a condition.
CREATE VIEW ratios AS
WITH mean AS (SELECT "group", contender, condition, min(place) AS place, 1.0 * min(value) AS least, 1.0 * max(value) AS most,
                  CASE WHEN count(value) = count(*) THEN avg(value) END AS mean FROM compared GROUP BY "group", contender, condition),
     first AS (SELECT "group", contender, min(place) AS place FROM mean GROUP BY "group")
SELECT mean."group", mean.contender, first.contender AS against, condition, mean.mean, mean.mean / base.mean AS ratio,
    mean.least / base.most AS least, mean.most / base.least AS most,
    max((mean.most - mean.least) / mean.mean, (base.most - base.least) / base.mean) AS spread, first.place AS group_place, mean.place
FROM mean JOIN first USING ("group") JOIN mean AS base USING (condition)
WHERE base."group" = mean."group" AND base.contender = first.contender ORDER BY first.place, mean.place;

CREATE VIEW robustness AS
WITH wide AS (SELECT *,
        max(ratio) FILTER (WHERE condition = 'as_it_is') AS as_it_is, max(ratio) FILTER (WHERE condition = 'seeds') AS seeds,
        max(ratio) FILTER (WHERE condition = 'rendezvous_0.1us') AS "rendezvous_0.1us", max(ratio) FILTER (WHERE condition = 'rendezvous_1us') AS rendezvous_1us,
        max(ratio) FILTER (WHERE condition = 'eager') AS eager, max(ratio) FILTER (WHERE condition = 'eager_0.1us') AS "eager_0.1us",
        max(ratio) FILTER (WHERE condition = 'eager_1us') AS eager_1us, max(ratio) FILTER (WHERE condition = 'latency_x1.2') AS "latency_x1.2",
        max(ratio) FILTER (WHERE condition = 'bandwidth_x4') AS bandwidth_x4,
        min(least) AS low, max(most) AS high, max(spread) AS seed_spread, count(*) - count(ratio) AS unknown,
        max(mean) FILTER (WHERE condition = 'eager') / max(mean) FILTER (WHERE condition = 'as_it_is') - 1 AS a,
        max(mean) FILTER (WHERE condition = 'eager_0.1us') / max(mean) FILTER (WHERE condition = 'rendezvous_0.1us') - 1 AS b,
        max(mean) FILTER (WHERE condition = 'eager_1us') / max(mean) FILTER (WHERE condition = 'rendezvous_1us') - 1 AS c,
        min(place) AS first_place
    FROM ratios GROUP BY "group", contender),
     worst AS (SELECT *, CASE WHEN coalesce(a, b, c) IS NULL THEN NULL
            WHEN max(coalesce(a, 0), coalesce(b, 0), coalesce(c, 0)) > -min(coalesce(a, 0), coalesce(b, 0), coalesce(c, 0))
            THEN max(coalesce(a, 0), coalesce(b, 0), coalesce(c, 0)) ELSE min(coalesce(a, 0), coalesce(b, 0), coalesce(c, 0)) END AS eager_change FROM wide)
SELECT "group", contender, against, as_it_is, seeds, "rendezvous_0.1us", rendezvous_1us, eager, "eager_0.1us", eager_1us, "latency_x1.2", bandwidth_x4,
    low AS least, high AS most, seed_spread,
    CASE WHEN contender = against THEN '' WHEN unknown THEN 'none' WHEN high < 0.99 THEN 'faster' WHEN low > 1.01 THEN 'slower'
         WHEN low > 0.95 AND high < 1.05 THEN 'equal within 5 %' ELSE 'none' END AS claim,
    CASE WHEN eager_change IS NULL THEN '' WHEN abs(eager_change) > 0.1 THEN CAST(round(100 * eager_change) AS INTEGER) || ' %' ELSE 'no' END AS eager_differs
FROM worst ORDER BY group_place, first_place;
