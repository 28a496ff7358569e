/* What messages of each size achieved. */
"use strict";

mars.panel({
    id: "rates", sums: true, tab: "applications", title: "Bandwidth achieved, by size",
    tables: { message_rates: 10000 },
    wanted: () => mars.runs.some(run => run.message_rates || mars.knows(run, "output.waits")),
    build(box, run) {
        if (!run.message_rates || !run.message_rates.rows.length) {
            box.append(mars.missing("What messages achieved was not collected, or there are no jobs.", "output.waits = true"));
            return;
        }
        const t = mars.table(run.message_rates), cell = (row, name) => row[t.at(name)], several = new Set(t.rows.map(row => cell(row, "job"))).size > 1;
        const rate = row => cell(row, "time_ps") ? 1e12 * cell(row, "bytes") / cell(row, "time_ps") : 0, most = Math.max(...t.rows.map(rate));
        box.append(mars.make("div", { class: "scroll" }, mars.simpleTable(["size from", ...(several ? ["job"] : []), "messages", "bytes", "rate", ""], t.rows.map(row => [mars.bytes(cell(row, "size_bytes")),
            ...(several ? [cell(row, "job")] : []), mars.count(cell(row, "messages")), mars.bytes(cell(row, "bytes")), mars.rate(rate(row)), mars.bar(most ? rate(row) / most : 0)]))),
            mars.make("p", { class: "hint" }, "Payload over the time in transit, summed over the messages of a size."));
    },
});
