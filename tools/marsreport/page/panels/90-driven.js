/* Entry methods and cores of message-driven programs. */
"use strict";

mars.panel({
    id: "driven", tab: "applications", title: "Message-driven programs", wide: true,
    tables: { driven_entries: 10000, driven_cores: 4096 },
    wanted: () => mars.runs.some(run => run.driven_entries),
    build(box, run) {
        for (const [name, title, by] of [["driven_entries", "Entry methods", "entry"], ["driven_cores", "Cores", "task"]])
            if (run[name] && run[name].rows.length) {
                box.append(mars.make("h3", {}, title));
                mars.wholeTable(box, run, run[name], name + ".csv", by);
            }
        if (!run.driven_entries)
            box.append(mars.make("p", { class: "missing" }, "There are no message-driven jobs."));
    },
});
