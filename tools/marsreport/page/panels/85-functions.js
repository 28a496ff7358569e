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
        box.append(mars.sortable(columns, table.rows, columns.findIndex(column => column.title === "simulated")));
        box.append(make("p", { class: "hint" }, "Sums over the tasks." + (traced ? " Traced: time in the call on the machine where the trace was made." : "")));
    }

    /* Functions of both runs, by name; jobs of one name are one. */
    function functionsOfBoth(box, [a, b]) {
        const time = mars.formatOf("_ns"), sums = run => {
            const table = mars.table(run.functions), sum = new Map();
            for (const row of table.rows) {
                const one = sum.get(row[table.at("function")]) || { calls: 0, simulated: 0, wait: 0 };
                one.calls += row[table.at("calls")], one.simulated += row[table.at("simulated_ns")], one.wait += row[table.at("wait_ns")];
                sum.set(row[table.at("function")], one);
            }
            return sum;
        };
        const first = sums(a), second = sums(b), none = { calls: 0, simulated: 0, wait: 0 };
        const rows = [...new Set([...first.keys(), ...second.keys()])].map(name => [name, first.get(name) || none, second.get(name) || none])
            .sort((x, y) => Math.max(y[1].simulated, y[2].simulated) - Math.max(x[1].simulated, x[2].simulated));
        box.append(make("div", { class: "scroll", tabindex: 0 }, mars.simpleTable(["function", "calls, " + a.name, "calls, " + b.name, "simulated, " + a.name, "simulated, " + b.name,
            "difference", "waiting, " + a.name, "waiting, " + b.name], rows.map(([name, x, y]) => [name, mars.count(x.calls), mars.count(y.calls), time(x.simulated), time(y.simulated),
            mars.difference(x.simulated, y.simulated, -1), time(x.wait), time(y.wait)]))));
    }

    mars.panel({
        id: "functions-both", tab: "applications", title: "MPI functions, both runs", wide: true,
        wanted: () => mars.runs.length === 2 && mars.runs.every(run => run.functions && run.functions.rows.length),
        both(box) {
            functionsOfBoth(box, mars.runs);
        },
    });

    mars.panel({
        id: "functions", tab: "applications", title: "MPI functions", wide: true,
        tables: { functions: 10000 },
        build(box, run) {
            if (run.functions && run.functions.rows.length)
                functions(box, run);
            else
                box.append(mars.missing("What tasks have called was not counted, or there are no jobs.", "output.calls = true"));
        },
    });
})();
