/* scene.js - draws the machine: lines, squares and frames of the data's `scene`, coloured by loads.
 *
 * Elements, which have a load each: two for every line (the half next to `a`, the half next to `b`), then every place for each
 * class of links. Lines are drawn by load, the idle ones first, in as many strokes as there are colours.
 */
"use strict";

mars.Scene = class {
    constructor(run) {
        this.run = run;
        this.scene = run.scene;
        this.movie = run.movie;
        this.lines = this.scene.lines.a.length;
        this.places = this.scene.places.x.length;
        this.frames = new Map();
    }

    /* A load 0..1 by element, -1 where there is no link: of a frame of the movie, or (-1) of the whole run. */
    loads(frame) {
        if (this.frames.has(frame))
            return this.frames.get(frame);
        const loads = new Float32Array(2 * this.lines + this.scene.classes.length * this.places), { forth, back } = this.scene.lines;
        for (let i = 0; i < this.lines; i++)
            loads[2 * i] = forth[i] / 1e4, loads[2 * i + 1] = back[i] / 1e4;
        this.scene.hidden.forEach((list, c) => {
            for (let i = 0; i < this.places; i++)
                loads[2 * this.lines + c * this.places + i] = list.length ? (list[i] < 0 ? -1 : list[i] / 1e4) : -1;
        });
        if (frame >= 0) {
            const bytes = atob(this.movie.loads[frame]);
            for (let i = 0; i < loads.length; i++)
                if (loads[i] >= 0)
                    loads[i] = bytes.charCodeAt(i) / 255;
        }
        if (this.frames.size < 64)
            this.frames.set(frame, loads);
        return loads;
    }

    /* The same of what is carried of one job in the whole run; null: it is not known. */
    loadsOf(job) {
        const own = (this.run.carried || []).find(one => one.job === job), all = this.loads(-1);
        return own ? own.load.map((load, i) => all[i] < 0 ? -1 : load / 1e4) : null;
    }

    /* Whose traffic it is, in words, most first. */
    whose(element) {
        const list = (this.run.carried || []).map(({ job, load }) => [job, load[element] / 1e4]).filter(([, load]) => load > 0).sort((a, b) => b[1] - a[1]);
        return list.map(([job, load]) => "\n    " + job + ": " + mars.percent(load)).join("");
    }

    /* What colours a place: the busiest of its links of the class, or (-1) of all; -1: it has none. */
    placeLoad(loads, place, cls) {
        let most = -1;
        for (let c = 0; c < this.scene.classes.length; c++)
            if (cls < 0 || c === cls)
                most = Math.max(most, loads[2 * this.lines + c * this.places + place]);
        return most;
    }

    highest(loads) {
        return loads.reduce((most, load) => Math.max(most, load), 0);
    }

    /* Puts all of it into the canvas: view = {scale, x, y} in pixels. */
    fit(width, height) {
        const margin = 26, { width: w, height: h } = this.scene, scale = Math.min((width - 2 * margin) / w, (height - 2 * margin) / h);
        return { scale, x: (width - w * scale) / 2, y: (height - h * scale) / 2 };
    }

    draw(c, view, look) {
        this.drawFrames(c, view, look);
        this.drawLines(c, view, look);
        this.drawPlaces(c, view, look);
        if (!look.small)
            this.drawPicked(c, view);
    }

    /* What is selected: a frame around its places, thinner around what belongs to it; a link thick next to its sender, the links of a switch or node thin. */
    drawPicked(c, view) {
        const own = mars.picked(this.run), { x, y, size, node } = this.scene.places, { a, b } = this.scene.lines, where = mars.where(this.run);
        if (!own)
            return;
        const placed = (ids, of) => new Set([...ids].map(id => of[id]).filter(place => place >= 0)), switches = placed(own.switches, where.of_switch), nodes = placed(own.nodes, where.of_node);
        const px = place => view.x + x[place] * view.scale, py = place => view.y + y[place] * view.scale, main = own.it.kind === "switch" || own.it.kind === "place" ? switches : nodes;
        const stroke = (from, to, width) => {
            c.lineWidth = width;
            c.beginPath(), c.moveTo(px(from), py(from)), c.lineTo(to[0], to[1]), c.stroke();
        };
        c.strokeStyle = mars.colours.variable("select");
        if (own.line >= 0) {
            const [from, to] = own.line & 1 ? [b[own.line >> 1], a[own.line >> 1]] : [a[own.line >> 1], b[own.line >> 1]];
            stroke(from, [px(to), py(to)], 1.5);
            stroke(from, [(px(from) + px(to)) / 2, (py(from) + py(to)) / 2], 4.5);
        } else if (own.it.job === undefined) {
            for (let i = 0; i < this.lines; i++)
                if (main.has(a[i]) || main.has(b[i]))
                    stroke(a[i], [px(b[i]), py(b[i])], 1.2);
        }
        const all = new Set([...switches, ...nodes]), many = all.size > 200; /* frames that do not hide each other */
        for (const place of all) {
            const side = Math.max(many ? 3 : 8, size[place] * view.scale + (many ? 1 : 5));
            c.lineWidth = many ? 0.8 : !main.has(place) || own.it.kind === "job" ? 1.2 : 2.5;
            if (node[place] && side > 14)
                c.beginPath(), c.arc(px(place), py(place), side / 2, 0, 7), c.stroke();
            else
                c.strokeRect(px(place) - side / 2, py(place) - side / 2, side, side);
        }
    }

    /* What is selected by a click at a point: a place, or the half of a line, which stands for the busiest of its links. */
    keyAt(view, px, py, cls) {
        const found = this.find(view, px, py, cls), { x, y, node, count } = this.scene.places, { a, b, from, port } = this.scene.lines, near = place => Math.hypot(view.x + x[place] * view.scale - px, view.y + y[place] * view.scale - py);
        if (!found)
            return "";
        const where = mars.where(this.run), i = found.line, half = i === undefined ? 0 : 2 * i + (near(b[i]) < near(a[i])), kind = place => node[place] ? "node" : "switch";
        if (i !== undefined)
            return from[half] < 0 ? "" : kind(half & 1 ? b[i] : a[i]) + " " + from[half] + " port " + port[half];
        return count[found.place] > 1 ? "place " + found.place : kind(found.place) + " " + (node[found.place] ? where.of_node : where.of_switch).indexOf(found.place);
    }

    drawFrames(c, view, look) {
        c.strokeStyle = mars.colours.variable("rule");
        c.fillStyle = mars.colours.variable("faint");
        c.font = "11px system-ui, sans-serif";
        c.textAlign = "left";
        c.textBaseline = "bottom";
        for (const [x, y, w, h, label] of this.scene.frames) {
            const left = view.x + x * view.scale, top = view.y + y * view.scale;
            if (w)
                c.strokeRect(left, top, w * view.scale, h * view.scale);
            if (w && !look.small && label && w * view.scale > 6.5 * label.length)
                c.fillText(label, left, top - 1);
            if (!w && !look.small) /* of a row: beside it */
                label.split("\n").forEach((line, i) => c.fillText(line, Math.max(4, left), top + 14 * i));
        }
    }

    /* Half lines of one colour make one path. */
    drawLines(c, view, look) {
        const { a, b, class: cls } = this.scene.lines, { x, y } = this.scene.places, STEPS = 24;
        const path = Array.from({ length: STEPS + 1 }, () => []);
        for (let i = 0; i < this.lines; i++)
            for (let half = 0; half < 2; half++)
                if (look.class < 0 || cls[i] === look.class)
                    path[look.kindOf ? look.kindOf(2 * i + half) : look.kinds ? cls[i] % STEPS : Math.min(STEPS, Math.ceil(STEPS * look.share(look.loads[2 * i + half])))].push(2 * i + half);
        const far = step => look.kindOf ? -step : look.difference ? Math.abs(step - STEPS / 2) : step, colour = look.difference ? mars.colours.difference : mars.colours.load;
        path.map((halves, step) => step).sort((x, y) => far(x) - far(y)).forEach(step => {
            const halves = path[step];
            if (!halves.length)
                return;
            c.beginPath();
            for (const half of halves) {
                const i = half >> 1, from = half & 1 ? b[i] : a[i], to = half & 1 ? a[i] : b[i];
                const fx = view.x + x[from] * view.scale, fy = view.y + y[from] * view.scale;
                c.moveTo(fx, fy);
                c.lineTo((fx + view.x + x[to] * view.scale) / 2, (fy + view.y + y[to] * view.scale) / 2);
            }
            c.strokeStyle = look.kindOf && step === STEPS ? mars.colours.variable("rule") : look.kinds || look.kindOf ? mars.colours.kind(step) : colour(step / STEPS);
            c.lineWidth = look.small ? 0.6 : this.lines > 6000 ? 0.7 : this.lines > 1500 ? 1 : 1.7;
            c.stroke();
        });
    }

    drawPlaces(c, view, look) {
        const { x, y, size, node } = this.scene.places, plain = mars.colours.variable("faint");
        for (let i = 0; i < this.places; i++) {
            const side = Math.max(look.small ? 1 : 2.2, size[i] * view.scale), load = look.kinds ? -1 : this.placeLoad(look.loads, i, look.class);
            c.fillStyle = load < 0 ? plain : (look.difference ? mars.colours.difference : mars.colours.load)(look.share(load));
            if (node[i]) {
                c.beginPath();
                c.arc(view.x + x[i] * view.scale, view.y + y[i] * view.scale, side / 2, 0, 7);
                c.fill();
            } else {
                c.fillRect(view.x + x[i] * view.scale - side / 2, view.y + y[i] * view.scale - side / 2, side, side);
            }
            if (load >= 0 && side > 5) {
                c.strokeStyle = plain;
                c.lineWidth = 0.5;
                c.strokeRect(view.x + x[i] * view.scale - side / 2, view.y + y[i] * view.scale - side / 2, side, side);
            }
        }
    }

    /* What lies at a point of the canvas: {place} or {line}, or null. */
    find(view, px, py, cls) {
        const { x, y, size } = this.scene.places, { a, b, class: of } = this.scene.lines, sx = (px - view.x) / view.scale, sy = (py - view.y) / view.scale;
        for (let i = 0; i < this.places; i++) {
            const reach = Math.max(size[i] / 2, 4 / view.scale);
            if (Math.abs(x[i] - sx) <= reach && Math.abs(y[i] - sy) <= reach)
                return { place: i };
        }
        let best = null, near = 5 / view.scale;
        for (let i = 0; i < this.lines; i++) {
            if (cls >= 0 && of[i] !== cls)
                continue;
            const dx = x[b[i]] - x[a[i]], dy = y[b[i]] - y[a[i]], length = dx * dx + dy * dy || 1;
            const part = Math.max(0, Math.min(1, ((sx - x[a[i]]) * dx + (sy - y[a[i]]) * dy) / length));
            const far = Math.hypot(x[a[i]] + part * dx - sx, y[a[i]] + part * dy - sy);
            if (far < near)
                near = far, best = { line: i };
        }
        return best;
    }

    /* In words. */
    tell(found, loads, whose) {
        const { label, count, node } = this.scene.places, classes = this.scene.classes;
        if (found.place !== undefined) {
            const own = classes.map((name, c) => [name, 2 * this.lines + c * this.places + found.place]).filter(([, element]) => loads[element] >= 0);
            return label[found.place] + (count[found.place] > 1 ? ", " + count[found.place] + (node[found.place] ? " nodes" : " switches") : "") +
                own.map(([name, element]) => "\n" + name + ": " + mars.percent(loads[element]) + " busy at most" + (whose ? this.whose(element) : "")).join("");
        }
        const { a, b, class: cls, count: links, from, port } = this.scene.lines, i = found.line;
        const half = (k, sender, to) => from[k] < 0 ? "" : "\n" + mars.end(this.run, node[sender] ? "node" : "switch", from[k], port[k]) + " → " + label[to] + ": " + mars.percent(loads[k]) + (whose ? this.whose(k) : "");
        return classes[cls[i]] + (links[i] > 1 ? ", " + links[i] + " links, the busiest" : "") + half(2 * i, a[i], b[i]) + half(2 * i + 1, b[i], a[i]);
    }
};

/* A canvas in device pixels; returns its context in CSS pixels. */
mars.canvasOf = function (canvas, width, height) {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    return context;
};
