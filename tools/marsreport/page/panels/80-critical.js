/* The critical path of each job: which tasks, calls and links its end waited for. */
"use strict";

(function () {
    const { make } = mars;
    const kinds = ["computation", "call", "handshake", "contention", "transfer", "in_node", "sending", "matching", "other", "service"];
    const colour = kind => kind === "computation" ? mars.colours.variable("compute") : mars.colours.kind(Math.max(0, kinds.indexOf(kind) - 1));
    const mark = kind => kind === "computation" ? "var(--compute)" : mars.colours.mark(Math.max(0, kinds.indexOf(kind) - 1));

    function bars(list, total, name, value, ...select) {
        return mars.simpleTable(["", "time", "share", ""], list.map(one => [name(one), value(one), mars.percent(total ? one.time_ps / total : 0), mars.bar(total ? one.time_ps / total : 0)]), ...select);
    }

    /* The path as pieces: which task it ran through when. */
    class Path {
        constructor(box, table, job, run) {
            this.run = run, this.job = job;
            const t = mars.table(table), cell = (row, name) => row[t.at(name)];
            this.pieces = t.rows.filter(row => cell(row, "job") === job).map(row => ({ task: cell(row, "to_task"), from: cell(row, "begin_ps"), to: cell(row, "end_ps"),
                kind: cell(row, "kind"), name: cell(row, "function"), waits: cell(row, "task"), sender: cell(row, "from_task") }));
            if (!this.pieces.length)
                return;
            this.tasks = [...new Set(this.pieces.flatMap(piece => [piece.task, piece.sender]).filter(task => task !== null))].sort((a, b) => a - b);
            this.row = new Map(this.tasks.map((task, i) => [task, i]));
            this.first = Math.min(...this.pieces.map(piece => piece.from)), this.last = Math.max(...this.pieces.map(piece => piece.to));
            this.from = this.first, this.to = this.last;
            this.canvas = make("canvas", { tabindex: 0, role: "img", class: "path", "aria-label": "critical path of job " + job + "; plus and minus zoom, arrows move, 0 shows all" });
            box.append(make("div", { class: "canvas apart" }, this.canvas), make("div", { class: "legend" }, ...kinds.filter(kind => this.pieces.some(piece => piece.kind === kind)).map(kind =>
                make("span", { style: "--mark:" + mark(kind) }, kind.replace("_", " ")))));
            this.listen();
            mars.picksAt(this.canvas, (x, y) => this.tasks[Math.floor(y / this.each)] === undefined ? "" : this.key(this.tasks[Math.floor(y / this.each)]));
            mars.follows(() => this.draw());
            mars.drawn(() => this.draw());
        }

        key(task) {
            return "task " + task + " of " + this.job;
        }

        x(time) {
            return 70 + (time - this.from) / (this.to - this.from || 1) * (this.width - 74);
        }

        draw() {
            this.width = this.canvas.parentElement.clientWidth;
            this.each = Math.max(5, Math.min(14, 320 / this.tasks.length));
            const height = this.tasks.length * this.each, c = mars.canvasOf(this.canvas, this.width, height + 22), y = task => (this.row.get(task) + 0.5) * this.each;
            c.font = "11px system-ui, sans-serif";
            c.lineWidth = 1;
            const fill = new Map(kinds.map(kind => [kind, colour(kind)]));
            for (const piece of this.pieces) {
                if (piece.to < this.from || piece.from > this.to)
                    continue;
                const left = Math.max(70, this.x(piece.from)), right = Math.min(this.width, this.x(piece.to));
                c.strokeStyle = c.fillStyle = fill.get(piece.kind) || mars.colours.variable("faint");
                if (piece.sender !== null && piece.sender !== piece.task) {
                    c.beginPath(), c.moveTo(left, y(piece.sender)), c.lineTo(right, y(piece.task)), c.stroke();
                } else {
                    c.fillRect(left, y(piece.task) - this.each * 0.4, Math.max(0.8, right - left), this.each * 0.8);
                }
            }
            c.fillStyle = mars.colours.variable("faint");
            c.textBaseline = "middle", c.textAlign = "right";
            const step = Math.ceil(12 / this.each);
            this.tasks.forEach((task, i) => {
                const own = mars.related(this.run, this.key(task)) === 2;
                c.fillStyle = c.strokeStyle = mars.colours.variable(own ? "select" : "faint");
                if (own || i % step === 0)
                    c.fillText("task " + task, 64, (i + 0.5) * this.each);
                if (own)
                    c.strokeRect(69, i * this.each, this.width - 70, this.each);
            });
            c.fillStyle = mars.colours.variable("faint");
            c.textAlign = "center";
            for (let i = 0; i <= 6; i++) {
                const time = this.from + (this.to - this.from) * i / 6;
                c.fillText(mars.time(Math.round(time)), Math.max(94, Math.min(this.width - 30, this.x(time))), height + 12);
            }
        }

        zoom(factor, shift) {
            const span = Math.min(this.last - this.first, Math.max(1000, (this.to - this.from) * factor)), middle = (this.from + this.to) / 2 + shift * span;
            this.from = Math.max(this.first, Math.min(this.last - span, middle - span / 2));
            this.to = this.from + span;
            this.draw();
        }

        find(px, py) {
            const time = this.from + (px - 70) / (this.width - 74) * (this.to - this.from), near = (this.to - this.from) / this.width;
            const task = this.tasks[Math.floor(py / this.each)], fits = piece => piece.from - near <= time && time <= piece.to + near;
            const piece = this.pieces.find(one => fits(one) && one.task === task) || this.pieces.find(fits);
            return px < 70 || !piece ? null : (piece.sender !== null && piece.sender !== piece.task ? "task " + piece.sender + " > " : "") + "task " + piece.task + "\n" +
                piece.kind + (piece.name ? ", " + piece.name : "") + (piece.waits !== piece.task ? " of task " + piece.waits : "") + ": " + mars.time(piece.to - piece.from) + "\n" + mars.time(piece.from) + " to " + mars.time(piece.to);
        }

        listen() {
            const moves = { "+": [0.6, 0], "=": [0.6, 0], "-": [1 / 0.6, 0], ArrowLeft: [1, -0.2], ArrowRight: [1, 0.2], "0": [Infinity, 0], Escape: [Infinity, 0] };
            mars.hints(this.canvas, (x, y) => this.find(x, y));
            this.canvas.addEventListener("keydown", event => {
                if (!moves[event.key])
                    return;
                event.preventDefault();
                this.zoom(...moves[event.key]);
            });
        }
    }

    function ofJob(box, run, index, job, i) {
        const own = job.critical_path, path = "result.jobs." + i + ".critical_path", total = own.to_ps - own.from_ps;
        const number = (name, format) => mars.number(run, index, path + "." + name, format);
        const list = Object.entries(own.kinds).filter(([, time]) => time > 0).sort((a, b) => b[1] - a[1]);
        const kind = name => name.replace(/_ps$/, ""), stack = mars.stack("kinds of the critical path", list.map(([name, time]) =>
            ({ title: kind(name) + ": " + mars.time(time), share: total ? time / total : 0, background: mark(kind(name)) })));
        box.append(make("h3", {}, "Job " + job.name + ": from ", number("from_ps"), " to ", number("to_ps"), own.complete ? "" : " (the beginning of the path was not kept)",
            own.finished === false ? " (the job had not ended: the path of what was there)" : ""), stack);
        const column = (title, ...children) => make("div", {}, make("h3", {}, title), ...children);
        box.append(make("div", { class: "columns" },
            column("What it is made of", mars.simpleTable(["", "time", "share"], list.map(([name, time]) => [
                make("span", {}, make("span", { class: "mark", style: "background:" + mark(kind(name)) }), kind(name).replace("_", " ")), number("kinds." + name), mars.percent(total ? time / total : 0)]))),
            own.functions.length ? column("In which calls", bars(own.functions, total, one => one.function || "computation", one => number("functions." + own.functions.indexOf(one) + ".time_ps"))) : null,
            own.tasks.length ? column("On which tasks", bars(own.tasks, total, one => "task " + one.task, one => number("tasks." + own.tasks.indexOf(one) + ".time_ps"), run, own.tasks.map(one => "task " + one.task + " of " + job.name))) : null,
            own.pairs.length ? column("In messages between", mars.simpleTable(["", "messages", "time", "contention"], own.pairs.map((one, k) => ["task " + one.from + " > " + one.to,
                number("pairs." + k + ".messages", mars.count), number("pairs." + k + ".time_ps"), number("pairs." + k + ".contention_ps")]))) : null,
            own.distances && own.distances.length ? column("Over how many links", mars.simpleTable(["", "messages", "time", "contention"], own.distances.map((one, k) => [one.links ? one.links + " links" : "inside nodes",
                number("distances." + k + ".messages", mars.count), number("distances." + k + ".time_ps"), number("distances." + k + ".contention_ps")]))) : null,
            own.links && own.links.length ? column("Over which links for certain", mars.simpleTable(["", "messages", "time", "share"], own.links.map((one, k) => [
                mars.end(run, one.from_kind, one.from, one.from_port) + " → " + mars.end(run, one.to_kind, one.to) + " (" + one.class + ")",
                number("links." + k + ".messages", mars.count), number("links." + k + ".time_ps"), mars.percent(total ? one.time_ps / total : 0)]), run, own.links.map(one => one.from_kind + " " + one.from + " port " + one.from_port))) : null));
        if (run.critical_path_steps)
            new Path(box, run.critical_path_steps, job.name, run);
        if (run.critical_path_steps && run.critical_path_steps.left_out)
            box.append(make("p", { class: "hint" }, "The last " + mars.count(run.critical_path_steps.rows.length) + " pieces are drawn; " + mars.count(run.critical_path_steps.left_out) + " earlier ones are in critical_path_steps.csv."));
    }

    mars.panel({
        id: "critical", tab: "applications", title: "Critical path", wide: true,
        tables: { critical_path_steps: 20000 },
        wanted: () => mars.runs.some(run => mars.at(run, "result.jobs.0.critical_path") || mars.knows(run, "output.critical_path")),
        build(box, run, index) {
            const jobs = mars.at(run, "result.jobs") || [];
            if (!jobs.some(job => job.critical_path)) {
                box.append(mars.missing("The critical path was not looked for, or there are no jobs.", "output.waits = true and output.critical_path = \"64 MB\""));
                return;
            }
            jobs.forEach((job, i) => job.critical_path && ofJob(box, run, index, job, i));
        },
    });
})();
