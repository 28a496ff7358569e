-- Times of a collective alone and beside other jobs, their ratio, and what was measured (github.com/HLC-Lab/CRAB, MIT licence; arXiv 2604.11432): medians and 90th percentiles over
-- a thousand iterations, on the same nodes where that is possible.
CREATE VIEW measured(machine, cell, bytes, "case", burst, median_us, p90_us) AS VALUES
    ('leonardo', 'a2a-32', '256KiB', 'alone', '', 187.853, 191.888), ('leonardo', 'a2a-32', '256KiB', 'all-to-all', '', 188.310, 192.654),
    ('leonardo', 'a2a-32', '256KiB', 'incast', '', 792.117, 1153.459), ('leonardo', 'a2a-32', '2MiB', 'alone', '', 1331.692, 1343.422),
    ('leonardo', 'a2a-32', '2MiB', 'all-to-all', '', 1330.104, 1340.641), ('leonardo', 'a2a-32', '2MiB', 'incast', '', 2413.613, 2539.722),
    ('leonardo', 'allgather-32', '256KiB', 'alone', '', 95.221, 96.807), ('leonardo', 'allgather-32', '256KiB', 'all-to-all', '', 96.187, 98.233),
    ('leonardo', 'allgather-32', '256KiB', 'incast', '', 97.293, 705.911), ('leonardo', 'allgather-32', '2MiB', 'alone', '', 289.737, 347.493),
    ('leonardo', 'allgather-32', '2MiB', 'all-to-all', '', 276.322, 333.398), ('leonardo', 'allgather-32', '2MiB', 'incast', '', 868.639, 1145.487),
    ('leonardo', 'a2a-16', '256KiB', 'alone', '', 92.190, 96.109), ('leonardo', 'a2a-16', '256KiB', 'all-to-all', '', 92.392, 96.312),
    ('leonardo', 'a2a-16', '256KiB', 'incast', '', 96.041, 316.249), ('leonardo', 'a2a-16', '2MiB', 'alone', '', 629.989, 633.406),
    ('leonardo', 'a2a-16', '2MiB', 'all-to-all', '', 637.212, 641.311), ('leonardo', 'a2a-16', '2MiB', 'incast', '', 662.269, 848.528),
    ('leonardo', 'allgather-16', '256KiB', 'alone', '', 60.088, 61.055), ('leonardo', 'allgather-16', '256KiB', 'all-to-all', '', 61.111, 62.232),
    ('leonardo', 'allgather-16', '256KiB', 'incast', '', 61.167, 205.705), ('leonardo', 'allgather-16', '2MiB', 'alone', '', 146.840, 152.474),
    ('leonardo', 'allgather-16', '2MiB', 'all-to-all', '', 148.002, 154.210), ('leonardo', 'allgather-16', '2MiB', 'incast', '', 189.288, 420.959),
    ('lumi', 'a2a-8', '256KiB', 'alone', '', 54.456, 55.697), ('lumi', 'a2a-8', '256KiB', 'all-to-all', '', 54.676, 55.839),
    ('lumi', 'a2a-8', '256KiB', 'incast', '', 54.976, 56.049), ('lumi', 'a2a-8', '2MiB', 'alone', '', 478.487, 483.879),
    ('lumi', 'a2a-8', '2MiB', 'all-to-all', '', 472.916, 479.540), ('lumi', 'a2a-8', '2MiB', 'incast', '', 478.236, 484.167),
    ('lumi', 'allgather-8', '256KiB', 'alone', '', 27.643, 29.492), ('lumi', 'allgather-8', '256KiB', 'all-to-all', '', 27.453, 29.140),
    ('lumi', 'allgather-8', '256KiB', 'incast', '', 27.563, 29.056), ('lumi', 'allgather-8', '2MiB', 'alone', '', 90.881, 92.732),
    ('lumi', 'allgather-8', '2MiB', 'all-to-all', '', 90.936, 93.292), ('lumi', 'allgather-8', '2MiB', 'incast', '', 90.936, 93.655),
    ('lumi', 'a2a-16', '256KiB', 'alone', '', 126.190, 130.997), ('lumi', 'a2a-16', '256KiB', 'all-to-all', '', 123.455, 128.372),
    ('lumi', 'a2a-16', '256KiB', 'incast', '', 123.299, 128.772), ('lumi', 'a2a-16', '2MiB', 'alone', '', 1181.903, 1268.397),
    ('lumi', 'a2a-16', '2MiB', 'all-to-all', '', 1183.831, 1262.274), ('lumi', 'a2a-16', '2MiB', 'incast', '', 1176.423, 1247.488),
    ('lumi', 'allgather-16', '256KiB', 'alone', '', 68.019, 69.117), ('lumi', 'allgather-16', '256KiB', 'all-to-all', '', 67.755, 69.101),
    ('lumi', 'allgather-16', '256KiB', 'incast', '', 67.829, 69.123), ('lumi', 'allgather-16', '2MiB', 'alone', '', 140.891, 142.945),
    ('lumi', 'allgather-16', '2MiB', 'all-to-all', '', 140.903, 142.801), ('lumi', 'allgather-16', '2MiB', 'incast', '', 140.945, 142.988),
    ('lumi', 'a2a-32', '256KiB', 'alone', '', 340.204, 352.818), ('lumi', 'a2a-32', '256KiB', 'all-to-all', '', 341.502, 352.126),
    ('lumi', 'a2a-32', '256KiB', 'incast', '', 344.849, 357.034), ('lumi', 'a2a-32', '2MiB', 'alone', '', 3601.288, 3928.223),
    ('lumi', 'a2a-32', '2MiB', 'all-to-all', '', 3564.358, 3889.506), ('lumi', 'a2a-32', '2MiB', 'incast', '', 3536.266, 3850.312),
    ('lumi', 'allgather-32', '256KiB', 'alone', '', 88.576, 91.229), ('lumi', 'allgather-32', '256KiB', 'all-to-all', '', 88.482, 91.158),
    ('lumi', 'allgather-32', '256KiB', 'incast', '', 88.677, 91.427), ('lumi', 'allgather-32', '2MiB', 'alone', '', 214.866, 217.354),
    ('lumi', 'allgather-32', '2MiB', 'all-to-all', '', 214.706, 216.941), ('lumi', 'allgather-32', '2MiB', 'incast', '', 214.695, 217.133),
    ('lumi', 'a2a-64', '256KiB', 'alone', '', 736.861, 761.894), ('lumi', 'a2a-64', '256KiB', 'all-to-all', '', 735.342, 763.475),
    ('lumi', 'a2a-64', '256KiB', 'incast', '', 732.868, 755.600), ('lumi', 'a2a-64', '2MiB', 'alone', '', 8098.959, 8889.794),
    ('lumi', 'a2a-64', '2MiB', 'all-to-all', '', 7597.617, 8054.172), ('lumi', 'a2a-64', '2MiB', 'incast', '', 7621.167, 8057.878),
    ('lumi', 'allgather-64', '256KiB', 'alone', '', 237.977, 241.291), ('lumi', 'allgather-64', '256KiB', 'all-to-all', '', 238.268, 241.662),
    ('lumi', 'allgather-64', '256KiB', 'incast', '', 239.670, 242.922), ('lumi', 'allgather-64', '2MiB', 'alone', '', 520.580, 524.405),
    ('lumi', 'allgather-64', '2MiB', 'all-to-all', '', 520.163, 523.862), ('lumi', 'allgather-64', '2MiB', 'incast', '', 535.423, 538.884),
    ('leonardo', 'a2a-32', '256KiB', 'incast', '100ms-1us', 193.254, 841.251), ('leonardo', 'allgather-32', '256KiB', 'incast', '100ms-1us', 391.877, 753.587),
    ('leonardo', 'a2a-32', '256KiB', 'incast', '100ms-100us', 984.121, 1260.042), ('leonardo', 'allgather-32', '256KiB', 'incast', '100ms-100us', 319.422, 998.870),
    ('leonardo', 'a2a-32', '256KiB', 'incast', '10ms-10ms', 188.138, 515.707), ('leonardo', 'allgather-32', '256KiB', 'incast', '10ms-10ms', 95.025, 155.043),
    ('leonardo', 'a2a-32', '256KiB', 'incast', '1ms-10ms', 187.666, 192.355), ('leonardo', 'allgather-32', '256KiB', 'incast', '1ms-10ms', 94.886, 96.342);

CREATE VIEW simulated AS
SELECT number, "@machine" AS machine, "@part" AS part, "@cell" AS cell, coalesce("@bytes", '256KiB') AS bytes, "@case" AS "case", coalesce("@burst", '') AS burst, coalesce("@control", 'none') AS control,
    coalesce("@change", '') AS change,
    coalesce("jobs[victim].measured.sizes[8192].median_ps",
             "jobs[victim].measured.sizes[16384].median_ps",
             "jobs[victim].measured.sizes[32768].median_ps",
             "jobs[victim].measured.sizes[65536].median_ps",
             "jobs[victim].measured.sizes[131072].median_ps",
             "jobs[victim].measured.sizes[262144].median_ps",
             "jobs[victim].measured.sizes[524288].median_ps",
             "jobs[victim].measured.sizes[2097152].median_ps") / 1e6 AS median_us,
    coalesce("jobs[victim].measured.sizes[8192].p90_ps",
             "jobs[victim].measured.sizes[16384].p90_ps",
             "jobs[victim].measured.sizes[32768].p90_ps",
             "jobs[victim].measured.sizes[65536].p90_ps",
             "jobs[victim].measured.sizes[131072].p90_ps",
             "jobs[victim].measured.sizes[262144].p90_ps",
             "jobs[victim].measured.sizes[524288].p90_ps",
             "jobs[victim].measured.sizes[2097152].p90_ps") / 1e6 AS p90_us
FROM points;

CREATE VIEW results AS
SELECT s.machine, s.part, s.cell, s.bytes, s."case", s.burst, s.control, s.change, s.median_us, s.p90_us,
    s.median_us / coalesce(own.median_us, base.median_us) AS median_ratio, s.p90_us / coalesce(own.p90_us, base.p90_us) AS p90_ratio,
    m.median_us AS measured_median_us, m.p90_us AS measured_p90_us, m.median_us / alone.median_us AS measured_median_ratio, m.p90_us / alone.p90_us AS measured_p90_ratio
FROM simulated AS s
LEFT JOIN simulated AS own ON own.machine = s.machine AND own.cell = s.cell AND own.bytes = s.bytes AND own.control = s.control AND own.change = s.change AND own."case" = 'alone'
LEFT JOIN simulated AS base ON base.machine = s.machine AND base.cell = s.cell AND base.bytes = s.bytes AND base.control = s.control AND base.change = '' AND base."case" = 'alone'
LEFT JOIN measured AS m ON m.machine = s.machine AND m.cell = s.cell AND m.bytes = s.bytes AND m."case" = s."case" AND m.burst = s.burst AND s.change = ''
LEFT JOIN measured AS alone ON alone.machine = s.machine AND alone.cell = s.cell AND alone.bytes = s.bytes AND alone."case" = 'alone'
ORDER BY s.number;
