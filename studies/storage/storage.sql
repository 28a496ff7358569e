-- MiB a second of the eight clients, from their first operation to the end of the last close; and what the storm does to the job beside it.
CREATE VIEW records AS
SELECT "@cache" AS cache, CAST("jobs[ior].transfer" AS REAL) * CASE WHEN "jobs[ior].transfer" LIKE '%MiB' THEN 1024 ELSE 1 END AS record_KiB, "jobs[ior].mode" AS operation, "@level" AS level, "jobs[ior].finish_ps" / 1e12 AS time_s,
    ("storage.written_bytes" * ("jobs[ior].mode" = 'write') + "storage.read_bytes" * ("jobs[ior].mode" = 'read')) / 1048576.0 / ("jobs[ior].finish_ps" / 1e12) AS MiB_per_s,
    "storage.full_seeks" + "storage.track_seeks" AS seeks, "storage.device_operations" AS device_operations
FROM points WHERE "@part" = 'records' ORDER BY number;

CREATE VIEW storm AS
SELECT "@network" AS network, "@storm" AS storm, "jobs[victim].measured.sizes[8].median_ps" / 1e6 AS median_us, "jobs[victim].measured.sizes[8].p90_ps" / 1e6 AS p90_us,
    "jobs[victim].measured.sizes[8].max_ps" / 1e6 AS longest_us, "jobs[victim].finish_ps" / 1e9 AS victim_ms, "jobs[ior].finish_ps" / 1e9 AS ior_ms
FROM points WHERE "@part" = 'storm' ORDER BY number;
