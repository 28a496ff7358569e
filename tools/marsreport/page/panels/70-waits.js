/* What tasks waited for: parts that add up to all their waiting. */
"use strict";

(function () {
    const { make } = mars;
    const parts = [["late_sender_ps", "late sender", "a receive waited until the message was sent"],
        ["late_receiver_ps", "late receiver", "a send waited until it was received"],
        ["late_participants_ps", "late participants", "at a collective, until the last task had entered"],
        ["collective_steps_ps", "steps of a collective", "then, until the message that ended the wait was sent"],
        ["handshake_ps", "handshake", "control messages of rendezvous"],
        ["contention_ps", "contention", "time in the network above that of an empty one"],
        ["transfer_ps", "transfer", "the rest of the network's time"],
        ["sending_ps", "sending", "until the adapter had sent it"],
        ["matching_ps", "matching", "searches in queues"],
        ["one_sided_ps", "one-sided", "until the partner's one-sided message was sent"],
        ["service_ps", "services", "until a service of the node had answered"],
        ["other_ps", "other", "threads, generalised requests, and waits that the end of the run found open"]];
    const look = i => "background:" + mars.colours.mark(i) + (i >= 8 ? ";opacity:.55" : "");

    function stack(of, total, title) {
        return make("div", { class: "stack", role: "img", "aria-label": title }, ...parts.map(([name, what], i) => {
            const piece = make("i", { title: what + ": " + mars.time(of(name)), style: look(i) });
            piece.style.width = (total ? 100 * of(name) / total : 0) + "%";
            return piece;
        }));
    }

    function ofJob(box, run, index, job, i) {
        const path = "result.jobs." + i + ".waits", own = job.waits;
        box.append(make("h3", {}, "Job " + job.name + ": ", mars.number(run, index, path + ".wait_ps"), " in ", mars.number(run, index, path + ".count", mars.count), " waits"),
            stack(name => own[name] || 0, own.wait_ps, "waits of job " + job.name),
            mars.simpleTable(["", "time", "share", ""], parts.filter(([name]) => own[name]).map(([name, what, why]) => [
                make("span", {}, make("span", { class: "mark", style: look(parts.findIndex(part => part[0] === name)) }), what),
                mars.number(run, index, path + "." + name), mars.percent(own.wait_ps ? own[name] / own.wait_ps : 0), make("span", { class: "faint why" }, why)])));
    }

    /* A table of waits by task or by function, each with its bar. */
    function table(box, run, data, first, title) {
        const t = mars.table(data), cell = name => row => t.at(name) < 0 ? null : row[t.at(name)], several = new Set(t.rows.map(cell("job"))).size > 1;
        const there = parts.filter(([name]) => t.rows.some(row => cell(name)(row)));
        const columns = [
            { title: first, value: cell(first), text: first === "function", show: String },
            several && first !== "task" && { title: "job", value: cell("job"), text: true },
            { title: "waits", value: cell("waits"), show: mars.count },
            { title: "time", value: cell("wait_ps"), show: mars.time, cell: row => make("span", {}, mars.time(cell("wait_ps")(row))) },
            { title: "parts", value: cell("wait_ps"), cell: row => stack(name => cell(name)(row) || 0, cell("wait_ps")(row), "parts") },
            ...there.map(([name, what]) => ({ title: what, value: cell(name), show: mars.time })),
            t.at("skew_max_ps") >= 0 && { title: "skew, most", value: cell("skew_max_ps"), show: mars.time },
        ].filter(Boolean);
        box.append(make("h3", {}, title));
        if (first === "task")
            mars.foldedTable(box, run, t, columns, columns.findIndex(column => column.title === "time"));
        else
            box.append(mars.sortable(columns, t.rows, columns.findIndex(column => column.title === "time"), { run, key: mars.keyOf(t.columns) }));
        if (data.left_out)
            box.append(make("p", { class: "hint" }, "The first " + mars.count(t.rows.length) + " rows; " + mars.count(data.left_out) + " more are in the table only."));
    }

    mars.panel({
        id: "waits", sums: true, tab: "applications", title: "What tasks waited for", wide: true,
        tables: { waits: 4096, wait_functions: 10000 },
        wanted: () => mars.runs.some(run => mars.at(run, "result.jobs.0.waits") || mars.knows(run, "output.waits")),
        build(box, run, index) {
            const jobs = mars.at(run, "result.jobs") || [];
            if (jobs.some(job => job.waits) && !jobs.some(job => job.waits && job.waits.count)) {
                box.append(make("p", { class: "missing" }, "No task waited in a call of MPI."));
                return;
            }
            if (!jobs.some(job => job.waits) && !run.waits && !run.wait_functions) {
                box.append(mars.missing("Waits were not split by cause, or there are no jobs.", "output.waits = true"));
                return;
            }
            jobs.forEach((job, i) => job.waits && job.waits.count && ofJob(box, run, index, job, i));
            if (run.wait_functions && run.wait_functions.rows.length)
                table(box, run, run.wait_functions, "function", "By function");
            if (run.waits && run.waits.rows.length)
                table(box, run, run.waits, "task", "By task");
        },
    });
})();
