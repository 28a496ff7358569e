/* Who sends to whom, and over how many links. */
"use strict";

(function () {
    const { make } = mars;

    const letters = { node: "n", board: "b", rack: "r", task: "t" };
    const words = matrix => matrix.level === "task" ? "tasks of " + matrix.job : matrix.level + "s";

    class Heat {
        constructor(box, list, axis, run) {
            this.list = list, this.run = run;
            this.by = 3;
            this.canvas = make("canvas", { role: "img", class: "heat", tabindex: 0, "aria-label": "traffic from each to each other; arrows move the mark" });
            const level = make("select", { "aria-label": "between whom", onchange: event => this.choose(list[Number(event.target.value)]) },
                ...list.map((matrix, i) => make("option", { value: i }, words(matrix))));
            const what = make("select", { "aria-label": "what is shown", onchange: event => {
                this.by = Number(event.target.value);
                this.show(this.frame);
            } }, make("option", { value: 3 }, "bytes"), make("option", { value: 2 }, "messages"));
            this.top = make("span", {}, "");
            this.least = make("span", {}, "");
            this.told = make("output", {}, "");
            this.shared = make("span", {}, "");
            this.frames = make("div", { class: "controls" });
            box.append(make("div", { class: "controls" }, level, what, mars.colours.scale(this.least, this.top)), this.frames, make("div", { class: "canvas" }, this.canvas),
                make("p", { class: "hint" }, "Rows send, columns receive; the colour is by the logarithm. A click selects the sender, with Shift the receiver. ", this.shared, this.told));
            this.choose(list[0]);
            mars.drawn(() => this.draw());
            mars.hints(this.canvas, (x, y) => this.point(x, y));
            this.canvas.addEventListener("keydown", event => this.key(event));
            mars.picksAt(this.canvas, (x, y, event) => this.keyOf(Math.floor(event.shiftKey ? (x - this.left) / this.each : (y - 4) / this.each)));
            mars.follows(() => this.draw());
            this.canvas.heat = this;
            axis.listen((from, to) => this.player && this.player.limit(from, to));
        }

        choose(matrix) {
            this.matrix = matrix;
            this.mark = null;
            this.player = matrix.frames && new mars.Player(matrix.frames.time_ps, matrix.frames.begun_ps, frame => this.show(frame));
            this.frames.replaceChildren(...(this.player ? this.player.elements :
                [make("span", { class: "hint" }, "For each period: ", make("code", {}, "output.period"), " and ", make("code", {}, "output.series.matrix = \"periods\""))]));
            this.show(-1);
        }

        /* Cells of a frame are lists of [cell, messages, bytes] one after the other. */
        cellsOf(frame) {
            if (frame < 0)
                return this.matrix.cells;
            const { side, cells } = this.matrix.frames, list = [];
            for (let i = 0; i < cells[frame].length; i += 3)
                list.push([Math.floor(cells[frame][i] / side), cells[frame][i] % side, cells[frame][i + 1], cells[frame][i + 2]]);
            return list;
        }

        /* One scale for all frames. */
        scaleOf(frame) {
            const known = (frame < 0 ? "whole " : "frames ") + this.by, scales = this.matrix.scales = this.matrix.scales || {};
            if (!scales[known]) {
                let least = Infinity, most = 0;
                for (let i = frame < 0 ? -1 : 0; i < (frame < 0 ? 0 : this.matrix.frames.cells.length); i++)
                    for (const cell of this.cellsOf(i))
                        if (cell[this.by] > 0)
                            least = Math.min(least, cell[this.by]), most = Math.max(most, cell[this.by]);
                scales[known] = [least, most];
            }
            return scales[known];
        }

        show(frame) {
            const { side, together } = frame < 0 ? this.matrix : this.matrix.frames;
            if (this.side !== side)
                this.mark = null;
            this.frame = frame, this.side = side, this.together = together;
            this.cells = this.cellsOf(frame);
            this.cell = new Map(this.cells.map(cell => [cell[0] * side + cell[1], cell]));
            this.shared.textContent = together > 1 ? together + " " + this.matrix.level + "s share a row. " : "";
            this.told.textContent = this.mark ? this.tell(...this.mark) : "";
            this.draw();
        }

        draw() {
            const { side, cells, together } = this, width = Math.min(620, this.canvas.parentElement.clientWidth), left = 44, room = width - left - 6;
            const [least, most] = this.scaleOf(this.frame), span = Math.log(most / least) || 1, each = room / side;
            const c = mars.canvasOf(this.canvas, width, room + 30), format = this.by === 3 ? mars.bytes : mars.count, letter = letters[this.matrix.level];
            this.left = left, this.each = each;
            this.top.textContent = format(most);
            this.least.textContent = most ? format(least) : "0";
            c.fillStyle = mars.colours.variable("back");
            c.fillRect(left, 4, room, room);
            for (const cell of cells)
                if (cell[this.by] > 0) {
                    c.fillStyle = mars.colours.load(0.12 + 0.88 * (most > least ? Math.log(cell[this.by] / least) / span : 1));
                    c.fillRect(left + cell[1] * each, 4 + cell[0] * each, Math.max(each, 1), Math.max(each, 1));
                }
            c.strokeStyle = mars.colours.variable("rule");
            c.strokeRect(left, 4, room, room);
            c.fillStyle = mars.colours.variable("faint");
            c.font = "11px system-ui, sans-serif";
            for (let i = 0; i < 4; i++) {
                const at = Math.round((side - 1) * i / 3);
                c.textAlign = "right", c.textBaseline = i === 0 ? "top" : i === 3 ? "bottom" : "middle";
                c.fillText(letter + at * together, left - 5, 4 + (i === 3 ? side : i === 0 ? 0 : at + 0.5) * each);
                c.textAlign = i === 0 ? "left" : i === 3 ? "right" : "center", c.textBaseline = "top";
                c.fillText(letter + at * together, left + (i === 3 ? side : i === 0 ? 0 : at + 0.5) * each, 8 + room);
            }
            this.drawPicked(c, room);
            if (this.mark) {
                c.strokeStyle = mars.colours.variable("focus");
                c.lineWidth = 2;
                c.strokeRect(left + this.mark[1] * each - 1, 4 + this.mark[0] * each - 1, Math.max(4, each + 2), Math.max(4, each + 2));
            }
        }

        /* Of a row: its node or task; of several that share it the first. */
        keyOf(row) {
            const { level, job } = this.matrix, id = row * this.together;
            return row < 0 || row >= this.side ? "" : level === "node" ? "node " + id : level === "task" ? "task " + id + " of " + job : "";
        }

        /* The rows and columns of what is selected are marked at the edges, those of a node or task through all of it. */
        drawPicked(c, room) {
            const own = mars.picked(this.run), { level, job } = this.matrix, { left, each, together } = this;
            if (!own || (level !== "node" && level !== "task"))
                return;
            const ids = level === "node" ? [...own.nodes] : own.it.kind === "task" ? (own.it.job === job ? [own.it.id] : []) : own.it.kind === "job" ? [] : mars.tasksOn(this.run, job, own.nodes);
            c.fillStyle = c.strokeStyle = mars.colours.variable("select");
            c.lineWidth = 1;
            for (const row of new Set(ids.map(id => Math.floor(id / together)))) {
                c.fillRect(left - 4, 4 + row * each, 4, Math.max(1, each)), c.fillRect(left + row * each, 4 + room, Math.max(1, each), 4);
                if (ids.length <= 4)
                    c.strokeRect(left, 4 + row * each, room, Math.max(2, each)), c.strokeRect(left + row * each, 4, Math.max(2, each), room);
            }
        }

        tell(row, column) {
            const { side, together } = this, cell = this.cell.get(row * side + column), letter = letters[this.matrix.level];
            const name = i => letter + i * together + (together > 1 ? " to " + letter + (Math.min(this.matrix.count, (i + 1) * together) - 1) : "");
            return name(row) + " > " + name(column) + ": " + (cell ? mars.count(cell[2]) + " messages, " + mars.bytes(cell[3]) : "nothing");
        }

        point(x, y) {
            const column = Math.floor((x - this.left) / this.each), row = Math.floor((y - 4) / this.each), side = this.side;
            return row >= 0 && column >= 0 && row < side && column < side ? this.tell(row, column) : "";
        }

        key(event) {
            const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key], last = this.side - 1;
            if (event.key === "Enter" && this.mark)
                mars.select(this.keyOf(this.mark[0]));
            if (!step)
                return;
            event.preventDefault();
            this.mark = this.mark ? [0, 1].map(i => Math.max(0, Math.min(last, this.mark[i] + step[i]))) : [0, 0];
            this.told.textContent = this.tell(...this.mark);
            this.draw();
        }
    }

    mars.panel({
        id: "matrix", sums: true, tab: "applications", title: "Who sends to whom",
        build(box, run, index) {
            const some = (run.matrices || []).filter(matrix => matrix.cells.length);
            if (some.length)
                new Heat(box, some, mars.axis("run" + index), run);
            else
                box.append(mars.missing("Who sends to whom was not collected, or nobody sent.", "output.matrix = true", ...(mars.knows(run, "output.matrix_levels") ? ["output.matrix_levels = [\"node\", \"board\", \"rack\", \"task\"]"] : [])));
        },
    });

    function bars(rows, show) {
        const most = Math.max(...rows.map(row => row[1])), sum = rows.reduce((total, row) => total + row[1], 0);
        return make("table", {}, make("tbody", {}, ...rows.map(([name, value]) => make("tr", {}, make("td", {}, name), make("td", {}, show(value)),
            make("td", {}, mars.percent(sum ? value / sum : 0)), make("td", { class: "text" }, mars.bar(most ? value / most : 0))))));
    }

    mars.panel({
        id: "distance", sums: true, tab: "applications", network: true, title: "Communication by distance",
        build(box, run) {
            if (!run.distance) {
                box.append(mars.missing("Traffic between nodes was not collected.", "output.matrix = true", "output.matrix_levels = [\"node\"]"));
                return;
            }
            const name = links => links === 0 ? "on the node" : links === 255 ? "no path" : links + " links";
            box.append(make("h3", {}, "Bytes"), bars(run.distance.rows.map(row => [name(row[0]), row[2]]), mars.bytes),
                make("h3", {}, "Messages"), bars(run.distance.rows.map(row => [name(row[0]), row[1]]), mars.count),
                make("p", { class: "hint" }, "Links of a shortest path, those to the nodes included." +
                    (run.distance.every > 1 ? " Counted for the senders on every " + run.distance.every + "th switch." : "")));
        },
    });
})();
