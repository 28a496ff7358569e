/* Distributions: bins of equal width on a logarithmic axis, their share, and the sum up to there. */
"use strict";

(function () {
    const { make } = mars;
    const BINS = 90;

    /* Rows [from, below, count] become bins of equal width by logarithm; values of 0 make a bin of their own. */
    function bins(rows) {
        const positive = rows.filter(row => row[1] > 1);
        let least = Math.log(Math.max(1, positive[0] ? positive[0][0] : 1)), most = Math.log(Math.max(2, rows[rows.length - 1][1]));
        const missing = Math.log(4) - (most - least);
        if (missing > 0) { /* nearly one value: two octaves around it */
            least = Math.max(0, least - missing / 2);
            most = least + Math.log(4);
        }
        const width = (most - least) / BINS;
        const bin = Array.from({ length: BINS }, (unused, i) => ({ from: Math.exp(least + i * width), below: Math.exp(least + (i + 1) * width), count: 0 }));
        let zero = 0;
        for (const [from, below, count] of rows) {
            if (below <= 1)
                zero += count;
            else
                bin[Math.max(0, Math.min(BINS - 1, Math.floor((Math.log(Math.max(from, 1)) - least) / width + 1e-9)))].count += count;
        }
        return { bin, zero, total: rows.reduce((sum, row) => sum + row[2], 0), least, most };
    }

    /* Round numbers in a span of logarithms, as few as are at least four; none: of so narrow a span. */
    const steps = [[1], [1, 2, 5], [1, 2, 3, 4, 5, 6, 8], [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9]];
    const steps2 = [[1, 4, 16, 64, 256], [1, 4, 16, 64, 256], [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768]];
    function ticks(least, most, format) {
        const base = format === mars.bytes ? 1024 : 10;
        for (const step of base === 10 ? steps : steps2) {
            const all = Array.from({ length: 18 }, (unused, power) => step.map(factor => factor * base ** power)).flat();
            const inside = all.filter(value => Math.log(value) >= least - 1e-9 && Math.log(value) <= most + 1e-9), every = Math.ceil(inside.length / 7);
            if (inside.length >= 4)
                return inside.filter((value, i) => i % every === 0);
        }
        return [0, 1, 2, 3].map(i => Number(Math.exp(least + (most - least) * i / 3).toPrecision(3)));
    }

    function draw(canvas, data, format) {
        const ratio = devicePixelRatio || 1, width = canvas.parentElement.clientWidth, height = 220;
        canvas.width = width * ratio;
        canvas.height = height * ratio;
        canvas.style.width = width + "px";
        canvas.style.height = height + "px";
        const c = canvas.getContext("2d"), left = 46, right = 40, bottom = 24, top = 8, w = width - left - right, h = height - top - bottom;
        c.scale(ratio, ratio);
        c.font = "11px system-ui, sans-serif";
        const most = Math.max(1, ...data.bin.map(bin => bin.count)) / data.total, round = 10 ** Math.floor(Math.log10(most));
        const ceiling = [1, 2, 4, 8, 10].find(factor => factor * round >= most * 0.9999) * round; /* a round number above them, by four */
        const highest = ceiling * data.total, ink = mars.colours.variable("faint"), rule = mars.colours.variable("rule");
        c.strokeStyle = rule;
        c.fillStyle = ink;
        c.textAlign = "right";
        c.textBaseline = "middle";
        for (let i = 0; i <= 4; i++) {
            const y = top + h - h * i / 4;
            c.beginPath(), c.moveTo(left, y), c.lineTo(left + w, y), c.stroke();
            c.fillText(mars.short(100 * ceiling * i / 4) + " %", left - 5, y);
        }
        c.textAlign = "left";
        for (let i = 0; i <= 4; i++)
            c.fillText(25 * i + " %", left + w + 5, top + h - h * i / 4);
        c.fillStyle = mars.colours.kind(0);
        data.bin.forEach((bin, i) => c.fillRect(left + w * i / BINS, top + h - h * bin.count / highest, Math.max(1, w / BINS - 1), h * bin.count / highest));
        c.strokeStyle = mars.colours.kind(1);
        c.lineWidth = 1.5;
        c.beginPath();
        c.moveTo(left, top + h - h * data.zero / data.total);
        let sum = data.zero;
        data.bin.forEach((bin, i) => c.lineTo(left + w * (i + 1) / BINS, top + h - h * (sum += bin.count) / data.total));
        c.stroke();
        c.fillStyle = ink;
        c.textBaseline = "top";
        c.textAlign = "center";
        for (const value of ticks(data.least, data.most, format))
            c.fillText(format(value), Math.min(left + w * (Math.log(value) - data.least) / (data.most - data.least), width - 30), top + h + 6);
        return { left, w };
    }

    function histogram(box, table, format, what) {
        const rows = table.rows.map(row => [row[0], row[1], row[2]]), data = bins(rows);
        const canvas = make("canvas", { role: "img", "aria-label": "distribution of " + what }), frame = make("div", { class: "canvas" }, canvas);
        box.append(frame);
        let place = null;
        mars.drawn(() => {
            place = draw(canvas, data, format);
        });
        mars.hints(canvas, x => {
            const i = Math.floor((x - place.left) / place.w * BINS), bin = data.bin[i];
            if (!bin)
                return "";
            const upTo = data.zero + data.bin.slice(0, i + 1).reduce((sum, one) => sum + one.count, 0);
            return format(bin.from) + " to " + format(bin.below) + ": " + mars.count(bin.count) + " (" + mars.percent(bin.count / data.total) +
                ")\nup to here " + mars.percent(upTo / data.total);
        });
        const legend = make("div", { class: "legend" }, make("span", { style: "--mark:" + mars.colours.mark(0) }, "share (left)"),
            make("span", { style: "--mark:" + mars.colours.mark(1) }, "up to here (right)"));
        if (data.zero)
            legend.append(make("span", { style: "--mark:transparent" }, mars.percent(data.zero / data.total) + " are 0 and not drawn"));
        box.append(legend);
    }

    function quantities(box, run, index, list) {
        const names = ["count", "mean", "p50", "p90", "p99", "p999", "max"];
        const rows = list.filter(([path]) => mars.at(run, path + ".count")).map(([path, what]) => [what].concat(names.map(name => mars.number(run, index, path + "." + name,
            name === "count" ? mars.count : mars.time))));
        if (rows.length)
            box.append(make("div", { class: "scroll" }, mars.simpleTable([""].concat(names), rows)));
    }

    mars.panel({
        id: "latency", sums: true, tab: "network", network: true, title: "Latency of packets",
        tables: { packet_latency: 10000 },
        build(box, run, index) {
            if (run.packet_latency && run.packet_latency.rows.length)
                histogram(box, run.packet_latency, mars.time, "network latency of packets");
            else
                box.append(mars.missing("There is no histogram.", "output.histograms = true"));
            quantities(box, run, index, [["result.packet_latency_ps", "network"], ["result.total_latency_ps", "with source queue"],
                ["result.message_latency_ps", "whole messages"], ["result.control_wait_ps", "control at adapter"]]);
        },
    });

    mars.panel({
        id: "sizes", sums: true, tab: "network", network: true, title: "Sizes of messages",
        tables: { message_size: 10000 },
        build(box, run) {
            if (run.message_size && run.message_size.rows.length)
                histogram(box, run.message_size, mars.bytes, "sizes of messages");
            else
                box.append(mars.missing("There is no histogram.", "output.histograms = true"));
        },
    });
})();
