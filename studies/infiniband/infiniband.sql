-- The thesis's figures and ours, side by side; deviations in percent.
CREATE VIEW dissemination AS
WITH thesis(parameters, topology, max_ps, min_ps, deviation_ps) AS (VALUES
    ('first_set', 'H8_S1', 4293200, 4293200, 0), ('first_set', 'H8_S2', 4667100, 4378750, 114575),
    ('first_set', 'H8_S4', 4577250, 4473350, 55536), ('first_set', 'H8_S6', 4860850, 4667100, 103563),
    ('zero', 'H8_S1', 723100, 723100, 0), ('zero', 'H8_S2', 1098500, 780600, 125436),
    ('zero', 'H8_S4', 943100, 843100, 53452), ('zero', 'H8_S6', 1261850, 1105600, 83519)),
ours AS (SELECT "@parameters" AS parameters, "@topology" AS topology, points.number AS place, max(finish_ps) AS most, min(finish_ps) AS least,
    CAST(round(sqrt(max(0, (sum(1.0 * finish_ps * finish_ps) - count(*) * avg(finish_ps) * avg(finish_ps)) / (count(*) - 1)))) AS INTEGER) AS deviation
    FROM points JOIN tasks USING (number) WHERE "@part" = 'dissemination' GROUP BY number)
SELECT parameters, topology, most AS max_ps, thesis.max_ps AS thesis_max_ps, round(100.0 * most / thesis.max_ps - 100, 2) AS max_off,
    least AS min_ps, thesis.min_ps AS thesis_min_ps, round(100.0 * least / thesis.min_ps - 100, 2) AS min_off, deviation AS deviation_ps, thesis.deviation_ps AS thesis_deviation_ps
FROM ours JOIN thesis USING (parameters, topology) ORDER BY place;

CREATE VIEW ring AS
WITH thesis(hosts, sends, ps) AS (VALUES (128, 15, 10147000), (128, 30, 20247000), (128, 45, 30355600), (242, 15, 10140750), (242, 30, 20086850),
    (242, 45, 30149350), (392, 15, 10140750), (392, 30, 20086850), (392, 45, 30034500), (512, 15, 9949350), (512, 30, 19897000), (512, 45, 29868100))
SELECT "@hosts" AS hosts, "jobs[ring].repetitions" AS sends, "jobs[ring].finish_ps" AS finish_ps, ps AS thesis_ps, round(100.0 * "jobs[ring].finish_ps" / ps - 100, 2) AS off
FROM points JOIN thesis ON hosts = "@hosts" AND sends = "jobs[ring].repetitions" WHERE "@part" = 'ring' ORDER BY number;

CREATE VIEW sizes AS
WITH thesis(bytes, us) AS (VALUES (4, 0.1115), (16000, 8.8), (32000, 17.5), (48000, 26), (64000, 35), (80000, 44), (160000, 87), (240000, 131), (320000, 174), (400000, 218))
SELECT bytes, round("message_latency_ps.mean" / 1e6, 4) AS travel_us, us AS thesis_us, round(100.0 * "message_latency_ps.mean" / 1e6 / us - 100, 2) AS off
FROM points JOIN thesis ON bytes = "jobs[sizes].bytes" WHERE "@part" = 'sizes' ORDER BY number;

CREATE VIEW arrivals AS
WITH thesis(message, ns) AS (VALUES (0, 291286.85), (1, 578853.25), (2, 861134.5), (3, 1143278.25), (4, 1424530.6), (5, 1706190.75), (6, 1988334.5), (7, 2270440.75),
    (8, 2552647), (9, 2834818.1), (10, 3116447), (11, 3398755.6), (12, 3680384.5), (13, 3962734.5), (14, 4244772), (15, 4527049.35), (16, 4808647), (17, 5090928.25),
    (18, 5373249.35), (19, 5654847)),
ours AS (SELECT row_number() OVER (ORDER BY end_ps) - 1 AS message, end_ps AS ps FROM critical_path_steps JOIN points USING (number)
    WHERE "@part" = 'log' AND critical_path_steps.kind = 'transfer')
SELECT message, ours.ps AS arrived_ps, CAST(1000 * thesis.ns AS INTEGER) AS thesis_ps, round(0.1 * ours.ps / thesis.ns - 100, 3) AS off FROM ours JOIN thesis USING (message)
UNION ALL SELECT 'end', "jobs[log].finish_ps", 12478847000, round("jobs[log].finish_ps" / 124788470.0 - 100, 3) FROM points WHERE "@part" = 'log';

-- Of links to nodes, as shares of what they carry: the root's, and the mean of all others, which carry nothing but background.
CREATE VIEW hot_spot AS
WITH root AS (SELECT number, node FROM tasks WHERE job = 'hot' AND task = 0)
SELECT (SELECT count(*) - 1 FROM tasks WHERE tasks.number = points.number AND job = 'hot') AS contributors, coalesce("@control", CASE WHEN "@held" IS NULL THEN 'none' ELSE 'tuned' END) AS control, coalesce("@open", "@held", 'as_it_is') AS what,
    round(avg(CASE WHEN "to" <> root.node THEN utilisation END), 4) AS background, round(max(CASE WHEN "to" = root.node THEN utilisation END), 4) AS hot_link
FROM points JOIN root USING (number) JOIN links USING (number) WHERE "@case" LIKE 'hot_spot%' AND to_kind = 'node' GROUP BY number;

-- Of links from the contributors' nodes, without the background: three on the root's switch, twelve elsewhere. 2 ms are measured, 4 GB/s are all.
CREATE VIEW parking AS
SELECT coalesce("@control", CASE WHEN "@what" LIKE 'a10%' THEN 'a10' ELSE 'none' END) AS control, replace("@what", 'a10_', '') AS what, count(*) AS contributors, round(sum(bytes) / 8e6, 4) AS root_link,
    round(avg(CASE WHEN node < 18 THEN bytes / 8e6 END), 4) AS near, round(min(CASE WHEN node >= 18 THEN bytes / 8e6 END), 4) AS far_least,
    round(max(CASE WHEN node >= 18 THEN bytes / 8e6 END), 4) AS far_most
FROM points JOIN tasks USING (number) JOIN links_by_job AS l USING (number)
WHERE "@case" LIKE 'parking%' AND tasks.job = 'lot' AND l.job = 'lot' AND task > 0 AND from_kind = 'node' AND "from" = node GROUP BY number;

-- Four incasts, each from 128 nodes, one after the other; each has work for 0.8 of its time. Latencies are of all packets, of which 19 in 20 are background.
CREATE VIEW moving AS
SELECT "@life" AS life, "@control" AS control, round("packet_latency_ps.mean" / 1e6, 2) AS mean_us, round("packet_latency_ps.p99" / 1e6, 2) AS p99_us,
    round("jobs[one].finish_ps" / 1e6, 1) AS one_us, round("jobs[two].finish_ps" / 1e6 - "jobs[two].start", 1) AS two_us,
    round("jobs[three].finish_ps" / 1e6 - "jobs[three].start", 1) AS three_us, round("jobs[four].finish_ps" / 1e6 - "jobs[four].start", 1) AS four_us
FROM points WHERE "@case" = 'moving' ORDER BY number;
