/* What jobs did on files, and what file servers did for them. */
"use strict";

(function () {
    const { make } = mars;

    const calls = run => mars.at(run, "result.jobs").flatMap(job => Object.entries(job.io || {}).map(([what, io]) => ({ job: job.name, tasks: job.tasks, what, ...io })));

    function jobs(run) {
        const list = calls(run), most = Math.max(...list.map(io => io.time_ps / io.tasks));
        const moved = (io, show) => io.bytes === undefined ? "" : show(io);
        return mars.simpleTable(["job", "call", "calls", "bytes", "bandwidth", "time of a task", ""], list.map(io => [io.job, io.what, mars.count(io.calls), moved(io, () => mars.bytes(io.bytes)),
            moved(io, () => io.bytes_per_s === null ? "" : mars.rate(io.bytes_per_s)), mars.time(io.time_ps / io.tasks), mars.bar(most ? io.time_ps / io.tasks / most : 0)]), run, list.map(io => "job " + io.job));
    }

    function servers(run) {
        const t = mars.table(run.storage), cell = (row, name) => row[t.at(name)];
        return mars.simpleTable(["server", "requests", "written", "read", "seeks", "waits for the device", "highest in memory", "device busy", ""], t.rows.map(row => [mars.end(run, "node", cell(row, "node")),
            mars.count(cell(row, "requests")), mars.bytes(cell(row, "written_bytes")), mars.bytes(cell(row, "read_bytes")), mars.count(cell(row, "full_seeks") + cell(row, "track_seeks")),
            cell(row, "wait_mean_ps") === null ? "" : mars.time(cell(row, "wait_mean_ps")), mars.bytes(cell(row, "cache_max_bytes")), mars.percent(cell(row, "utilisation")),
            mars.bar(cell(row, "utilisation"))]), run, t.rows.map(row => "node " + cell(row, "node")));
    }

    mars.panel({
        id: "storage", sums: true, tab: "applications", title: "Files and their servers", wide: true,
        tables: { storage: 10000 },
        wanted: () => mars.runs.some(run => mars.at(run, "result.storage")),
        build(box, run) {
            if (!run.storage || !run.storage.rows.length) {
                box.append(mars.missing("This run has no file servers.", "storage.servers.nodes"));
                return;
            }
            if (calls(run).length)
                box.append(make("div", { class: "scroll" }, jobs(run)),
                    make("p", { class: "hint" }, "Bandwidth: bytes over the time from the beginning of the first such call to the end of the last."));
            box.append(make("div", { class: "scroll" }, servers(run)));
        },
    });
})();
