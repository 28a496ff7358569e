/* series.js - what is collected at regular simulated times, by uPlot: drag to zoom, double click or Escape for all. */
"use strict";

(function () {
    const { make } = mars;
    const labels = {
        packets_injected: "packets injected", packets_delivered: "packets delivered", packets_in_flight: "packets in flight",
        bytes_delivered: "bytes delivered", packet_latency_mean_ps: "packet latency, mean",
    };
    /* Which columns share a plot. */
    const groups = [["packets_injected", "packets_delivered"], ["packets_in_flight"], ["bytes_delivered"], ["packet_latency_mean_ps"]];

    function plotsOf(columns) {
        const known = groups.flat(), list = groups.map(names => names.filter(name => columns[name])).filter(names => names.length);
        for (const name of Object.keys(columns))
            if (name !== "time_ps" && !known.includes(name))
                list.push([name]);
        return list;
    }

    /* Bytes are told in powers of two, so the axis goes by them. */
    const powers = Array.from({ length: 50 }, (unused, i) => 2 ** i);

    const label = name => labels[name] || name.replace(/_(ps|ns)$/, "").replace(/_/g, " ");

    function options(names, width, sync) {
        const format = mars.formatOf(names[0]), ink = mars.colours.variable("faint"), rule = mars.colours.variable("rule");
        const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 } };
        return {
            width, height: 190, cursor: { sync: { key: sync }, drag: { x: true, y: false } },
            scales: { x: { time: false } },
            axes: [Object.assign({ values: (u, ticks) => ticks.map(mars.time) }, axis),
                Object.assign({ size: 84, values: (u, ticks) => ticks.map(format) }, format === mars.bytes ? { incrs: powers } : {}, axis)],
            series: [{ label: "until", value: (u, v) => mars.time(v) }].concat(names.map((name, i) => ({
                label: label(name), stroke: mars.colours.kind(i), width: 1.6, points: { show: false }, value: (u, v) => format(v),
            }))),
        };
    }

    /* Arrow keys move a zoomed span, plus and minus zoom, Escape shows all. */
    function keys(plot, event) {
        const x = plot.scales.x, all = plot.data[0], span = x.max - x.min, first = all[0], last = all[all.length - 1];
        let from = x.min, to = x.max;
        if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
            const step = Math.sign(event.key === "ArrowLeft" ? -1 : 1) * span / 5;
            from += step, to += step;
        } else if (event.key === "+" || event.key === "=") {
            from += span / 4, to -= span / 4;
        } else if (event.key === "-") {
            from -= span / 2, to += span / 2;
        } else if (event.key === "Escape") {
            from = first, to = last;
        } else {
            return;
        }
        event.preventDefault();
        plot.setScale("x", { min: Math.max(first, Math.min(from, last)), max: Math.min(last, Math.max(to, first)) });
    }

    function plot(box, names, columns, sync) {
        const title = names.map(label).join(", ");
        const frame = make("div", { class: "plot", tabindex: 0, role: "img", "aria-label": title + " over simulated time; plus and minus zoom, arrows move" });
        box.append(make("div", {}, make("h3", {}, title), frame));
        let drawn = null;
        mars.drawn(() => {
            const zoom = drawn && [drawn.scales.x.min, drawn.scales.x.max];
            if (drawn)
                drawn.destroy();
            drawn = new uPlot(options(names, Math.max(320, frame.clientWidth), sync), [columns.time_ps].concat(names.map(name => columns[name])), frame);
            if (zoom)
                drawn.setScale("x", { min: zoom[0], max: zoom[1] });
            frame.plot = drawn;
        });
        frame.addEventListener("keydown", event => keys(drawn, event));
    }

    mars.panel({
        id: "series", title: "Over simulated time", wide: true,
        build(box, run, index) {
            const columns = run.periods && run.periods.column;
            if (!columns || !columns.time_ps.length) {
                box.append(mars.missing("No series was collected.", "output.period = \"10 us\""));
                return;
            }
            box.append(make("p", { class: "hint" }, "Drag to zoom, double click for all; with the keyboard plus, minus, arrows, Escape." +
                (run.periods.together > 1 ? " " + run.periods.together + " periods are one point." : "")));
            const plots = make("div", { class: "plots" });
            box.append(plots);
            plotsOf(columns).forEach(names => plot(plots, names, columns, "run" + index));
        },
    });
})();
