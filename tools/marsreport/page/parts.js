/* parts.js - where latency went: the means of its parts, which add up to the mean of all. */
"use strict";

(function () {
    const { make } = mars;
    const parts = [["source_queue_ps", "source queue"], ["injection_ps", "injection"], ["switches_ps", "switches"], ["links_ps", "links"],
        ["ejection_ps", "ejection"], ["resequencing_ps", "resequencing"]];
    const within = [["switch_wait_ps", "waiting in switches"], ["contention_ps", "contention: above an empty network"]];

    /* A bar whose pieces are as long as the parts, and a table with the same. */
    function told(box, run, index, of) {
        const path = "result.latency_parts." + of, own = mars.at(run, path);
        if (!own || !own.count)
            return;
        const there = list => list.filter(([name]) => own[name] !== undefined), sum = there(parts).reduce((total, [name]) => total + own[name], 0) || 1;
        const mean = name => mars.time(Math.round(own[name] / own.count));
        const bar = make("div", { class: "stack", role: "img", "aria-label": "parts of the latency of " + of }, ...there(parts).map(([name, what], i) => {
            const piece = make("i", { title: what + ": " + mean(name) });
            piece.style.width = 100 * own[name] / sum + "%";
            piece.style.background = mars.colours.kind(i);
            return piece;
        }));
        const mark = i => make("span", { class: "mark", style: "background:" + (i < 0 ? "transparent" : mars.colours.kind(i)) });
        const rows = there(parts).map(([name, what], i) => [make("span", {}, mark(i), what), mean(name), mars.percent(own[name] / sum)])
            .concat(there(within).map(([name, what]) => [make("span", { class: "faint" }, mark(-1), "of that, " + what), mean(name), mars.percent(own[name] / sum)]));
        box.append(make("h3", {}, "Of ", mars.number(run, index, path + ".count"), " " + of), bar, mars.simpleTable(["", "mean", "share"], rows));
    }

    mars.panel({
        id: "parts", title: "Latency told apart",
        build(box, run, index) {
            if (!mars.at(run, "result.latency_parts")) {
                box.append(mars.missing("Where latency went was not counted.", "output.series.latency = \"total\""));
                return;
            }
            told(box, run, index, "packets");
            told(box, run, index, "messages");
        },
    });
})();
