/* Where latency went: the means of its parts, which add up to the mean of all. */
"use strict";

(function () {
    const { make } = mars;
    const parts = [["source_queue_ps", "source queue"], ["injection_ps", "injection"], ["switches_ps", "switches"], ["links_ps", "links"],
        ["ejection_ps", "ejection"], ["resequencing_ps", "resequencing"]];
    const within = [["switch_wait_ps", "waiting in switches"], ["contention_ps", "contention: above an empty network"]];

    /* The parts as a bar, and a table with the same. */
    function told(box, run, index, of) {
        const path = "result.latency_parts." + of, own = mars.at(run, path);
        if (!own || !own.count)
            return;
        const there = list => list.filter(([name]) => own[name] !== undefined), sum = there(parts).reduce((total, [name]) => total + own[name], 0) || 1;
        const mean = name => mars.time(Math.round(own[name] / own.count));
        const bar = mars.stack("parts of the latency of " + of, there(parts).map(([name, what]) => ({ title: what + ": " + mean(name), share: own[name] / sum })));
        const mark = i => make("span", { class: "mark", style: "background:" + (i < 0 ? "transparent" : mars.colours.mark(i)) });
        const rows = there(parts).map(([name, what], i) => [make("span", {}, mark(i), what), mean(name), mars.percent(own[name] / sum)])
            .concat(there(within).map(([name, what]) => [make("span", { class: "faint" }, mark(-1), "of that, " + what), mean(name), mars.percent(own[name] / sum)]));
        box.append(make("h3", {}, "Of ", mars.number(run, index, path + ".count"), " " + of), bar, mars.simpleTable(["", "mean", "share"], rows));
    }

    /* The same over simulated time: means of what arrived in each period. */
    function series(box, run, index) {
        const table = run.series && run.series.latency_series, place = table ? table.objects.findIndex(object => object[0] === "packets") : -1;
        if (place < 0)
            return;
        const column = name => table.columns.indexOf(name) < 0 ? null : table.values[table.columns.indexOf(name)][place], count = column("count");
        const lines = parts.concat(within.slice(1)).map(([name, what], i) => ({ name, label: what, colour: () => mars.colours.kind(i), dash: i >= parts.length ? [5, 3] : undefined }))
            .filter(line => column(line.name) && column(line.name).some(value => value));
        lines.forEach(line => { line.values = column(line.name).map((value, k) => count[k] ? value / count[k] : null); });
        mars.plot(box, { title: "parts of packets' latency, mean", format: mars.time, times: table.time_ps, lines, sync: "run" + index, height: 220 });
    }

    mars.panel({
        id: "parts", tab: "network", network: true, title: "Latency by part",
        build(box, run, index) {
            if (!mars.at(run, "result.latency_parts")) {
                box.append(mars.missing("Where latency went was not counted.", "output.series.latency = \"total\""));
                return;
            }
            told(box, run, index, "packets");
            told(box, run, index, "messages");
            series(box, run, index);
        },
    });
})();
