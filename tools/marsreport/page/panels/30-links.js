/* The busiest links. */
"use strict";

(function () {
    const { make } = mars;

    mars.panel({
        id: "links", sums: true, tab: "network", network: true, title: "Busiest links", wide: true,
        build(box, run) {
            if (!run.hot || !run.hot.rows.length) {
                box.append(mars.missing("There is no table of links.", "output.links = true"));
                return;
            }
            const table = mars.table(run.hot), cell = (row, name) => table.at(name) < 0 ? null : row[table.at(name)];
            const numbers = [["queue_mean_packets", "queue, mean packets"], ["queue_max_bytes", "queue, most"], ["input_mean_packets", "input, mean packets"],
                ["credit_stall_ps", "without credits"], ["packets", "packets"], ["bytes", "bytes"]].filter(([name]) => table.at(name) >= 0);
            const told = (row, name) => name !== "queue_max_bytes" || cell(row, "from_kind") !== "node"; /* of nodes it is not counted */
            const columns = [
                { title: "link", value: row => mars.linkName(run, cell(row, "from_kind"), cell(row, "from"), cell(row, "from_port")), text: true },
                { title: "class", value: row => cell(row, "class"), text: true },
                { title: "busy", value: row => cell(row, "utilisation"), cell: row => make("span", {}, mars.percent(cell(row, "utilisation")), mars.bar(cell(row, "utilisation"))) },
            ].concat(numbers.map(([name, title]) => ({ title, value: row => told(row, name) ? cell(row, name) : null, show: mars.formatOf(name) })));
            box.append(mars.sortable(columns, table.rows, 2, { run, key: mars.keyOf(table.columns) }));
            if (run.hot.left_out)
                box.append(make("p", { class: "hint" }, "The busiest " + table.rows.length + " directions; " + mars.count(run.hot.left_out) + " more are in links.csv."));
        },
    });
})();
