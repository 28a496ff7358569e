/* matrix.js - who sends to whom, and over how many links. */
"use strict";

(function () {
    const { make } = mars;

    class Heat {
        constructor(box, matrix) {
            this.matrix = matrix;
            this.by = 3;
            this.canvas = make("canvas", { role: "img", class: "heat", tabindex: 0, "aria-label": "traffic from each node to each other; arrows move the mark" });
            const what = make("select", { "aria-label": "what is shown", onchange: event => {
                this.by = Number(event.target.value);
                this.draw();
            } }, make("option", { value: 3 }, "bytes"), make("option", { value: 2 }, "messages"));
            this.top = make("span", {}, "");
            this.told = make("output", {}, "");
            box.append(make("div", { class: "controls" }, what, mars.colours.scale("least", this.top)), make("div", { class: "canvas" }, this.canvas),
                make("p", { class: "hint" }, "Rows send, columns receive; the colour is by the logarithm." +
                    (matrix.together > 1 ? " " + matrix.together + " nodes share a row." : ""), " ", this.told));
            this.cell = new Map(matrix.cells.map(cell => [cell[0] * matrix.side + cell[1], cell]));
            mars.drawn(() => this.draw());
            this.canvas.addEventListener("pointermove", event => this.point(event));
            this.canvas.addEventListener("pointerleave", mars.tip.hide);
            this.canvas.addEventListener("keydown", event => this.key(event));
        }

        draw() {
            const { side, cells } = this.matrix, width = Math.min(620, this.canvas.parentElement.clientWidth), left = 44, room = width - left - 6;
            const c = mars.canvasOf(this.canvas, width, room + 30), values = cells.map(cell => cell[this.by]).filter(value => value > 0);
            const least = Math.min(...values), most = Math.max(...values), span = Math.log(most / least) || 1, each = room / side;
            this.left = left, this.each = each;
            this.top.textContent = (this.by === 3 ? mars.bytes : mars.count)(values.length ? most : 0);
            c.fillStyle = mars.colours.variable("back");
            c.fillRect(left, 4, room, room);
            for (const cell of cells)
                if (cell[this.by] > 0) {
                    c.fillStyle = mars.colours.load(0.12 + 0.88 * Math.log(cell[this.by] / least) / span);
                    c.fillRect(left + cell[1] * each, 4 + cell[0] * each, Math.max(each, 1), Math.max(each, 1));
                }
            c.strokeStyle = mars.colours.variable("rule");
            c.strokeRect(left, 4, room, room);
            c.fillStyle = mars.colours.variable("faint");
            c.font = "11px system-ui, sans-serif";
            for (let i = 0; i < 4; i++) {
                const at = Math.round((side - 1) * i / 3);
                c.textAlign = "right", c.textBaseline = i === 0 ? "top" : i === 3 ? "bottom" : "middle";
                c.fillText("n" + at * this.matrix.together, left - 5, 4 + (i === 3 ? side : i === 0 ? 0 : at + 0.5) * each);
                c.textAlign = i === 0 ? "left" : i === 3 ? "right" : "center", c.textBaseline = "top";
                c.fillText("n" + at * this.matrix.together, left + (i === 3 ? side : i === 0 ? 0 : at + 0.5) * each, 8 + room);
            }
            if (this.mark) {
                c.strokeStyle = mars.colours.variable("focus");
                c.lineWidth = 2;
                c.strokeRect(left + this.mark[1] * each - 1, 4 + this.mark[0] * each - 1, Math.max(4, each + 2), Math.max(4, each + 2));
            }
        }

        tell(row, column) {
            const { side, together, nodes } = this.matrix, cell = this.cell.get(row * side + column);
            const name = i => "n" + i * together + (together > 1 ? " to n" + (Math.min(nodes, (i + 1) * together) - 1) : "");
            return name(row) + " > " + name(column) + ": " + (cell ? mars.count(cell[2]) + " messages, " + mars.bytes(cell[3]) : "nothing");
        }

        point(event) {
            const column = Math.floor((event.offsetX - this.left) / this.each), row = Math.floor((event.offsetY - 4) / this.each), side = this.matrix.side;
            if (row >= 0 && column >= 0 && row < side && column < side)
                mars.tip.show(event, this.tell(row, column));
            else
                mars.tip.hide();
        }

        key(event) {
            const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key], last = this.matrix.side - 1;
            if (!step)
                return;
            event.preventDefault();
            this.mark = this.mark ? [0, 1].map(i => Math.max(0, Math.min(last, this.mark[i] + step[i]))) : [0, 0];
            this.told.textContent = this.tell(...this.mark);
            this.draw();
        }
    }

    mars.panel({
        id: "matrix", title: "Who sends to whom",
        build(box, run) {
            if (run.matrix && run.matrix.cells.length)
                new Heat(box, run.matrix);
            else
                box.append(mars.missing("Traffic between nodes was not collected.", "output.matrix = true"));
        },
    });

    function bars(rows, show) {
        const most = Math.max(...rows.map(row => row[1])), sum = rows.reduce((total, row) => total + row[1], 0);
        return make("table", {}, make("tbody", {}, ...rows.map(([name, value]) => make("tr", {}, make("td", {}, name), make("td", {}, show(value)),
            make("td", {}, mars.percent(sum ? value / sum : 0)), make("td", { class: "text" }, mars.bar(most ? value / most : 0))))));
    }

    mars.panel({
        id: "distance", title: "Communication by distance",
        build(box, run) {
            if (!run.distance) {
                box.append(mars.missing("Traffic between nodes was not collected.", "output.matrix = true"));
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
