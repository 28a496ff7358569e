/* Time in the functions of MPI, traced and simulated. */
"use strict";

(function () {
    const { make } = mars;

    function functions(box, run) {
        const table = mars.table(run.functions), at = name => table.at(name), cell = name => row => at(name) < 0 ? null : row[at(name)];
        const total = table.rows.reduce((sum, row) => sum + (row[at("simulated_ns")] || 0), 0), traced = table.rows.some(row => cell("time_ns")(row) !== null);
        const time = mars.formatOf("_ns");
        const columns = [
            { title: "function", value: cell("function"), text: true },
            at("job") >= 0 && { title: "job", value: cell("job"), text: true },
            { title: "tasks", value: cell("tasks"), show: mars.count },
            { title: "calls", value: cell("calls"), show: mars.count },
            { title: "bytes", value: cell("bytes"), show: mars.bytes },
            traced && { title: "traced", value: cell("time_ns"), show: time },
            { title: "simulated", value: cell("simulated_ns"), show: time },
            traced && { title: "simulated / traced", value: row => cell("time_ns")(row) ? cell("simulated_ns")(row) / cell("time_ns")(row) : null, show: v => v === null ? "–" : v.toPrecision(3) },
            { title: "waiting", value: cell("wait_ns"), show: time },
            { title: "share of all calls' time", value: cell("simulated_ns"), cell: row => make("span", {}, mars.percent(total ? cell("simulated_ns")(row) / total : 0), mars.bar(total ? cell("simulated_ns")(row) / total : 0)) },
        ].filter(Boolean);
        box.append(mars.sortable(columns, table.rows, columns.findIndex(column => column.title === "simulated"), at("job") < 0 ? {} : { run, key: row => "job " + cell("job")(row) }));
        box.append(make("p", { class: "hint" }, "Sums over the tasks." + (traced ? " Traced: time in the call on the machine where the trace was made." : "")));
    }

    /* Functions of all runs, by name; jobs of one name are one. */
    function functionsOfAll(box) {
        const time = mars.formatOf("_ns"), measures = [["simulated_ns", "simulated time", time, -1], ["wait_ns", "waiting", time, -1], ["calls", "calls", mars.count, 0]];
        const sums = measure => mars.runs.map(run => {
            const table = mars.table(run.functions), sum = new Map();
            table.rows.forEach(row => sum.set(row[table.at("function")], (sum.get(row[table.at("function")]) || 0) + row[table.at(measure)]));
            return sum;
        });
        const shown = make("div", {}), choice = make("select", { "aria-label": "figure", onchange: () => show() }, ...measures.map(([, title], i) => make("option", { value: i }, title)));
        function show() {
            const [measure, , format, better] = measures[Number(choice.value)], all = sums(measure);
            const rows = [...new Set(all.flatMap(sum => [...sum.keys()]))].map(name => ({ name, better, values: all.map(sum => sum.get(name) || 0), show: format }));
            shown.replaceChildren(mars.runsTable(rows.sort((x, y) => Math.max(...y.values) - Math.max(...x.values)), "function"));
        }
        box.append(make("div", { class: "controls" }, choice), shown);
        show();
    }

    mars.panel({
        id: "functions-all", tab: "applications", title: "MPI functions, all runs", wide: true,
        wanted: () => mars.several && mars.runs.every(run => run.functions && run.functions.rows.length),
        all: functionsOfAll,
    });

    mars.panel({
        id: "functions", sums: true, tab: "applications", title: "MPI functions", wide: true,
        tables: { functions: 10000 },
        build(box, run) {
            if (run.functions && run.functions.rows.length)
                functions(box, run);
            else
                box.append(mars.missing("What tasks have called was not counted, or there are no jobs.", "output.calls = true"));
        },
    });
})();
