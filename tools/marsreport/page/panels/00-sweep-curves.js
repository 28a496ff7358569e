/* A sweep: any figure against any key, a curve for each combination of the others, with intervals; a click on a point chooses it. */
"use strict";

(function () {
    const { make } = mars;
    const MOST_CURVES = 24;

    const option = (value, text, selected) => make("option", { value, selected }, text);

    /* Which rows make which curve: [{title, rows}], those of the values that `only` (by key) asks for. */
    function curves(model, x, only) {
        const found = new Map();
        model.sweep.rows.forEach((row, i) => {
            if (only.some((word, k) => k !== x && word !== undefined && row.words[k] !== word))
                return;
            const title = model.keys.filter((key, k) => k !== x && only[k] === undefined).map(key => key.text(row.words[model.keys.indexOf(key)])).join(", ");
            if (!found.has(title))
                found.set(title, []);
            found.get(title).push(i);
        });
        return [...found].map(([title, rows]) => ({ title, rows: rows.sort((a, b) => model.keys[x].places[a] - model.keys[x].places[b]) }));
    }

    const ratioOf = values => Math.max(...values) / Math.min(...values);

    /* Of an axis of numbers or of words, ascending: what is at its ends, and how it is written. */
    function axisOf(key, places) {
        const first = places[0], last = places[places.length - 1], middle = places[places.length >> 1];
        const log = key.numbers && first > 0 && places.length > 3 && middle - first < 0.2 * (last - first); /* they are nearer to each other below */
        const spread = log ? (last / first) ** 0.03 : (last - first) * 0.03 || 0.5;
        return { label: key.name, format: key.format, log, base: places.every(place => Number.isInteger(Math.log2(place))) ? 2 : 10,
            range: !key.numbers ? [-0.5, key.words.length - 0.5] : log ? [first / spread, last * spread] : [first - spread, last + spread],
            splits: key.numbers ? null : key.words.map((word, i) => i) };
    }

    /* Whiskers, rings around what is saturated, letters of what is chosen. */
    function marks(model, lines, figure, plot) {
        const { ctx } = plot, ratio = devicePixelRatio, place = (value, scale) => plot.valToPos(value, scale, true), box = plot.bbox;
        ctx.save();
        ctx.beginPath();
        ctx.rect(box.left, box.top, box.width, box.height);
        ctx.clip();
        lines.forEach((line, i) => plot.series[i + 1].show && line.rows.forEach(row => {
            const [mean, half] = figure.at(row), x = place(line.place(row), "x"), y = place(mean, "y");
            if (mean === null || !Number.isFinite(y))
                return;
            ctx.strokeStyle = line.colour();
            ctx.lineWidth = 1.3 * ratio;
            ctx.beginPath();
            if (half > 0) {
                const [low, high] = [mean - half, mean + half].map(value => plot.scales.y.distr === 3 && value <= 0 ? box.top + box.height : place(value, "y"));
                ctx.moveTo(x, low), ctx.lineTo(x, high);
                [low, high].forEach(end => (ctx.moveTo(x - 3 * ratio, end), ctx.lineTo(x + 3 * ratio, end)));
            }
            ctx.stroke();
            if (model.sweep.rows[row].saturated) {
                ctx.strokeStyle = mars.colours.variable("faint");
                ctx.beginPath();
                ctx.arc(x, y, 6.5 * ratio, 0, 7);
                ctx.stroke();
            }
            if (!model.letter(row))
                return;
            ctx.fillStyle = ctx.strokeStyle = mars.colours.variable("ink");
            ctx.lineWidth = 2 * ratio;
            ctx.font = "bold " + 13 * ratio + "px sans-serif";
            ctx.textAlign = x > box.left + box.width - 20 * ratio ? "right" : "left";
            ctx.fillText(model.letter(row), x + (ctx.textAlign === "left" ? 8 : -8) * ratio, y - 7 * ratio);
            ctx.beginPath();
            ctx.arc(x, y, 8 * ratio, 0, 7);
            ctx.stroke();
        }));
        ctx.restore();
    }

    /* The row whose point is nearest, within 20 pixels; -1: none. */
    function nearest(plot, lines, figure, left, top) {
        let found = -1, least = 20 * 20;
        lines.forEach((line, i) => plot.series[i + 1].show && line.rows.forEach(row => {
            const [mean] = figure.at(row);
            const distance = mean === null ? Infinity : (plot.valToPos(line.place(row), "x") - left) ** 2 + (plot.valToPos(mean, "y") - top) ** 2;
            if (distance < least)
                least = distance, found = row;
        }));
        return found;
    }

    /* One figure, which a select chooses, drawn against the key that the panel has chosen. */
    class Plot {
        constructor(panel, figure) {
            this.panel = panel, this.model = panel.model, this.figure = figure;
            this.of = { title: "", height: 330 };
            const groups = [["of the table", this.model.columns], ["all that differ", this.model.figures.slice(this.model.columns.length)]].filter(([, list]) => list.length);
            this.choice = make("select", { "aria-label": "figure", onchange: () => this.change() }, ...groups.map(([label, list]) =>
                make("optgroup", { label }, ...list.map(one => option(this.model.figures.indexOf(one), one.title, one === figure)))));
            this.scale = make("select", { "aria-label": "scale", onchange: () => this.update() }, ...["linear", "logarithmic"].map(name => option(name, name)));
            this.box = make("div", { class: "swept" }, make("div", { class: "controls" }, this.choice, this.scale));
            panel.plots.append(this.box);
            this.suggest();
        }

        change() {
            this.figure = this.model.figures[Number(this.choice.value)];
            this.suggest();
            this.update();
        }

        /* Latencies grow without a bound behind saturation. */
        suggest() {
            const means = this.model.sweep.rows.map((row, i) => this.figure.at(i)[0]).filter(mean => mean !== null);
            this.scale.value = means.length && Math.min(...means) > 0 && ratioOf(means) > 20 ? "logarithmic" : "linear";
            this.scale.lastElementChild.disabled = !means.some(mean => mean > 0);
        }

        update() {
            const { model, figure, of } = this, { key, curves: all } = this.panel, places = [...new Set(all.flatMap(curve => curve.rows.map(row => key.places[row])))].sort((a, b) => a - b);
            this.lines = all.slice(0, MOST_CURVES).map((curve, i) => ({ rows: curve.rows, place: row => key.places[row], label: curve.title || figure.name, colour: () => mars.colours.kind(i),
                dash: [undefined, [8, 4], [2, 3]][Math.floor(i / 8) % 3], show: (value, at) => this.tell(curve.rows.find(row => key.places[row] === places[at])),
                values: places.map(place => {
                    const row = curve.rows.find(own => key.places[own] === place);
                    return row === undefined ? undefined : figure.at(row)[0];
                }) }));
            Object.assign(of, { title: figure.title, times: places, lines: this.lines, format: value => mars.short(value), x: axisOf(key, places), log: this.scale.value === "logarithmic", reach: Math.max(0, ...all.flatMap(curve => curve.rows).map(row => figure.at(row)[0] + figure.at(row)[1])),
                points: { show: true, size: 6 }, over: plot => marks(model, this.lines, this.figure, plot), words: !key.numbers });
            if (!this.draw) {
                this.draw = mars.plot(this.box, of);
                this.listen();
            } else {
                this.draw();
            }
        }

        tell(row) {
            return row === undefined ? "–" : this.model.text(this.figure.at(row));
        }

        listen() {
            const frame = this.box.querySelector(".plot"), at = event => {
                const over = frame.plot.over.getBoundingClientRect();
                return nearest(frame.plot, this.lines, this.figure, event.clientX - over.left, event.clientY - over.top);
            };
            let pressed = null;
            frame.addEventListener("mousedown", event => { pressed = [event.clientX, event.clientY]; }, true);
            frame.addEventListener("click", event => {
                const row = pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < 4 && event.target.closest(".u-over") ? at(event) : -1;
                if (row >= 0)
                    this.model.toggle(row);
            });
            frame.addEventListener("mousemove", event => {
                const row = event.target.closest(".u-over") ? at(event) : -1, own = this.model.sweep.rows[row];
                if (row < 0)
                    mars.tip.hide();
                else
                    mars.tip.show(event, this.model.keys.map((key, k) => key.name + " = " + key.text(own.words[k])).join("\n") + "\n" + this.figure.title + ": " + this.tell(row) +
                        "\n" + own.runs.length + (own.runs.length === 1 ? " run" : " runs") + (own.saturated ? ", saturated" : ""));
            });
            frame.addEventListener("mouseleave", mars.tip.hide);
        }
    }

    class Panel {
        constructor(box, model) {
            this.model = model;
            const load = model.keys.findIndex(key => key.name === "traffic.load"), most = Math.max(...model.keys.map(key => key.numbers ? key.words.length : 0));
            this.x = load >= 0 ? load : Math.max(0, model.keys.findIndex(key => key.numbers && key.words.length === most));
            this.only = model.keys.map(() => undefined);
            this.controls = make("div", { class: "controls" });
            this.plots = make("div", { class: "plots" });
            this.more = make("p", { class: "hint" });
            box.append(this.controls, this.plots, this.more);
            this.arrange();
            const latency = model.columns.find(column => column.name === "packet_latency_ps.mean" && !column.relative), first = load >= 0 && latency || model.columns[0];
            this.list = [first, model.columns.find(column => column !== first)].filter(Boolean).map(figure => new Plot(this, figure));
            this.list.forEach(plot => plot.update());
            model.follow(() => this.list.forEach(plot => plot.box.querySelector(".plot").plot.redraw(false)));
        }

        arrange() {
            const { model } = this, choice = (label, options, change) => make("label", {}, label + " ", make("select", { onchange: event => {
                change(event.target.value);
                this.arrange();
                this.list.forEach(plot => plot.update());
            } }, ...options));
            this.key = model.keys[this.x];
            this.curves = curves(model, this.x, this.only);
            this.controls.replaceChildren(choice("against", model.keys.map((key, k) => option(k, key.name, k === this.x)), value => { this.x = Number(value); }),
                ...model.keys.map((key, k) => k === this.x ? null : choice(key.name, [option("", "a curve each")].concat(key.words.map((word, i) => option(i, key.text(word), this.only[k] === word))),
                    value => { this.only[k] = value === "" ? undefined : key.words[Number(value)]; })).filter(Boolean));
            this.more.textContent = ["Whiskers are intervals of " + mars.percent(model.sweep.level).replace(/\.0+ /, " ") + " over seeds.",
                model.sweep.rows.some(row => row.saturated) ? "A ring: saturated; latencies depend on the length of the run there." : "",
                "A click on a point chooses it, and on a name in the legend hides its curve. Drag to zoom, double click for all.",
                this.curves.length > MOST_CURVES ? "The first " + MOST_CURVES + " of " + this.curves.length + " curves are drawn: choose values of keys." : "", this.saturation()].filter(Boolean).join(" ");
        }

        /* Of each curve over the load: between which loads it saturates. */
        saturation() {
            const { model, key } = this, rows = model.sweep.rows;
            if (key.name !== "traffic.load" || !rows.some(row => row.saturated))
                return "";
            return "Saturated: " + this.curves.slice(0, MOST_CURVES).map(({ title, rows: own }) => {
                const full = own.filter(row => rows[row].saturated).map(row => key.places[row]), from = Math.min(...full), carried = own.map(row => key.places[row]).filter(place => place < from);
                return (title || "all") + (full.length ? " from " + mars.short(from) + (carried.length ? " (" + mars.short(Math.max(...carried)) + " is carried)" : "") : " nowhere");
            }).join("; ") + ".";
        }
    }

    mars.panel({
        id: "curves", title: "Curves", sweep: true, wide: true, wanted: () => mars.sweep.keys.length > 0,
        all(box) {
            new Panel(box, mars.sweep);
        },
    });
})();
