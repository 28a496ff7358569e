-- Bounds as derived in README.md, per node in GB/s of payload: 64 of the 96 bytes that an update puts on the wire. g: links of a switch to other racks.
CREATE VIEW results AS
WITH size AS (SELECT *, CAST(substr("topology.groups", 6) AS INTEGER) AS racks FROM points WHERE coalesce("@condition", 'as_it_is') = 'as_it_is'),
     network AS (SELECT *, 16 * racks AS nodes, (racks - 1) % 8 AS left_over, (racks - 1) / 8.0 AS g, 64 / 96.0 * (16 * racks - 1) AS f FROM size),
     bounds AS (SELECT *, 25 * 64 / 96.0 AS bound_node, f * 25 / (4 + 64 * g) AS bound_level1, f * 5 / (4 + 64 * g) AS bound_level2, f * 4 / 256 AS bound_level3,
                    f * 5 / (4 + 32 * (2 * floor(g) + min(left_over, 2))) AS fullest, 25 * accepted_load AS simulated FROM network)
SELECT racks, nodes, left_over = 0 AS even, bound_node, bound_level1, bound_level2, bound_level3, simulated,
    min(bound_node, bound_level1, bound_level2, bound_level3) AS bound, 100 * simulated / min(bound_node, bound_level1, bound_level2, bound_level3) AS percent_of_bound,
    min(bound_node, bound_level1, bound_level2, bound_level3, fullest) AS bound_fullest_link, simulated * nodes / 64 AS updates_per_ns,
    "link_classes[level 2].mean_utilisation" AS use_level2, "link_classes[level 3].mean_utilisation" AS use_level3, CAST("@warmup_us" AS INTEGER) AS warmup_us
FROM bounds ORDER BY warmup_us = 60, racks;

-- Simulated time per update against the bound, for evenly dealt links (a fraction of the node links' bandwidth, whatever that is).
CREATE VIEW compared AS
WITH size AS (SELECT *, CAST(substr("topology.groups", 6) AS INTEGER) AS racks FROM points WHERE "@condition" IS NOT NULL)
SELECT racks || ' racks' AS "group", 'bound' AS contender, 2 * number AS place, "@condition" AS condition,
    25 / (64 / 96.0 * (16 * racks - 1) * min(5.0 / (4 + 8 * (racks - 1)), 4.0 / 256)) AS value FROM size
UNION ALL SELECT racks || ' racks', 'simulated', 2 * number + 1, "@condition", 1 / accepted_load FROM size;
