-- Run time with packets beside that with LogGOPS.
CREATE VIEW results AS
SELECT packets."@bytes" AS bytes, packets."@taper" AS taper, packets."jobs[job0].finish_ps" / 1e6 AS packets_us, loggops."jobs[job0].finish_ps" / 1e6 AS loggops_us
FROM points AS packets LEFT JOIN points AS loggops ON loggops."@model" = 'loggops' AND loggops."@bytes" = packets."@bytes" AND loggops."@taper" = packets."@taper"
WHERE packets."@model" = 'packets' ORDER BY packets.number;
