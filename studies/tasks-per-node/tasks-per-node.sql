-- Time, what shares of it the tasks computed, stood for memory, or waited; how busy the busiest controller and adapter were; and how much shorter it is with something
-- four times as fast (part job), sixteen times as fast or for nothing (part reduce).
CREATE VIEW timed AS
SELECT number, "@part" AS part, "jobs[cube].tasks_per_node" AS tasks_per_node, "node.adapters" AS adapters, "jobs[cube].memory_factor" AS memory,
    "mpi.collectives.allreduce" AS algorithm, "jobs[vector].allreduce_bytes" AS size, "@order" AS "order", "@faster" AS faster, "@condition" AS condition,
    coalesce("jobs[cube].finish_ps", "jobs[vector].finish_ps") AS finish,
    coalesce("jobs[cube].time_shares.compute", "jobs[vector].time_shares.compute") AS computing,
    coalesce("jobs[cube].time_shares.stalled", "jobs[vector].time_shares.stalled") AS stalled,
    coalesce("jobs[cube].time_shares.wait", "jobs[vector].time_shares.wait") AS waiting,
    "node.controllers.max_utilisation" AS controller_max, "link_classes[node].max_utilisation" AS adapter_max FROM points;

CREATE VIEW results AS
SELECT own.part, own.tasks_per_node, own.adapters, own.memory, own.algorithm, own.size, own."order", own.faster, own.finish / 1e6 AS time_us,
    1.0 * base.finish / own.finish AS speedup, own.computing, own.stalled, own.waiting, own.controller_max, own.adapter_max
FROM timed AS own JOIN timed AS base ON base.faster = 'none' AND coalesce(base.condition, 'as_it_is') = 'as_it_is' AND base.part = own.part
    AND base.tasks_per_node IS own.tasks_per_node AND base.adapters IS own.adapters AND base.memory IS own.memory
    AND base.algorithm IS own.algorithm AND base.size IS own.size AND base."order" IS own."order"
WHERE coalesce(own.condition, 'as_it_is') = 'as_it_is'
ORDER BY own.part, own.tasks_per_node, own.adapters, own.memory, instr('8B, 16KiB, 256KiB', own.size), own."order", min(own.number) OVER (PARTITION BY own.algorithm), own.number;

-- Algorithms for one vector and order of ranks, against recursive doubling: what the reductions take beside the computation of 4 x 20 us.
CREATE VIEW compared AS
SELECT size || ' ' || "order" AS "group", algorithm AS contender, number AS place, condition, finish - 80e6 AS value FROM timed WHERE condition IS NOT NULL;
