/* All of tasks.csv. */
"use strict";

mars.panel({
    id: "tasks", sums: true, tab: "applications", title: "Tasks", wide: true,
    tables: { tasks: 100000 },
    build(box, run) {
        if (run.tasks && run.tasks.rows.length)
            mars.wholeTable(box, run, run.tasks, "tasks.csv", "task");
        else
            box.append(mars.make("p", { class: "missing" }, "There is no tasks.csv: there are no jobs, or output.tasks = false."));
    },
});
