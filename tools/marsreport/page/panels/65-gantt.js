/* What tasks did when: a row for each job, of which shares of their time its tasks were in what, and below it, unfolded, one for each task; likewise the links whose
 * states are in the timeline. Messages are drawn when few enough are in view.
 */
"use strict";

(function () {
    const { make } = mars;
    const BOTTOM = 22, MOST_ARROWS = 1500, FEW = 64 /* rows: unfolded at first */, JOB = 34 /* pixels of its row */, FONT = "11px system-ui, sans-serif";
    const LINK = /^(node|switch) (\d+)(?: \(.*?\))?(?::(\d+))? to (node|switch) (\d+)(?: \(.*\))? \(([^()]*)\)$/; /* as timelines call a link */
    const LINKS = "links", STATES = { busy: "link busy", stalled: "link stalled for credits", down: "link down" };

    class Gantt {
        constructor(box, gantt, axis, run) {
            this.run = run;
            this.gantt = this.ordered(gantt);
            const { begin, duration, track } = this.gantt.spans;
            this.first = begin.length ? begin[0] : 0;
            this.last = begin.reduce((last, from, i) => Math.max(last, from + duration[i]), this.first + 1);
            this.byTrack = gantt.tracks.map(() => []);
            track.forEach((of, i) => this.byTrack[of].push(i));
            this.why = new Map();
            for (let i = 0; i < (this.gantt.spans.why || []).length; i += 3)
                this.why.set(this.gantt.spans.why[i], this.gantt.spans.why.slice(i + 1, i + 3));
            this.jobs = [...new Set(this.of)];
            this.open = new Set(this.gantt.tracks.length <= FEW ? this.jobs : []);
            this.folds = this.gantt.tracks.length > FEW || this.jobs.length > 1;
            this.canvas = make("canvas", { tabindex: 0, role: "img", class: "gantt", "aria-label": "tasks over simulated time; plus and minus zoom, arrows move, 0 shows all" });
            this.told = make("output", {}, "");
            this.messages = make("input", { type: "checkbox", checked: true, onchange: () => this.draw() });
            box.append(make("div", { class: "controls" }, ...[["+", 0.6], ["−", 1 / 0.6]].map(([text, factor]) =>
                make("button", { type: "button", "aria-label": factor < 1 ? "zoom in" : "zoom out", onclick: () => this.zoom(factor) }, text)),
                make("button", { type: "button", onclick: () => this.all() }, "All"), this.folds ? make("button", { type: "button", onclick: () => this.fold(...this.jobs) }, "Fold, unfold") : null, make("label", {}, this.messages, " messages"), this.told),
                make("div", { class: "canvas" }, this.canvas), this.legend(), this.words());
            this.listen();
            mars.drawn(() => this.size());
            mars.picksAt(this.canvas, (x, y) => {
                const { job, track } = this.rowAt(y) || {};
                if (job !== undefined && x < this.left)
                    this.fold(job);
                return track !== undefined ? this.keys[track] : job !== undefined && x >= this.left && job !== LINKS ? "job " + job : "";
            });
            mars.follows(() => this.show());
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
            this.marks = keys.map((key, at) => key[3] ? (key[2] ? "thread " + key[2] + ", " : "") + "traced" : job[at] === LINKS ? gantt.tracks[key[4]][1].replace(LINK, (all, from, id, port, kind, to, of) => mars.end(this.run, from, id, port) + " → " + mars.end(this.run, kind, to) + " (" + of + ")") :
                gantt.tracks[key[4]][1].replace(/^task \d+, (?=thread)/, traced ? "$&" : "").replace(/^task/, several ? job[at] : "$&"));
            this.keys = keys.map((key, at) => this.keyOf(...gantt.tracks[key[4]]));
            this.of = job.map(name => name.replace(/ \(traced\)$/, ""));
            return Object.assign({}, gantt, { tracks: keys.map(key => gantt.tracks[key[4]]), spans: Object.assign({}, gantt.spans, { track: moved(gantt.spans.track) }),
                messages: Object.assign({}, gantt.messages, { track: moved(gantt.messages.track), to: moved(gantt.messages.to) }) });
        }

        /* What a row is of. */
        keyOf(job, label) {
            const link = job === LINKS && LINK.exec(label), task = /^task (\d+)/.exec(label);
            return link ? link[1] + " " + link[2] + " port " + (link[3] || 0) : task ? "task " + task[1] + " of " + job.replace(/ \(traced\)$/, "") : "";
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
                less.push("the first tasks of each job, " + mars.count(tracks) + " have no row");
            return make("p", { class: "hint" }, (less.length ? "Shown: " + less.join("; ") + ". marsreport --from and --to choose a span. " : "") +
                (this.folds ? "A click on a job's name folds and unfolds it. " : "") + "Drag to move, plus and minus (or Ctrl and the wheel) zoom. Messages are drawn when at most " + mars.count(MOST_ARROWS) + " are in view.");
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
            this.left = Math.min(210, Math.max(96, ...this.marks.map(mark => context.measureText(mark).width + 10)));
            if (this.from === undefined)
                this.from = this.first, this.to = this.last, this.top = 0;
            this.arrange();
        }

        /* Rows from top to bottom: {job, y, height}, and {track, y, height}; y of a track in a folded job: none. */
        arrange() {
            const shown = this.of.filter(job => this.open.has(job)).length, each = Math.max(8, Math.min(18, 520 / Math.max(1, shown)));
            this.rows = [], this.y = [], this.total = 0, this.row = each;
            const add = (row, height) => (this.rows.push(Object.assign(row, { y: this.total, height })), this.total += height);
            this.of.forEach((job, track) => {
                if (this.folds && job !== this.of[track - 1])
                    add({ job }, JOB);
                if (this.open.has(job))
                    this.y[track] = this.total + 0.5 * each, add({ track }, each);
            });
            this.height = Math.min(560, this.total) + BOTTOM;
            this.top = Math.max(0, Math.min(this.top, this.total - (this.height - BOTTOM)));
            this.draw();
        }

        fold(...jobs) {
            const opens = !jobs.some(job => this.open.has(job));
            jobs.forEach(job => this.open[opens ? "add" : "delete"](job));
            this.arrange();
        }

        rowAt(py) {
            return this.rows.find(row => py + this.top >= row.y && py + this.top < row.y + row.height);
        }

        x(time) {
            return this.left + (time - this.from) / (this.to - this.from) * (this.width - this.left);
        }

        draw() {
            this.fill = this.gantt.names.map(name => this.colour(name));
            const c = mars.canvasOf(this.canvas, this.width, this.height), body = this.height - BOTTOM, seen = this.rows.filter(row => row.y + row.height > this.top && row.y - this.top < body);
            c.font = FONT;
            c.textBaseline = "middle";
            seen.forEach(row => row.job === undefined ? this.drawTrack(c, row.track, row.y - this.top) : this.drawJob(c, row.job, row.y - this.top));
            this.drawArrows(c);
            mars.drawGaps(c, mars.gapsOf(this.run), time => this.x(time), { left: this.left, top: 0, width: this.width - this.left, height: body });
            c.clearRect(0, body, this.width, BOTTOM);
            c.clearRect(0, 0, this.left - 1, body);
            c.textAlign = "right";
            const step = Math.ceil(12 / this.row);
            for (const row of seen)
                if (row.y + 0.9 * row.height - this.top < body)
                    this.drawMark(c, row, row.job !== undefined || mars.labelled(this.run, this.keys, row.track, step));
            c.fillStyle = mars.colours.variable("faint");
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

        drawMark(c, { job, track, y, height }, some) {
            const how = mars.related(this.run, job === undefined ? this.keys[track] : "job " + job), top = y - this.top;
            c.fillStyle = c.strokeStyle = mars.colours.variable(how ? "select" : job === undefined ? "faint" : "ink");
            if (some)
                c.fillText(mars.fitting(c, job === undefined ? this.marks[track] : (this.open.has(job) ? "▾ " : "▸ ") + job, this.left - 8), this.left - 6, Math.max(6, top + 0.5 * height));
            if (how)
                c.fillRect(this.left - 3, top, 3, height - 1);
            if (how === 2)
                c.lineWidth = 1.5, c.strokeRect(this.left - 1, top - 1, this.width - this.left, height + 1);
        }

        /* The row of what is selected is in view. */
        show() {
            const track = this.keys.findIndex(key => mars.related(this.run, key) === 2);
            if (track >= 0 && !this.open.has(this.of[track]))
                this.fold(this.of[track]);
            const body = this.height - BOTTOM, at = track < 0 ? -1 : this.y[track];
            if (at >= 0 && (at < this.top || at + this.row > this.top + body))
                this.top = Math.max(0, Math.min(this.total - body, at - body / 3));
            this.draw();
        }

        /* {name, from, to: of a bin} at a time; null: nothing is known of it. */
        sharesAt(job, time) {
            const { from, to, jobs } = this.gantt.groups || { jobs: [] }, own = jobs.find(one => one.name === job);
            const kinds = own ? Object.keys(own).filter(name => Array.isArray(own[name])) : [], bins = kinds.length ? own[kinds[0]].length : 0, i = Math.min(bins - 1, Math.floor((time - from) / (to - from) * bins));
            return i < 0 || !bins ? null : { rows: own.rows, from: from + i * (to - from) / bins, to: from + (i + 1) * (to - from) / bins, of: kinds.map(name => [name, own[name][i] / 1000]) };
        }

        drawJob(c, job, y) {
            const fill = name => name === "calls" ? mars.colours.kind(0) : mars.colours.variable(name);
            c.fillStyle = mars.colours.variable("rule");
            c.fillRect(0, y, this.width, 1);
            for (let time = this.from, shares; time < this.to && (shares = this.sharesAt(job, time)); time = Math.max(shares.to, time + 1)) {
                let bottom = y + JOB - 2;
                const left = Math.max(this.left, Math.round(this.x(shares.from))), right = Math.min(this.width, Math.max(left + 1, Math.round(this.x(shares.to))));
                for (const [name, share] of shares.of) {
                    c.fillStyle = fill(name);
                    c.fillRect(left, bottom - share * (JOB - 4), right - left, share * (JOB - 4));
                    bottom -= share * (JOB - 4);
                }
            }
        }

        drawTrack(c, track, y) {
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

        drawArrows(c) {
            const { begin, duration, track, to } = this.gantt.messages, seen = [];
            if (!this.messages.checked)
                return;
            for (let i = 0; i < begin.length && seen.length <= MOST_ARROWS; i++)
                if (begin[i] <= this.to && begin[i] + duration[i] >= this.from && this.y[track[i]] >= 0 && this.y[to[i]] >= 0)
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
                c.moveTo(this.x(begin[i]), this.y[track[i]] - this.top);
                c.lineTo(this.x(begin[i] + duration[i]), this.y[to[i]] - this.top);
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
            const span = this.to - this.from, most = Math.max(0, this.total - (this.height - BOTTOM));
            this.top = Math.max(0, Math.min(most, this.top + dy));
            this.place(this.from + dx / (this.width - this.left) * span, span);
        }

        /* What is at a point: of a job the shares; of a task the span, a wait before the call that it belongs to. */
        find(px, py) {
            const { begin, duration, to } = this.gantt.spans, { job, track } = this.rowAt(py) || {};
            const time = this.from + (px - this.left) / (this.width - this.left) * (this.to - this.from), near = (this.to - this.from) / this.width;
            if (px < this.left)
                return null;
            const shares = job !== undefined && this.sharesAt(job, time);
            if (shares)
                return job + ", " + mars.count(shares.rows) + (job === LINKS ? " links" : shares.rows === 1 ? " task" : " tasks") + "\n" + mars.time(Math.round(shares.from)) + " to " + mars.time(Math.round(shares.to)) +
                    shares.of.map(([name, share]) => "\n" + ({ calls: "in calls, not waiting" }[name] || name) + ": " + mars.percent(share)).join("");
            let best = -1;
            for (const i of this.byTrack[track] || [])
                if (begin[i] - near <= time && time <= begin[i] + duration[i] + near && (best < 0 || duration[i] <= duration[best]))
                    best = i;
            return best < 0 ? null : (this.of[track] === LINKS ? this.marks[track] : this.gantt.tracks[track].join(", ")) + "\n" + this.gantt.names[to[best]] + ": " + mars.time(duration[best]) +
                "\n" + mars.time(begin[best]) + " to " + mars.time(begin[best] + duration[best]) + (this.gantt.spans.bytes[best] ? "\n" + mars.bytes(this.gantt.spans.bytes[best]) : "") +
                (this.gantt.names[to[best]] === "waiting" ? this.because(track, best) : "");
        }

        /* In which call it was waited, for whom, and why; where the timeline does not say that, the message that came then says whom. */
        because(track, wait) {
            const { begin, duration, to } = this.gantt.spans, names = this.gantt.names, ends = begin[wait] + duration[wait], { messages } = this.gantt, [cause, task] = this.why.get(wait) || [];
            const call = this.byTrack[track].find(i => names[to[i]] !== "waiting" && names[to[i]] !== "compute" && begin[i] <= begin[wait] && begin[i] + duration[i] >= ends);
            const words = (call === undefined ? "" : "\nin " + names[to[call]] + (this.gantt.spans.bytes[call] ? ", " + mars.bytes(this.gantt.spans.bytes[call]) : "")) + (task ? "\nfor task " + (task - 1) : "");
            if (cause !== undefined)
                return words + "\nmostly " + names[cause];
            const last = messages.begin.reduce((found, from, i) => messages.to[i] === track && from + messages.duration[i] >= ends && (call === undefined || from + messages.duration[i] <= begin[call] + duration[call]) && from < ends &&
                (found < 0 || from + messages.duration[i] < messages.begin[found] + messages.duration[found]) ? i : found, -1);
            return words + (last < 0 ? "" : "\nfor a message of " + this.marks[messages.track[last]] + ", " + mars.bytes(messages.bytes[last]) +
                (messages.begin[last] > begin[wait] ? "\nwhich was sent " + mars.time(messages.begin[last] - begin[wait]) + " after the wait began" : "\nwhich had been sent before"));
        }

        listen() {
            const canvas = this.canvas, moves = { ArrowLeft: [-100, 0], ArrowRight: [100, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] };
            mars.drags(canvas, (dx, dy) => this.move(-dx, -dy));
            mars.hints(canvas, (x, y) => this.find(x, y));
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
                new Gantt(box, run.gantt, mars.axis("run" + index), run);
            else
                box.append(mars.missing(run.gantt ? "Nothing was recorded in this span." : "What tasks did when was not recorded, or there are no jobs.", "output.timeline = \"perfetto\""));
        },
    });
})();
