-- Run time of the application alone, normalised to that with direct routes on the same links and switches. Direct routes take no notice of what is changed of
-- detours alone (routing.*): they are not run again for it.
CREATE VIEW runs_of AS
SELECT number, "@rate" AS rate, coalesce("@switch", 'usual') AS switch, coalesce("@cause", 'usual') AS cause, "@mode" AS mode,
    coalesce("routing.detours", 0) AS detours, coalesce("@condition", 'as_it_is') AS condition, "@condition" IS NOT NULL AS compared,
    replace(coalesce("@switch", 'usual'), '-port', '') AS direct_switch,
    CASE WHEN "@cause" LIKE 'over-rack%' OR "@cause" = 'drawn-switch' THEN 'usual' ELSE coalesce("@cause", 'usual') END AS direct_cause,
    "jobs[application].finish_ps" AS finish, "hops.mean" AS hops, "link_classes[level 3].max_utilisation" AS use_level3_max, out_of_order_packets FROM points;

CREATE VIEW results AS
SELECT own.rate AS rack_link_GBps, own.switch, own.cause, own.mode, own.detours, own.finish / 1e6 AS run_time_us, own.finish * 1.0 / direct.finish AS relative_run_time,
    own.hops, own.use_level3_max, own.out_of_order_packets
FROM runs_of AS own LEFT JOIN runs_of AS direct ON direct.mode = 'direct' AND direct.condition = 'as_it_is' AND direct.rate = own.rate
    AND direct.switch = own.direct_switch AND direct.cause = own.direct_cause
WHERE own.condition = 'as_it_is' ORDER BY own.cause <> 'usual', own.switch <> 'usual', own.rate DESC, own.number;

-- On the usual switches: all against direct routes, and adaptive against static detours. Two adaptive detours: other switches against the usual ones. With one
-- thing changed: the static detour against direct routes.
CREATE VIEW compared AS
WITH one AS (SELECT *, rate || ' GB/s' AS links, CASE mode WHEN 'direct' THEN mode ELSE mode || ' ' || detours END AS name FROM runs_of WHERE compared)
SELECT links AS "group", name AS contender, number AS place, condition, finish AS value FROM one WHERE cause = 'usual' AND switch = 'usual'
UNION ALL SELECT links || ' with ' || detours || ' detours', mode, number, condition, finish FROM one WHERE cause = 'usual' AND switch = 'usual' AND mode <> 'direct'
UNION ALL SELECT links || ' with adaptive 2', switch, number, condition, finish FROM one WHERE cause = 'usual' AND rate = 3.125 AND name = 'adaptive 2'
UNION ALL SELECT links || ' with ' || cause, name, number, condition, finish FROM one WHERE cause <> 'usual'
UNION ALL SELECT one.links || ' with ' || cause.cause, one.name, cause.number - 0.5, one.condition, one.finish
    FROM one JOIN runs_of AS cause ON cause.cause IN ('over-rack-3', 'drawn-switch') AND cause.condition = one.condition AND cause.compared
    WHERE one.name = 'direct' AND one.cause = 'usual' AND one.rate = 12.5;
