/* What the time of cores and of the jobs' tasks was, and what memory was asked for. */
"use strict";

(function () {
    const { make } = mars;
    const cores = [["computing", "computing"], ["stalled", "stalled for memory"], ["away", "away: noise"], ["idle", "idle"]];
    const beside = [["preempted", "tasks that waited for a core"], ["copying", "copying messages inside nodes"], ["system", "of computing, in the operating system"]];
    const jobs = [["compute", "computing"], ["stalled", "stalled for memory"], ["overhead", "overhead"], ["away", "away: noise"],
        ["preempted", "waited for a core"], ["system", "in the operating system"], ["wait", "waiting in calls"], ["send_wait", "waiting in blocking sends"]];

    /* Shares as a bar and a table; those of `more` are beside the time and are not in the bar. */
    function shares(run, index, path, title, parts, more) {
        const own = mars.at(run, path), there = ([name]) => own[name] !== undefined;
        parts = parts.filter(there);
        more = more.filter(there);
        const sum = parts.reduce((total, [name]) => total + own[name], 0) || 1;
        const mark = i => make("span", { class: "mark", style: "background:" + (i < 0 ? "transparent" : mars.colours.mark(i)) });
        const row = i => ([name, what]) => [make("span", {}, mark(i), what), mars.number(run, index, path + "." + name, mars.percent)];
        return make("div", {}, make("h3", {}, title),
            mars.stack(title, parts.map(([name, what]) => ({ title: what + ": " + mars.percent(own[name]), share: own[name] / sum }))),
            mars.simpleTable(["", "share"], parts.map((part, i) => row(i)(part)).concat(more.map(row(-1)))));
    }

    function memory(run, index) {
        const kinds = [["controllers", "memory controllers"], ["socket_links", "links between sockets"], ["buses", "buses"]].filter(([name]) => mars.at(run, "result.node." + name));
        return make("div", {}, make("h3", {}, "Memory"), mars.simpleTable(["", "number", "bytes", "mean use", "highest"], kinds.map(([name, what]) => {
            const path = "result.node." + name;
            return [what, mars.number(run, index, path + ".count"), mars.number(run, index, path + ".bytes", mars.bytes),
                mars.number(run, index, path + ".mean_utilisation", mars.percent), mars.number(run, index, path + ".max_utilisation", mars.percent)];
        })));
    }

    /* What shares of their time cores were in what, in each period; of a run that has not ended, how many cores they are. */
    function coresOverTime(box, run, index) {
        const series = run.series && run.series.core_series, count = mars.at(run, "result.node.cores.count"), times = series && series.time_ps;
        if (!series)
            return;
        const length = times.map((time, i) => time - (i ? times[i - 1] : series.begun_ps));
        const lines = cores.concat(beside).map(([name, what], i) => ({ label: what, colour: () => mars.colours.kind(i), name }))
            .filter(line => series.columns.includes(line.name + "_ps"));
        lines.forEach(line => line.values = series.all[series.columns.indexOf(line.name + "_ps")].map((sum, i) => length[i] ? sum / length[i] / (count || 1) : null));
        mars.plot(box, { title: count ? "share of the time of all cores" : "cores, on average", format: count ? mars.percent : mars.short, times, sync: "run" + index,
            lines: lines.filter(line => line.values.some(Boolean)) });
    }

    function memoryOverTime(box, run, index) {
        const series = run.series && run.series.memory_kinds, times = series && series.time_ps;
        if (!series)
            return;
        const seconds = times.map((time, i) => (time - (i ? times[i - 1] : series.begun_ps)) / 1e12), bytes = series.values[series.columns.indexOf("bytes")];
        const words = { controller: "memory controllers", "link out": "links between sockets, out", "link in": "links between sockets, in", "bus out": "buses, to adapters", "bus in": "buses, from adapters" };
        mars.plot(box, { title: "bytes moved per second, of all nodes together", format: mars.rate, times, sync: "run" + index,
            lines: series.objects.map(([kind], i) => ({ label: words[kind] || kind, values: bytes[i].map((sum, at) => seconds[at] ? sum / seconds[at] : null), colour: () => mars.colours.kind(i) })) });
    }

    /* false: there is nothing. */
    function overTime(box, run, index) {
        const plots = make("div", { class: "plots" });
        box.append(plots); /* first: what is drawn takes the width that it has there */
        coresOverTime(plots, run, index);
        memoryOverTime(plots, run, index);
        if (!plots.children.length)
            plots.remove();
        return plots.children.length > 0;
    }

    mars.panel({
        id: "cores", sums: true, tab: "applications", network: true, title: "Cores and memory", wide: true,
        build(box, run, index) {
            if (!mars.at(run, "result.node")) {
                if (overTime(box, run, index)) /* of a run that has not ended */
                    return;
                box.append(mars.missing("In a node nothing slowed anything else down, and no core was looked at.", "node.controller_bandwidth = \"100 GB/s\""));
                return;
            }
            const ofJobs = (mars.at(run, "result.jobs") || []).map((job, i) => job.time_shares
                ? shares(run, index, "result.jobs." + i + ".time_shares", "Time of the tasks of " + job.name, jobs, []) : null);
            box.append(make("div", { class: "columns" }, shares(run, index, "result.node.cores", "Time of all cores", cores, beside), memory(run, index), ...ofJobs));
            if (!overTime(box, run, index) && mars.knows(run, "output.series.cores"))
                box.append(mars.missing("No series of cores and memory was collected.", "output.period = \"10 us\"", "output.series.cores = \"periods\""));
        },
    });
})();
