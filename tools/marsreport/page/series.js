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

    const aside = ["time_ps", "packets_measured"]; /* what latencies are means over */

    function plotsOf(columns) {
        const known = groups.flat(), list = groups.map(names => names.filter(name => columns[name])).filter(names => names.length);
        for (const name of Object.keys(columns))
            if (!aside.includes(name) && !known.includes(name))
                list.push([name]);
        return list;
    }

    /* Bytes are told in powers of two, so the axis goes by them. */
    const powers = Array.from({ length: 50 }, (unused, i) => 2 ** i);

    const label = name => labels[name] || name.replace(/_(ps|ns)$/, "").replace(/_/g, " ");

    /* A value between two periods without one has no line: it is a point. */
    const none = value => value === null || value === undefined;
    const alone = { show: true, size: 4, filter: (u, series) => u.data[series].reduce((found, value, i, all) => {
        if (!none(value) && none(all[i - 1]) && none(all[i + 1]))
            found.push(i);
        return found;
    }, []) };

    function options(of, width) {
        const format = of.format, ink = mars.colours.variable("faint"), rule = mars.colours.variable("rule");
        const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 } };
        return {
            width, height: of.height || 190, cursor: { sync: { key: of.sync }, drag: { x: true, y: false } },
            scales: { x: { time: false }, y: format === mars.percent ? { range: (u, min, max) => [0, max > 0 ? Math.max(Math.min(1, 1.1 * max), max) : 1] } : {} },
            axes: [Object.assign({ values: (u, ticks) => ticks.map(mars.time) }, axis),
                Object.assign({ size: 84, values: (u, ticks) => ticks.map(format) }, format === mars.bytes ? { incrs: powers } : {}, axis)],
            series: [{ label: "until", value: (u, v) => mars.time(v) }].concat(of.lines.map((line, i) => ({
                label: line.label, stroke: line.colour ? line.colour() : mars.colours.kind(i), width: line.width || 1.6, dash: line.dash, points: alone, value: (u, v) => v === null || v === undefined ? "–" : format(v),
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

    /* of: {title, format, times, lines: [{label, values, ...}], sync, height}; returns what draws it anew after `of` has changed. */
    mars.plot = function (box, of) {
        const head = make("h3", {}, ""), frame = make("div", { class: "plot", tabindex: 0, role: "img" });
        box.append(make("div", {}, head, frame));
        let drawn = null;
        function draw(keep) {
            const zoom = keep && drawn && [drawn.scales.x.min, drawn.scales.x.max];
            if (drawn)
                drawn.destroy();
            head.textContent = of.title;
            frame.setAttribute("aria-label", of.title + " over simulated time; plus and minus zoom, arrows move");
            drawn = new uPlot(options(of, Math.max(320, frame.clientWidth)), [of.times].concat(of.lines.map(line => line.values)), frame);
            if (zoom)
                drawn.setScale("x", { min: zoom[0], max: zoom[1] });
            frame.plot = drawn;
        }
        mars.drawn(() => draw(true));
        frame.addEventListener("keydown", event => keys(drawn, event));
        return () => draw(false);
    };

    function plot(box, names, columns, run, sync) {
        const named = name => mars.hasNetwork(run) ? label(name) : label(name).replace(/packet/g, "message"); /* LogGOPS sends each message whole */
        mars.plot(box, { title: names.map(named).join(", "), format: mars.formatOf(names[0]), times: columns.time_ps, sync,
            lines: names.map(name => ({ label: named(name), values: columns[name] })) });
    }

    /* Each series of both runs in one plot. */
    function plotsOfBoth(box, [a, b]) {
        const times = [...new Set([...a.periods.column.time_ps, ...b.periods.column.time_ps])].sort((x, y) => x - y);
        const on = (run, name) => {
            const known = new Map(run.periods.column.time_ps.map((time, i) => [time, run.periods.column[name][i]]));
            return times.map(time => known.has(time) ? known.get(time) : undefined); /* undefined: the line goes on to the next one */
        };
        const plots = make("div", { class: "plots" });
        box.append(plots);
        for (const name of Object.keys(a.periods.column).filter(name => !aside.includes(name) && b.periods.column[name]))
            mars.plot(plots, { title: label(name), format: mars.formatOf(name), times, sync: "both",
                lines: [a, b].map((run, i) => ({ label: run.name, values: on(run, name), dash: i ? [6, 3] : undefined })) });
    }

    const collected = run => run.periods && run.periods.column.time_ps.length;

    mars.panel({
        id: "series-both", title: "Over simulated time, both runs", wide: true,
        wanted: () => mars.runs.length === 2 && mars.runs.every(collected),
        both(box) {
            if (mars.runs[0].periods.column.time_ps[0] !== mars.runs[1].periods.column.time_ps[0])
                box.append(make("p", { class: "hint" }, "The periods of the two runs are not of the same length: sums per period cannot be compared."));
            plotsOfBoth(box, mars.runs);
        },
    });

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
            plotsOf(columns).forEach(names => plot(plots, names, columns, run, "run" + index));
        },
    });
})();
