/* cores.js - what the time of cores and of the jobs' tasks was, and what memory was asked for. */
"use strict";

(function () {
    const { make } = mars;
    const cores = [["computing", "computing"], ["stalled", "stalled for memory"], ["away", "away: noise"], ["idle", "idle"]];
    const beside = [["preempted", "tasks that waited for a core"], ["copying", "copying messages inside nodes"], ["system", "of computing, in the operating system"]];
    const jobs = [["compute", "computing"], ["stalled", "stalled for memory"], ["overhead", "overhead"], ["away", "away: noise"],
        ["preempted", "waited for a core"], ["system", "in the operating system"], ["wait", "waiting in calls"], ["send_wait", "waiting in blocking sends"]];

    /* Shares as a bar and a table; those of `more` stand beside the time and are not in the bar. */
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

    mars.panel({
        id: "cores", title: "Cores and memory", wide: true,
        build(box, run, index) {
            if (!mars.at(run, "result.node")) {
                box.append(mars.missing("In a node nothing slowed anything else down, and no core was looked at.", "node.controller_bandwidth = \"100 GB/s\""));
                return;
            }
            const ofJobs = (mars.at(run, "result.jobs") || []).map((job, i) => job.time_shares
                ? shares(run, index, "result.jobs." + i + ".time_shares", "Time of the tasks of " + job.name, jobs, []) : null);
            box.append(make("div", { class: "columns" }, shares(run, index, "result.node.cores", "Time of all cores", cores, beside), memory(run, index), ...ofJobs));
        },
    });
})();
