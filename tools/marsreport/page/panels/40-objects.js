/* Series of links, switches, adapters, jobs, tasks, ...: those to which most happened, and all together. */
"use strict";

(function () {
    const { make } = mars;
    const LINES = 7; /* objects with a line of their own; more make a picture of rows */
    const words = name => name.replace(/_/g, " ");
    const kinds = {
        link_series: { title: "links", label: ([kind, id, port], run) => mars.linkName(run, kind, id, port), first: "utilisation" },
        channel_series: { title: "channels", label: ([kind, id, port, channel], run) => "channel " + channel + ", " + mars.linkName(run, kind, id, port), first: "utilisation" },
        switch_series: { title: "switches", label: ([id], run) => mars.end(run, "switch", id), first: "utilisation" },
        adapter_series: { title: "adapters", label: ([node, adapter], run) => mars.end(run, "node", node, adapter), first: "utilisation" },
        job_series: { title: "jobs", label: ([job]) => String(job), first: "wait_ps" },
        task_series: { title: "tasks", label: ([job, task]) => job + " " + task, first: "wait_ps" },
        traffic_series: { title: "kinds of messages", label: ([job, kind, leaves]) => job + ": " + (kind === "both" ? "point to point and collective" : words(kind)) + (leaves ? ", to other nodes" : ", inside nodes"), first: "bytes" },
        function_series: { title: "MPI functions", label: ([job, name]) => job + ": " + name, first: "simulated_ps" },
        core_series: { title: "cores", label: ([node, core], run) => mars.end(run, "node", node) + " core " + core, first: "computing_ps" },
        memory_series: { title: "memory", label: ([node, kind, number], run) => mars.end(run, "node", node) + " " + words(kind) + " " + number, first: "bytes", apart: true },
        storage_series: { title: "file servers", label: ([server]) => "server " + server, first: "utilisation" },
        congestion_series: { title: "flows held back", label: ([source, destination, level]) => "endpoint " + source + (destination === null ? ", class " + level : " to " + destination), first: "notices" },
        communicator_series: { title: "communicators", label: ([job, name]) => job + ": " + name, first: "bytes" },
    };
    const keys = run => ["links", "channels", "switches", "adapters", "jobs", "tasks", "traffic", "functions", "communicators", "cores", "storage", "congestion"].filter(name => mars.knows(run, "output.series." + name))
        .map(name => "output.series." + name + " = \"periods\"");

    /* Columns as they are shown: {name, format, how, all, values}; the deviation of sizes is made of two of them. */
    function columnsOf(series) {
        const columns = series.columns.map((name, i) => {
            const by = series.how[i] === "rate" ? 1e6 : 1, scale = list => by === 1 ? list : list.map(value => value === null ? null : value / by);
            return { name, how: series.how[i], format: mars.formatOf(name), all: scale(series.all[i]), values: series.values[i].map(scale) };
        });
        const mean = columns.find(column => column.name === "size_mean_bytes"), square = columns.find(column => column.name === "size_square_mean");
        if (!mean || !square)
            return columns;
        const each = (means, squares) => means.map((value, i) => value === null ? null : Math.sqrt(Math.max(0, squares[i] - value * value)));
        return columns.filter(column => column !== square).concat({ name: "size_deviation_bytes", how: "mean", format: mars.bytes,
            all: each(mean.all, square.all), values: mean.values.map((list, i) => each(list, square.values[i])) });
    }

    const of = { sum: "all together", last: "all together", max: "the highest", rate: "mean of all", mean: "mean of all" };

    /* Rows of objects over time, the colour being the value. */
    class Rows {
        constructor(box, axis, run) {
            this.axis = axis, this.run = run;
            axis.listen(() => this.draw());
            this.canvas = make("canvas", { role: "img", class: "rows", tabindex: 0, "aria-label": "a row for each, over simulated time; arrows move the mark" });
            this.told = make("output", {}, "");
            this.top = make("span", {}, "");
            this.box = make("div", {}, make("div", { class: "controls" }, mars.colours.scale("0", this.top), this.told), make("div", { class: "canvas" }, this.canvas));
            box.append(this.box);
            mars.hints(this.canvas, (x, y) => this.at(x, y) && this.tell(...this.at(x, y)));
            this.canvas.addEventListener("keydown", event => this.key(event));
            mars.picksAt(this.canvas, (x, y) => this.keys && this.keys[Math.floor(y / this.each)]);
            mars.drawn(() => this.draw());
        }

        show(series, labels, column, keys) {
            this.series = series, this.labels = labels, this.column = column, this.keys = keys;
            this.mark = null;
            this.told.textContent = "";
            this.draw();
        }

        span(i) {
            return [i ? this.series.time_ps[i - 1] : this.series.begun_ps, this.series.time_ps[i]];
        }

        /* From when to when it is shown: the periods of the axis. */
        shown() {
            const first = this.series.begun_ps, last = this.series.time_ps[this.series.time_ps.length - 1], { from, to } = this.axis;
            return from === null || from >= last || to <= first ? [first, last] : [Math.max(first, from), Math.min(last, to)];
        }

        x(time) {
            const [first, last] = this.shown();
            return this.left + (time - first) / (last - first || 1) * (this.width - this.left - 4);
        }

        draw() {
            this.box.style.display = this.series ? "" : "none";
            if (!this.series)
                return;
            const rows = this.column.values, each = Math.max(6, Math.min(16, 480 / rows.length)), height = rows.length * each;
            const most = rows.reduce((highest, list) => list.reduce((m, value) => Math.max(m, value || 0), highest), 0);
            this.width = this.canvas.parentElement.clientWidth, this.each = each;
            this.top.textContent = this.column.format(most);
            const c = mars.canvasOf(this.canvas, this.width, height + 22), step = Math.ceil(11 / each);
            c.font = "11px system-ui, sans-serif";
            c.textBaseline = "middle";
            this.left = Math.min(300, Math.max(108, ...this.labels.map(label => c.measureText(label).width + 12)));
            rows.forEach((list, r) => {
                for (let i = 0; i < list.length; i++) {
                    const [from, to] = this.span(i).map(time => Math.max(this.left, Math.min(this.width - 4, this.x(time))));
                    if (from >= to)
                        continue;
                    c.fillStyle = list[i] === null ? mars.colours.variable("back") : mars.colours.load(most ? list[i] / most : 0);
                    c.fillRect(from, r * each, Math.max(0.5, to - from + 0.3), each > 7 ? each - 1 : each);
                }
            });
            c.textAlign = "right";
            c.strokeStyle = mars.colours.variable("select");
            rows.forEach((list, r) => {
                const how = mars.related(this.run, this.keys[r]);
                c.fillStyle = mars.colours.variable(how ? "select" : "faint");
                if (how)
                    c.fillRect(this.left - 4, r * each, 3, each - 1);
                if (mars.labelled(this.run, this.keys, r, step))
                    c.fillText(mars.fitting(c, this.labels[r], this.left - 8), this.left - 6, Math.max(6, (r + 0.5) * each));
                if (how === 2)
                    c.strokeRect(this.left - 0.5, r * each - 0.5, this.width - this.left - 3, each);
            });
            c.fillStyle = mars.colours.variable("faint");
            c.textAlign = "center";
            const [first, last] = this.shown();
            for (let i = 0; i <= 6; i++) {
                const time = first + (last - first) * i / 6;
                c.fillText(mars.time(Math.round(time)), Math.max(this.left + 22, Math.min(this.width - 30, this.x(time))), height + 12);
            }
            if (this.mark) {
                const [from, to] = this.span(this.mark[1]).map(time => this.x(time));
                c.strokeStyle = mars.colours.variable("focus");
                c.lineWidth = 2;
                c.strokeRect(from - 1, this.mark[0] * each - 1, to - from + 2, each + 2);
            }
        }

        at(px, py) {
            const row = Math.floor(py / this.each), times = this.series.time_ps;
            if (row < 0 || row >= this.labels.length || px < this.left)
                return null;
            const i = times.findIndex(time => px <= this.x(time));
            return i < 0 ? null : [row, i];
        }

        tell(row, i) {
            const value = this.column.values[row][i];
            return this.labels[row] + ", " + this.span(i).map(mars.time).join(" to ") + ": " + (value === null ? "nothing" : this.column.format(value));
        }

        key(event) {
            if (event.key === "Enter" && this.mark)
                mars.select(this.keys[this.mark[0]]);
            const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
            if (!step)
                return;
            event.preventDefault();
            const last = [this.labels.length - 1, this.series.time_ps.length - 1];
            this.mark = this.mark ? [0, 1].map(i => Math.max(0, Math.min(last[i], this.mark[i] + step[i]))) : [0, 0];
            this.told.textContent = this.tell(...this.mark);
            this.draw();
        }
    }

    function show(box, run, index, names) {
        const what = make("select", { "aria-label": "of what", onchange: () => choose() }, ...names.map(name => make("option", { value: name }, kinds[name].title)));
        const which = make("select", { "aria-label": "which column", onchange: () => draw() }), hint = make("p", { class: "hint" }), plots = make("div", {});
        box.append(make("div", { class: "controls" }, what, which), plots);
        const line = { title: "", format: mars.count, times: [], lines: [], sync: "run" + index, height: 220 };
        let columns = [], labels = [], keys = [], some = [], redraw = null;
        const rows = new Rows(box, mars.axis("run" + index), run);
        line.pick = i => some[i] !== undefined && mars.select(keys[some[i]]);
        box.append(hint);
        function draw() {
            const series = run.series[what.value], column = columns[Number(which.value)], near = keys.map(key => mars.related(run, key)), any = near.some(Boolean);
            some = labels.map((label, i) => i).filter(i => i < LINES || near[i] === 2);
            line.title = words(column.name.replace(/_(ps|ns)$/, "")) + " of " + kinds[what.value].title;
            line.format = column.format;
            line.times = series.time_ps;
            line.lines = some.map(i => ({ label: labels[i], values: column.values[i], colour: () => mars.colours.kind(i), width: near[i] ? 3.2 : any ? 0.8 : undefined }));
            if (series.count > 1 && !kinds[what.value].apart) /* what passes through a bus goes through a controller, too */
                line.lines.push({ label: of[column.how], values: column.all, colour: () => mars.colours.variable("ink"), width: 2.2, dash: [7, 3] });
            if (redraw)
                redraw();
            else
                redraw = mars.plot(plots, line);
            rows.show(series.objects.length > LINES ? series : null, labels, column, keys);
            hint.textContent = (series.count > LINES ? "Lines: the " + LINES + " with the most" + (series.count > series.objects.length ? "; rows: the " + series.objects.length +
                " with the most of " + mars.count(series.count) : "") + ". " : "") + (series.together > 1 ? series.together + " periods are one point." : "");
        }
        function choose() {
            const kind = kinds[what.value], series = run.series[what.value];
            columns = columnsOf(series);
            labels = series.objects.map(object => kind.label(object, run));
            keys = series.objects.map(mars.keyOf(series.keys));
            if (kind.title !== "jobs" && new Set(series.objects.map(object => object[0])).size === 1 && series.keys[0] === "job")
                labels = labels.map(text => text.slice(String(series.objects[0][0]).length).replace(/^: /, "").replace(/^ /, kind.title === "tasks" ? "task " : ""));
            which.replaceChildren(...columns.map((column, i) => make("option", { value: i }, words(column.name.replace(/_(ps|ns)$/, "")))));
            which.value = Math.max(0, columns.findIndex(column => column.name === kind.first));
            draw();
        }
        mars.follows(draw);
        choose();
    }

    mars.panel({
        id: "objects", tab: "time", title: "Links, switches, tasks over time", wide: true,
        build(box, run, index) {
            const names = Object.keys(kinds).filter(name => run.series && run.series[name] && run.series[name].objects.length);
            if (names.length)
                show(box, run, index, names);
            else
                box.append(mars.missing("No series of single links, switches, jobs, tasks, ... was collected.", "output.period = \"10 us\"", ...keys(run)));
        },
    });
})();
