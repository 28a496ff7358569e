/* plot.js - lines over simulated time, by uPlot: drag to zoom, double click or Escape for all. */
"use strict";

(function () {
    const { make } = mars;

    /* Bytes are shown in powers of two, so the ticks of their axis are multiples of these. */
    const powers = Array.from({ length: 50 }, (unused, i) => 2 ** i);

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

    /* of: {title, format, times, lines: [{label, values, ...}], sync, height}; returns what draws it again after `of` has changed. */
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
})();
