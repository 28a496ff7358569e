/* What tasks did when: a row for each task, and one for each link whose states are in the timeline; messages are drawn when few
 * enough are in view.
 */
"use strict";

(function () {
    const { make } = mars;
    const BOTTOM = 22, MOST_ARROWS = 1500, FONT = "11px system-ui, sans-serif";
    const LINKS = "links", STATES = { busy: "link busy", stalled: "link stalled for credits", down: "link down" };

    class Gantt {
        constructor(box, gantt, axis) {
            this.gantt = this.ordered(gantt);
            const { begin, duration, track } = this.gantt.spans;
            this.first = begin.length ? begin[0] : 0;
            this.last = begin.reduce((last, from, i) => Math.max(last, from + duration[i]), this.first + 1);
            this.byTrack = gantt.tracks.map(() => []);
            track.forEach((of, i) => this.byTrack[of].push(i));
            this.canvas = make("canvas", { tabindex: 0, role: "img", class: "gantt", "aria-label": "tasks over simulated time; plus and minus zoom, arrows move, 0 shows all" });
            this.told = make("output", {}, "");
            this.messages = make("input", { type: "checkbox", checked: true, onchange: () => this.draw() });
            box.append(make("div", { class: "controls" }, ...[["+", 0.6], ["−", 1 / 0.6]].map(([text, factor]) =>
                make("button", { type: "button", "aria-label": factor < 1 ? "zoom in" : "zoom out", onclick: () => this.zoom(factor) }, text)),
                make("button", { type: "button", onclick: () => this.all() }, "All"), make("label", {}, this.messages, " messages"), this.told),
                make("div", { class: "canvas" }, this.canvas), this.legend(), this.words());
            this.listen();
            mars.drawn(() => this.size());
            this.canvas.gantt = this;
            this.axis = axis;
            axis.listen((from, to) => this.follow(from, to));
        }

        /* The threads of a task below it, and what was traced below what was simulated. */
        ordered(gantt) {
            const jobs = [...new Set(gantt.tracks.map(([job]) => job.replace(/ \(traced\)$/, "")))];
            const keys = gantt.tracks.map(([job, label], i) => {
                const [, task, thread] = /^task (\d+)(?:, thread (\d+))?$/.exec(label) || [null, i, 0];
                return [jobs.indexOf(job.replace(/ \(traced\)$/, "")), Number(task), Number(thread || 0), Number(/ \(traced\)$/.test(job)), i];
            }).sort((a, b) => a.map((part, k) => part - b[k]).find(difference => difference) || 0);
            const row = [];
            keys.forEach((key, at) => { row[key[4]] = at; });
            const moved = list => list.map(track => row[track]), traced = keys.some(key => key[3]);
            const job = keys.map(key => gantt.tracks[key[4]][0]), several = new Set(job.filter(name => name !== LINKS && !/ \(traced\)$/.test(name))).size > 1;
            this.marks = keys.map((key, at) => key[3] ? (key[2] ? "thread " + key[2] + ", " : "") + "traced" : job[at] === LINKS ? gantt.tracks[key[4]][1].replace(/ \([^()]*\)$/, "") :
                gantt.tracks[key[4]][1].replace(/^task \d+, (?=thread)/, traced ? "$&" : "").replace(/^task/, several ? job[at] : "$&"));
            this.begins = job.map((name, at) => at > 0 && name.replace(/ \(traced\)$/, "") !== job[at - 1].replace(/ \(traced\)$/, ""));
            return Object.assign({}, gantt, { tracks: keys.map(key => gantt.tracks[key[4]]), spans: Object.assign({}, gantt.spans, { track: moved(gantt.spans.track) }),
                messages: Object.assign({}, gantt.messages, { track: moved(gantt.messages.track), to: moved(gantt.messages.to) }) });
        }

        colour(name) {
            if (name === "compute")
                return mars.colours.variable("compute");
            if (name === "waiting" || name in STATES)
                return mars.colours.variable(name);
            return mars.colours.kind(this.order.indexOf(name));
        }

        /* The names with most time in them get the first colours. */
        legend() {
            const time = new Map(), { to, duration } = this.gantt.spans, names = this.gantt.names;
            to.forEach((name, i) => time.set(names[name], (time.get(names[name]) || 0) + duration[i]));
            this.order = [...time.keys()].filter(name => name !== "compute" && name !== "waiting" && !(name in STATES)).sort((a, b) => time.get(b) - time.get(a));
            const entry = (name, mark) => make("span", { style: "--mark:" + mark }, name);
            const of = (name, what) => time.has(name) ? [entry(what, "var(--" + name + ")")] : [];
            return make("div", { class: "legend" }, ...of("compute", "compute"), ...this.order.slice(0, 8).map((name, i) => entry(name, mars.colours.mark(i))),
                ...of("waiting", "waiting (lower half)"), ...Object.keys(STATES).flatMap(name => of(name, STATES[name])));
        }

        words() {
            const { spans, messages, tracks_left_out: tracks } = this.gantt, less = [];
            if (spans.all > spans.track.length)
                less.push("the longest of each line, " + mars.count(spans.track.length) + " of " + mars.count(spans.all) + " calls, computations, waits and states");
            if (messages.all > messages.track.length)
                less.push("the longest of each sender, " + mars.count(messages.track.length) + " of " + mars.count(messages.all) + " messages");
            if (tracks)
                less.push(mars.count(tracks) + " rows are left out");
            return make("p", { class: "hint" }, (less.length ? "Shown: " + less.join("; ") + ". marsreport --from and --to choose a span. " : "") +
                "Drag to move, plus and minus (or Ctrl and the wheel) zoom. Messages are drawn when at most " + mars.count(MOST_ARROWS) + " are in view.");
        }

        all() {
            this.top = 0;
            this.place(this.first, this.last - this.first);
        }

        follow(from, to) {
            const within = time => Math.max(this.first, Math.min(this.last, time)), some = from !== null && within(from) < within(to);
            this.from = some ? within(from) : this.first, this.to = some ? within(to) : this.last;
            this.draw();
        }

        size() {
            this.width = this.canvas.parentElement.clientWidth;
            const context = this.canvas.getContext("2d");
            context.font = FONT;
            this.left = Math.min(190, Math.max(96, ...this.marks.map(mark => context.measureText(mark).width + 10)));
            this.row = Math.max(8, Math.min(18, 520 / this.gantt.tracks.length));
            this.height = Math.min(560, this.row * this.gantt.tracks.length) + BOTTOM;
            if (this.from === undefined)
                this.from = this.first, this.to = this.last, this.top = 0;
            this.draw();
        }

        x(time) {
            return this.left + (time - this.from) / (this.to - this.from) * (this.width - this.left);
        }

        draw() {
            this.fill = this.gantt.names.map(name => this.colour(name));
            const c = mars.canvasOf(this.canvas, this.width, this.height), rows = this.gantt.tracks.length, body = this.height - BOTTOM;
            c.font = FONT;
            c.textBaseline = "middle";
            for (let t = Math.floor(this.top / this.row); t < rows && t * this.row - this.top < body; t++)
                this.drawTrack(c, t, t * this.row - this.top);
            this.drawArrows(c, body);
            c.clearRect(0, body, this.width, BOTTOM);
            c.clearRect(0, 0, this.left - 1, body);
            c.fillStyle = mars.colours.variable("faint");
            c.textAlign = "right";
            const step = Math.ceil(12 / this.row);
            for (let t = Math.floor(this.top / this.row); t < rows && (t + 0.9) * this.row - this.top < body; t++)
                if (t % step === 0)
                    c.fillText(this.fitting(c, this.marks[t]), this.left - 6, Math.max(6, (t + 0.5) * this.row - this.top));
            c.textAlign = "center";
            const { step: apart, at } = this.ticks();
            for (const time of at) {
                c.fillRect(this.x(time), body, 1, 4);
                c.fillText(mars.timeOnAxis(time, apart), Math.max(this.left + 24, Math.min(this.width - 30, this.x(time))), body + 13);
            }
            this.told.textContent = mars.time(Math.round(this.from)) + " to " + mars.time(Math.round(this.to));
        }

        /* The multiples of 1, 2 or 5 times a power of ten picoseconds that are in view, at least 100 pixels apart. */
        ticks() {
            const least = Math.max(1, (this.to - this.from) * 100 / Math.max(100, this.width - this.left)), power = 10 ** Math.floor(Math.log10(least));
            const step = [1, 2, 5, 10].find(factor => factor * power >= least * (1 - 1e-9)) * power, at = [];
            for (let i = Math.ceil(this.from / step); i * step <= this.to; i++)
                at.push(i * step);
            return { step, at };
        }

        /* As much of it as there is room for. */
        fitting(c, text) {
            let most = text.length;
            while (most > 1 && c.measureText(text.slice(0, most) + (most < text.length ? "…" : "")).width > this.left - 8)
                most--;
            return text.slice(0, most) + (most < text.length ? "…" : "");
        }

        drawTrack(c, track, y) {
            if (this.begins[track]) { /* another job, or the links */
                c.fillStyle = mars.colours.variable("faint");
                c.fillRect(0, y - 1, this.width, 1);
            }
            const { begin, duration, to } = this.gantt.spans, names = this.gantt.names, height = Math.max(1, this.row - 1);
            for (const waits of [false, true])
                for (const i of this.byTrack[track]) {
                    const name = names[to[i]];
                    if (begin[i] > this.to || begin[i] + duration[i] < this.from || (name === "waiting") !== waits)
                        continue;
                    const left = Math.max(this.left, this.x(begin[i])), right = Math.min(this.width, this.x(begin[i] + duration[i]));
                    c.fillStyle = this.fill[to[i]];
                    c.fillRect(left, y + (waits ? height * 0.6 : 0), Math.max(0.6, right - left), waits ? height * 0.4 : height);
                }
        }

        drawArrows(c, body) {
            const { begin, duration, track, to } = this.gantt.messages, seen = [];
            if (!this.messages.checked)
                return;
            for (let i = 0; i < begin.length && seen.length <= MOST_ARROWS; i++)
                if (begin[i] <= this.to && begin[i] + duration[i] >= this.from)
                    seen.push(i);
            if (seen.length > MOST_ARROWS)
                return;
            c.strokeStyle = mars.colours.variable("ink");
            c.lineWidth = 0.7;
            let first = this.to, last = this.from; /* the fewer pixels they share, the paler: they hide what is below */
            for (const i of seen)
                first = Math.min(first, Math.max(begin[i], this.from)), last = Math.max(last, Math.min(begin[i] + duration[i], this.to));
            c.globalAlpha = Math.max(0.15, Math.min(0.9, (this.x(last) - this.x(first)) / seen.length));
            c.beginPath();
            for (const i of seen) {
                c.moveTo(this.x(begin[i]), (track[i] + 0.5) * this.row - this.top);
                c.lineTo(this.x(begin[i] + duration[i]), (to[i] + 0.5) * this.row - this.top);
            }
            c.stroke();
            c.globalAlpha = 1;
        }

        zoom(factor, at = (this.from + this.to) / 2) {
            const span = Math.min(this.last - this.first, Math.max(1000, (this.to - this.from) * factor)), part = (at - this.from) / (this.to - this.from);
            this.place(at - part * span, span);
        }

        place(from, span) {
            this.from = Math.max(this.first, Math.min(this.last - span, from));
            this.to = this.from + span;
            this.draw();
            const whole = this.from <= this.first && this.to >= this.last;
            this.axis.set(whole ? null : this.from, whole ? null : this.to);
        }

        move(dx, dy) {
            const span = this.to - this.from, most = Math.max(0, this.row * this.gantt.tracks.length - (this.height - BOTTOM));
            this.top = Math.max(0, Math.min(most, this.top + dy));
            this.place(this.from + dx / (this.width - this.left) * span, span);
        }

        /* The span at a point: a wait before the call that it belongs to. */
        find(px, py) {
            const { begin, duration, to } = this.gantt.spans, track = Math.floor((py + this.top) / this.row);
            const time = this.from + (px - this.left) / (this.width - this.left) * (this.to - this.from), near = (this.to - this.from) / this.width;
            let best = -1;
            for (const i of this.byTrack[track] || [])
                if (begin[i] - near <= time && time <= begin[i] + duration[i] + near && (best < 0 || duration[i] <= duration[best]))
                    best = i;
            return best < 0 || px < this.left ? null : this.gantt.tracks[track].join(", ") + "\n" + this.gantt.names[to[best]] + ": " + mars.time(duration[best]) +
                "\n" + mars.time(begin[best]) + " to " + mars.time(begin[best] + duration[best]) + (this.gantt.spans.bytes[best] ? "\n" + mars.bytes(this.gantt.spans.bytes[best]) : "");
        }

        listen() {
            const canvas = this.canvas, moves = { ArrowLeft: [-100, 0], ArrowRight: [100, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] };
            let from = null;
            canvas.addEventListener("pointerdown", event => {
                from = [event.offsetX, event.offsetY];
                canvas.setPointerCapture(event.pointerId);
            });
            canvas.addEventListener("pointerup", () => { from = null; });
            canvas.addEventListener("pointerleave", mars.tip.hide);
            canvas.addEventListener("pointermove", event => {
                if (from) {
                    this.move(from[0] - event.offsetX, from[1] - event.offsetY);
                    from = [event.offsetX, event.offsetY];
                    return;
                }
                const words = this.find(event.offsetX, event.offsetY);
                if (words)
                    mars.tip.show(event, words);
                else
                    mars.tip.hide();
            });
            canvas.addEventListener("wheel", event => {
                if (!event.ctrlKey)
                    return;
                event.preventDefault();
                this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.from + (event.offsetX - this.left) / (this.width - this.left) * (this.to - this.from));
            }, { passive: false });
            canvas.addEventListener("keydown", event => {
                if (moves[event.key])
                    this.move(...moves[event.key]);
                else if (event.key === "+" || event.key === "=")
                    this.zoom(0.6);
                else if (event.key === "-")
                    this.zoom(1 / 0.6);
                else if (event.key === "0" || event.key === "Escape")
                    this.all();
                else
                    return;
                event.preventDefault();
            });
        }
    }

    mars.panel({
        id: "gantt", tab: "time", title: "Tasks over time", wide: true,
        build(box, run, index) {
            if (run.gantt && run.gantt.spans.track.length)
                new Gantt(box, run.gantt, mars.axis("run" + index));
            else
                box.append(mars.missing(run.gantt ? "Nothing was recorded in this span." : "What tasks did when was not recorded, or there are no jobs.", "output.timeline = \"perfetto\""));
        },
    });
})();
