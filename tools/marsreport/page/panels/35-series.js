/* What is collected at regular simulated times (output.period). */
"use strict";

(function () {
    const { make } = mars;
    const labels = {
        packets_injected: "packets injected", packets_delivered: "packets delivered", packets_in_flight: "packets in flight",
        bytes_delivered: "bytes delivered", packet_latency_mean_ps: "packet latency, mean",
    };
    /* Which columns share a plot. */
    const groups = [["packets_injected", "packets_delivered"], ["packets_in_flight"], ["bytes_delivered"], ["packet_latency_mean_ps"]];

    const aside = ["time_ps", "packets_measured", "skipped_ps"]; /* what latencies are means over; bands show what was skipped */

    function plotsOf(columns) {
        const known = groups.flat(), list = groups.map(names => names.filter(name => columns[name])).filter(names => names.length);
        for (const name of Object.keys(columns))
            if (!aside.includes(name) && !known.includes(name))
                list.push([name]);
        return list;
    }

    const label = name => labels[name] || name.replace(/_(ps|ns)$/, "").replace(/_/g, " ");

    function plot(box, names, columns, run, sync) {
        const named = name => mars.hasNetwork(run) ? label(name) : label(name).replace(/packet/g, "message"); /* LogGOPS sends each message whole */
        mars.plot(box, { title: names.map(named).join(", "), format: mars.formatOf(names[0]), times: columns.time_ps, sync,
            lines: names.map(name => ({ label: named(name), values: columns[name] })) });
    }

    /* Each series of all runs in one plot. */
    function plotsOfAll(box) {
        const times = [...new Set(mars.runs.flatMap(run => run.periods.column.time_ps))].sort((x, y) => x - y);
        const on = (run, name) => {
            const known = new Map(run.periods.column.time_ps.map((time, i) => [time, run.periods.column[name][i]]));
            return times.map(time => known.has(time) ? known.get(time) : undefined); /* undefined: the line continues to the next one */
        };
        const plots = make("div", { class: "plots" });
        box.append(plots);
        for (const name of Object.keys(mars.runs[0].periods.column).filter(name => !aside.includes(name) && mars.runs.every(run => run.periods.column[name])))
            mars.plot(plots, { title: label(name), format: mars.formatOf(name), times, sync: "all",
                lines: mars.runs.map((run, i) => ({ label: run.name, values: on(run, name), dash: [undefined, [6, 3], [2, 3]][i % 3] })) });
    }

    const collected = run => run.periods && run.periods.column.time_ps.length;

    mars.panel({
        id: "series-all", tab: "time", title: "Over simulated time, all runs", wide: true,
        wanted: () => mars.several && mars.runs.every(collected),
        all(box) {
            if (mars.runs.some(run => run.periods.column.time_ps[0] !== mars.runs[0].periods.column.time_ps[0]))
                box.append(make("p", { class: "hint" }, "The periods of the runs are not of the same length: sums per period cannot be compared."));
            plotsOfAll(box);
        },
    });

    mars.panel({
        id: "series", tab: "time", title: "Over simulated time", wide: true,
        build(box, run, index) {
            const columns = run.periods && run.periods.column;
            if (!columns || !columns.time_ps.length) {
                box.append(mars.missing("No series was collected.", "output.period = \"10 us\""));
                return;
            }
            box.append(make("p", { class: "hint" }, "Drag to zoom, double click for all; with the keyboard plus, minus, arrows, Escape." +
                (mars.gapsOf(run).length ? " Hatched bands: steps were skipped there, of which series and timelines have nothing." : "") +
                (run.periods.together > 1 ? " " + run.periods.together + " periods are one point." : "")));
            const plots = make("div", { class: "plots" });
            box.append(plots);
            plotsOf(columns).forEach(names => plot(plots, names, columns, run, "run" + index));
        },
    });
})();
