/* plot.js - lines over simulated time, or over any other axis, by uPlot: drag to zoom, double click or Escape for all. */
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

    /* Where steps were skipped (run.skip) the simulated clock stands still: {at, words} of each such time, with how long it was by the row of the period.
     * A run without an end has the rows only. */
    mars.gapsOf = run => {
        const { time_ps: ends = [], skipped_ps: skipped = [] } = run && run.periods ? run.periods.column : {}, all = new Map();
        if (run && !run.result)
            return ends.map((at, i) => ({ at, words: mars.time(skipped[i]) + " skipped" })).filter((gap, i) => skipped[i]);
        const long = at => skipped[ends.findIndex(end => end >= at)] || 0;
        for (const job of run && run.result && run.result.jobs || [])
            (job.estimated ? job.estimated.gaps : []).forEach((gap, i) => {
                const known = all.get(i) || { at: 0, words: [] };
                all.set(i, { at: Math.max(known.at, gap.simulated_ps), words: known.words.concat(mars.count(gap.steps) + " steps" + (run.result.jobs.length > 1 ? " of " + job.name : "")) });
            });
        return [...all.values()].map(({ at, words }) => ({ at, words: words.join(", ") + (long(at) ? ", " + mars.time(long(at)) : "") + " skipped" }));
    };

    /* As hatched bands over a drawing; x: of a time; labels have lines of their own where they would meet. */
    mars.drawGaps = (c, gaps, x, { left, top, width, height }, scale = 1) => {
        const half = 4 * scale;
        const shown = gaps.map(({ at, words }) => ({ px: x(at), words })).filter(({ px }) => px >= left && px <= left + width);
        let line = 0, free = left;
        c.save();
        c.lineWidth = scale;
        for (const { px } of shown) {
            c.fillStyle = mars.colours.variable("paper");
            c.fillRect(px - half, top, 2 * half, height);
            c.strokeStyle = mars.colours.variable("focus");
            c.beginPath();
            for (let y = top; y + 2 * half <= top + height; y += 2 * half)
                c.moveTo(px - half, y + 2 * half), c.lineTo(px + half, y);
            c.stroke();
        }
        c.font = 11 * scale + "px sans-serif";
        c.textBaseline = "top";
        for (const { px, words } of shown) {
            const wide = c.measureText(words).width + 8 * scale, ends = px + half + wide > left + width;
            line = px < free ? (line + 1) % 4 : 0;
            const high = top + (3 + 13 * line) * scale;
            c.fillStyle = mars.colours.variable("paper");
            c.fillRect(ends ? px - half - wide : px + half, high, wide, 13 * scale);
            c.fillStyle = mars.colours.variable("focus");
            c.textAlign = ends ? "right" : "left";
            c.fillText(words, ends ? px - 2 * half : px + 2 * half, high + scale);
            free = px + half + wide;
        }
        c.restore();
    };

    function gapsDraw(u, sync) {
        const run = mars.runs.find((run, i) => "run" + i === sync);
        if (run)
            mars.drawGaps(u.ctx, mars.gapsOf(run), time => u.valToPos(time, "x", true), u.bbox, devicePixelRatio);
    }

    function options(of, width) {
        const format = of.format, xFormat = of.x ? of.x.format : mars.time, ink = mars.colours.variable("faint"), rule = mars.colours.variable("rule");
        const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 } };
        return {
            width, height: of.height || 190, cursor: { drag: { x: true, y: false }, sync: { key: of.sync, filters: { pub: type => type.startsWith("mousemove") || type === "mouseleave" } } },
            scales: { x: of.x ? { time: false, distr: of.x.log ? 3 : 1, log: of.x.base, range: () => of.x.range } : { time: false }, y: of.log ? { distr: 3 } : { range: (u, min, most) => {
                const max = Math.max(most, of.reach || 0);
                return [Math.min(0, min), max > 0 ? (format === mars.percent ? Math.max(Math.min(1, 1.1 * max), max) : 1.05 * max) : 1];
            } } },
            axes: [Object.assign({ values: (u, ticks) => ticks.map(tick => tick === null ? "" : xFormat(tick)) }, of.x ? { label: of.x.label, labelSize: 22 } : {}, of.x && of.x.splits ? { splits: of.x.splits } : {}, axis),
                Object.assign({ size: 84, values: (u, ticks) => ticks.map(tick => tick === null ? "" : format(tick)) }, format === mars.bytes ? { incrs: powers } : {}, axis)],
            hooks: { setScale: [(u, key) => {
                const all = u.data[0], { min, max } = u.scales.x, whole = min <= all[0] && max >= all[all.length - 1];
                if (key === "x" && of.sync && of.drawn)
                    mars.axis(of.sync).set(whole ? null : min, whole ? null : max);
            }], draw: of.over ? [of.over] : [u => gapsDraw(u, of.sync)] },
            series: [{ label: of.x ? of.x.label : "until", value: (u, v) => v === null || v === undefined ? "–" : xFormat(v) }].concat(of.lines.map((line, i) => ({
                label: line.label, stroke: line.colour ? line.colour() : mars.colours.kind(i), width: line.width || 1.6, dash: line.dash, points: of.points || alone, paths: of.words ? () => null : undefined,
                value: (u, v, series, at) => v === null || v === undefined ? "–" : line.show ? line.show(v, at) : format(v),
            }))),
        };
    }

    /* Arrow keys move a zoomed span, plus and minus zoom, Escape shows all. */
    function keys(plot, ends, event) {
        const x = plot.scales.x, span = x.max - x.min, [first, last] = ends;
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

    /* of: {title, format, times, lines: [{label, values, ...}], sync, height}; over something else than time with x: {label, format, range, log, base, splits}, a
     * logarithmic axis with `log`, up to `reach` at least, all values as `points`, without lines between `words`, and `over`, which draws on the plot; returns what draws it again after `of` has changed. */
    mars.plot = function (box, of) {
        const head = make("h3", {}, ""), frame = make("div", { class: "plot", tabindex: 0, role: "img" });
        box.append(make("div", {}, head, frame));
        let drawn = null;
        const ends = () => of.x ? of.x.range : [of.times[0], of.times[of.times.length - 1]];
        function draw() {
            of.drawn = false;
            if (drawn)
                drawn.destroy();
            head.textContent = of.title;
            frame.setAttribute("aria-label", of.title + " over " + (of.x ? of.x.label : "simulated time") + "; plus and minus zoom, arrows move");
            drawn = new uPlot(options(of, Math.max(320, frame.clientWidth)), [of.times].concat(of.lines.map(line => line.values)), frame);
            frame.plot = drawn;
            follow(axis.from, axis.to);
        }
        const axis = of.sync ? mars.axis(of.sync) : { from: null, to: null, listen() {} };
        function follow(from, to) { /* uPlot calls its hooks in a microtask: what follows the axis does not set it */
            const all = of.times, within = time => Math.max(all[0], Math.min(all[all.length - 1], time));
            of.drawn = false;
            if (from !== null && within(from) < within(to))
                drawn.setScale("x", { min: within(from), max: within(to) });
            else if (all.length)
                drawn.setScale("x", { min: ends()[0], max: ends()[1] });
            queueMicrotask(() => { of.drawn = true; });
        }
        mars.drawn(draw);
        axis.listen(follow);
        frame.addEventListener("keydown", event => keys(drawn, ends(), event));
        mars.picksAt(frame, (x, y, event) => { /* the line that is nearest */
            const over = drawn.over.getBoundingClientRect(), i = drawn.posToIdx(event.clientX - over.left), top = event.clientY - over.top;
            const far = of.lines.map(line => none(line.values[i]) ? Infinity : Math.abs(drawn.valToPos(line.values[i], "y") - top)), least = Math.min(...far);
            if (of.pick && least < 12 && drawn.over.contains(event.target))
                of.pick(far.indexOf(least));
        });
        return draw;
    };
})();
