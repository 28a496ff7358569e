/* The figures that one looks at first, and all others folded below. */
"use strict";

(function () {
    const { make, number, at, simpleTable, bar } = mars;

    function figure(what, value, ...more) {
        return make("div", { class: "figure" }, make("div", { class: "what" }, what), make("div", { class: "value" }, value),
            make("div", { class: "more" }, ...more));
    }

    /* Above LogGOPS there are jobs only: how long each of the first took, and what it sent. */
    function ofJobs(run, index) {
        return (at(run, "result.jobs") || []).slice(0, 5).map((job, i) => {
            const n = name => number(run, index, "result.jobs." + i + "." + name);
            return figure("job " + job.name, job.finish_ps === null ? "not finished" : n("finish_ps"), ...(job.messages === undefined ? [n("tasks"), " tasks"] : [n("messages"), " messages"]));
        });
    }

    function figures(run, index) {
        const n = (path, format) => number(run, index, path, format), has = path => at(run, path) !== undefined;
        const time = figure("simulated time", n("result.simulated_time_ps"), "ended by: ", n("result.end_reason", String));
        const effort = figure("run", n("run.wall_s", v => mars.short(v) + " s"), n("run.ranks"), at(run, "run.ranks") === 1 ? " rank, " : " ranks, ", n("run.events"), " events");
        const detours = at(run, "result.routes.detour"), measured = detours + at(run, "result.routes.minimal");
        const list = !mars.hasNetwork(run) ? [time, ...ofJobs(run, index), effort] : [
            time,
            figure("packets delivered", n("result.packets_delivered"), "of ", n("result.packets_injected"), " injected"),
            figure("messages delivered", n("result.messages_delivered"), n("result.bytes_delivered")),
            figure("accepted load", n("result.accepted_load"), "of ", n("result.offered_load"), " offered"),
            figure("packet latency, mean", n("result.packet_latency_ps.mean"), "p99 ", n("result.packet_latency_ps.p99"), ", at most ",
                n("result.packet_latency_ps.max")),
            figure("with source queue, mean", n("result.total_latency_ps.mean"), "p99 ", n("result.total_latency_ps.p99")),
            figure("message latency, mean", n("result.message_latency_ps.mean"), "p99 ", n("result.message_latency_ps.p99")),
            figure("hops, mean", n("result.hops.mean", v => v === null ? "–" : v.toFixed(2)), "at most ", n("result.hops.max")),
            ...(measured ? [figure("packets on detours", mars.percent(detours / measured), n("result.routes.detour"), " of " + mars.count(measured) + " measured")] : []),
            effort,
        ];
        if (has("result.skip.time_ps"))
            list.unshift(figure("estimated time", n("result.skip.time_ps"), n("result.skip.level", mars.percent), " interval ", n("result.skip.low_ps"), " to ",
                n("result.skip.high_ps"), ", ", n("result.skip.share_simulated", mars.percent), " of steps simulated"));
        else if (has("result.skip.reason"))
            list.push(figure("steps skipped", "none", "because ", n("result.skip.reason", String)));
        if (has("result.confidence.half_width") && at(run, "result.confidence.half_width") !== null)
            list.push(figure("confidence interval", n("result.confidence.half_width", v => "± " + mars.percent(v)), "at ",
                n("result.confidence.level", mars.percent)));
        return make("div", { class: "figures" }, ...list);
    }

    function classes(run, index) {
        const list = at(run, "result.link_classes") || [];
        return !list.length ? null : make("div", {}, make("h3", {}, "Links by class"), simpleTable(["class", "directions", "mean use", "highest"],
            list.map((one, i) => {
                const n = name => number(run, index, "result.link_classes." + i + "." + name);
                return [one.class, n("directions"), n("mean_utilisation"), make("span", {}, n("max_utilisation"), bar(one.max_utilisation))];
            })));
    }

    function jobs(run, index) {
        const list = at(run, "result.jobs") || [];
        const waits = list.some(one => one.wait_share !== undefined), uneven = list.some(one => one.imbalance);
        return !list.length ? null : make("div", {}, make("h3", {}, "Jobs"), make("div", { class: "scroll" }, simpleTable(
            ["job", "tasks", "finished at", "messages", "bytes"].concat(waits ? ["waits"] : [], uneven ? ["imbalance"] : []), list.map((one, i) => {
                const n = (name, format) => number(run, index, "result.jobs." + i + "." + name, format);
                return [one.name, n("tasks"), one.finish_ps === null ? "never" : n("finish_ps"), n("messages"), n("bytes")].concat(waits ? [n("wait_share", mars.percent)] : [],
                    uneven ? [one.imbalance ? n("imbalance.max_over_mean", v => typeof v === "number" ? v.toFixed(2) : "–") : ""] : []);
            }), run, list.map(one => "job " + one.name))));
    }

    /* Leaves of an object as [path, value]. */
    function leaves(node, path) {
        if (node === null || typeof node !== "object")
            return [[path, node]];
        return Object.entries(node).flatMap(([name, value]) => leaves(value, path ? path + "." + name : name));
    }

    function folded(run, index) {
        const rows = leaves({ result: run.result, run: run.run, input: run.input }, "")
            .map(([path, value]) => [path, typeof value === "number" ? number(run, index, path, mars.count) : String(value)]);
        return make("details", {}, make("summary", {}, "All numbers of summary.json"), make("div", { class: "scroll leaves" },
            simpleTable(["key", "value"], rows)));
    }

    /* Since when links of the busiest class are full, where loads of periods are known; null: they never are, or it is not known. */
    function fullSince(run) {
        const list = at(run, "result.link_classes") || [], top = list.reduce((most, one) => !most || one.max_utilisation > most.max_utilisation ||
            (one.max_utilisation === most.max_utilisation && one.mean_utilisation > most.mean_utilisation) ? one : most, null); /* as stats/verdict.c chooses */
        if (!run.movie || !run.scene || !top || top.max_utilisation < 0.9)
            return null;
        const scene = new mars.Scene(run), place = run.scene.classes.indexOf(top.class), { class: of } = run.scene.lines;
        const full = run.movie.time_ps.map((time, frame) => {
            const loads = scene.loads(frame), first = 2 * scene.lines + place * scene.places;
            for (let i = 0; i < scene.lines; i++)
                if (of[i] === place && Math.max(loads[2 * i], loads[2 * i + 1]) >= 0.9)
                    return true;
            return loads.subarray(first, first + scene.places).some(load => load >= 0.9);
        });
        const from = full.indexOf(true), to = full.lastIndexOf(true), times = run.movie.time_ps;
        if (from < 0 || to - from + 1 > 2 * full.filter(Boolean).length)
            return null; /* now and then only */
        return "Some link of class " + top.class + " is 90 % busy or more from " + mars.time(from ? times[from - 1] : run.movie.begun_ps) +
            (to + 1 < times.length ? " to " + mars.time(times[to]) + "." : " on.");
    }

    /* Several runs: what all have, and by how much they differ from the first. */
    const compared = [
        ["simulated_time_ps", "simulated time", -1], ["packets_delivered", "packets delivered", 0], ["bytes_delivered", "bytes delivered", 0],
        ["messages_delivered", "messages delivered", 0], ["offered_load", "offered load", 0], ["accepted_load", "accepted load", 1],
        ["packet_latency_ps.mean", "packet latency, mean", -1], ["packet_latency_ps.p50", "packet latency, p50", -1],
        ["packet_latency_ps.p99", "packet latency, p99", -1], ["packet_latency_ps.max", "packet latency, highest", -1],
        ["total_latency_ps.mean", "with source queue, mean", -1], ["message_latency_ps.mean", "message latency, mean", -1],
        ["message_latency_ps.p99", "message latency, p99", -1], ["hops.mean", "hops, mean", -1], ["nodes", "nodes", 0],
        ["switches", "switches", 0], ["links", "links", 0],
    ];

    const row = (name, paths, better) => ({ name, values: mars.runs.map((run, i) => at(run, paths[i])), show: (value, i) => value === undefined ? "–" : number(mars.runs[i], i, paths[i]), better });

    function jobRows() {
        const names = new Set(mars.runs.flatMap(run => (at(run, "result.jobs") || []).map(job => job.name)));
        return [...names].map(name => row("job " + name + ", finished at", mars.runs.map(run => "result.jobs." + (at(run, "result.jobs") || []).findIndex(job => job.name === name) + ".finish_ps"), -1));
    }

    function comparison() {
        const sameOffer = mars.runs.every(run => at(run, "result.offered_load") === at(mars.runs[0], "result.offered_load")); /* else less is not worse */
        return mars.runsTable(compared.filter(([path]) => mars.runs.some(run => at(run, "result." + path) !== undefined))
            .map(([path, what, better]) => row(what, mars.runs.map(() => "result." + path), path === "accepted_load" && !sameOffer ? 0 : better)).concat(jobRows()));
    }

    mars.panel({
        id: "headline", title: "Figures", wide: true,
        all(box) {
            if (mars.several)
                box.append(comparison());
            mars.eachRun(box, (own, run, index) => {
                if (run.bottleneck)
                    own.append(make("p", { class: "bottleneck" }, [run.bottleneck, fullSince(run)].filter(Boolean).join(". ")));
                if (run.mpi)
                    own.append(make("p", { class: "bottleneck" }, run.mpi + "."));
                if (run.result)
                    own.append(figures(run, index), mars.estimated(run), make("div", { class: mars.several ? "" : "pair" }, classes(run, index) || "", jobs(run, index) || ""),
                        folded(run, index));
                else
                    own.append(make("p", { class: "missing" }, "The run has left no summary.json: it has not ended, or it was killed."));
            });
        },
    });
})();
