/* base.js - what all panels use: the data, elements, numbers as texts, the list of panels.
 *
 * Texts of the results go into elements as text nodes only (make), never as HTML.
 */
"use strict";

const mars = { panels: [], redraws: [] /* of the tab that is built */ };

/* Said on the page, and where a test looks for it. */
addEventListener("error", event => {
    document.body.dataset.failed = event.message;
    document.getElementById("notes").append(Object.assign(document.createElement("p"), { textContent: "A part of this page could not be drawn: " + event.message }));
});

mars.data = JSON.parse(document.getElementById("marssim-data").textContent);
mars.runs = mars.data.runs;
mars.several = mars.runs.length > 1;
/* Points of a sweep are called by their words, of several by those that differ; folders of one name by their paths. */
mars.runs.filter((run, i, all) => all.some(other => other !== run && other.name === run.name)).forEach(run => {
    run.name = run.path;
});
mars.runs.forEach(run => {
    const words = Object.entries(run.words || {}).filter(([key, value]) => !mars.several || mars.runs.some(other => (other.words || {})[key] !== value));
    run.name = words.map(([key, value]) => key.replace(/^.*\./, "") + "=" + value).join(" ") || run.name;
});

/* make("td", {class: "text"}, "a text", element, ...) */
mars.make = function (tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name.startsWith("on"))
            element.addEventListener(name.slice(2), value);
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
};

/* A panel, which is a file in panels/: {id, tab, title, wide, network, tables, build(box, run, index)}; tab: "network", "applications" or
 * "time", else it is in the overview; `sums`: what it shows are sums of all steps; it is built when its tab is first shown. build is called for each run, into a box of its own; a panel of all
 * runs together has all(box) in its place; `sweep`: it is of the page of a sweep, which has no others. `network`: it shows packets, links or switches. `wanted` says whether it is there at all. `tables`, in one line: tables of
 * the results with the most rows that a page has of each; run.NAME is then such a table, {columns, rows, left_out}, or undefined where the run has none. */
mars.panel = function (panel) {
    mars.panels.push(panel);
};

/* With run.skip sums are of steps of which only some were simulated. */
mars.estimated = run => mars.at(run, "result.skip.sums") === "estimated" ?
    mars.make("p", { class: "hint estimated" }, "Sums are estimated: of all steps, of which ", mars.percent(run.result.skip.share_simulated), " were simulated.") : "";

/* What is in a panel whose data was not collected: which key of the configuration collects it. */
mars.missing = function (what, ...keys) {
    return mars.make("p", { class: "missing" }, what + " To collect it: ", ...keys.flatMap((key, i) => [i ? ", " : "", mars.make("code", {}, key)]));
};

/* system.cfg, one setting a line, as paths: [["topology.kind", "\"torus\""], ...]; what was not given is its default. */
mars.settings = function (run) {
    const found = new Map(), path = [];
    for (const line of (run.config || "").split("\n")) {
        const word = line.replace(/^[#\s]+/, "").trim(), named = /^([\w.-]+)\s*[=:]\s*(.*?);?(\s+default)?$/.exec(word);
        if (named && /^[{(]$/.test(named[2]))
            path.push({ name: named[1], next: 0, list: named[2] === "(" });
        else if (word === "{" && path.length)
            path.push({ name: path[path.length - 1].next++, next: 0 });
        else if (/^[})],?;?$/.test(word))
            path.pop();
        else if (named)
            found.set(path.map(level => level.name).concat(named[1]).join("."), named[2]);
    }
    return found;
};

/* Has the version that ran such a key? system.cfg has a line for each: what it does not know it cannot collect. */
mars.knows = function (run, key) {
    run.known = run.known || mars.settings(run);
    return !run.known.size || run.known.has(key);
};

/* Above LogGOPS there are no links, switches or packets, and nothing in the page of them. */
mars.hasNetwork = function (run) {
    return !run.result || !/^LogGOPS/.test(run.result.network);
};

/* Called when colours change; `draw` is called at once, too. */
mars.drawn = function (draw) {
    mars.redraws.push(draw);
    draw();
};

/* ---- numbers ---- */

/* Four digits, or n, without zeros at the end. */
mars.short = function (value, digits = 4) {
    return String(Number(value.toPrecision(digits)));
};

mars.count = function (value) {
    if (value === null || value === undefined)
        return "–";
    return Number.isInteger(value) ? value.toLocaleString("en-US") : mars.short(value);
};

function scaled(value, units, step, digits) {
    let unit = 0;
    while (unit + 1 < units.length && Math.abs(value) >= step * 0.99995) {
        value /= step;
        unit++;
    }
    return mars.short(value, digits) + " " + units[unit];
}

mars.timeUnits = ["ps", "ns", "µs", "ms", "s"];

mars.time = function (ps) {
    if (ps === null || ps === undefined)
        return "–";
    return scaled(ps, mars.timeUnits, 1000);
};

/* Of an axis whose ticks are `step` apart: with as many digits as distinguish them. */
mars.timeOnAxis = function (ps, step) {
    const digits = ps > 0 ? Math.floor(Math.log10(ps / step) + 1e-9) + 2 : 4;
    return scaled(ps, mars.timeUnits, 1000, Math.min(17, Math.max(4, digits)));
};

mars.bytes = function (bytes) {
    if (bytes === null || bytes === undefined)
        return "–";
    return scaled(bytes, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
};

mars.rate = function (bytesPerSecond) {
    return scaled(bytesPerSecond, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"], 1000);
};

mars.percent = function (share) {
    if (share === null || share === undefined)
        return "–";
    const value = 100 * share;
    return (value !== 0 && Math.abs(value) < 0.01 ? value.toPrecision(2) : value.toFixed(value >= 10 ? 1 : 2)) + " %";
};

/* By the unit that a name ends with: how its values are written. */
mars.formatOf = function (name) {
    if (/\.(count|task|tasks|nodes)$/.test(name))
        return mars.count;
    if (/_ps($|\.)/.test(name))
        return mars.time;
    if (/_ns($|\.)/.test(name))
        return ns => mars.time(ns === null || ns === undefined ? ns : 1000 * ns);
    if (/bytes/.test(name) && !/per_/.test(name))
        return mars.bytes;
    if (/utilisation|_load$/.test(name))
        return mars.percent;
    return mars.count;
};

/* A part of the address, "" where it is damaged. */
mars.decoded = function (text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return "";
    }
};

/* A path "result.hops.mean" in a run; undefined where there is none. */
mars.at = function (run, path) {
    return path.split(".").reduce((node, name) => node === null || node === undefined ? undefined : node[name], run);
};

/* An element that shows a number of summary.json, and says exactly which. */
mars.number = function (run, index, path, format) {
    const value = mars.at(run, path);
    return mars.make("span", { "data-key": path, "data-run": index, "data-value": value, title: path + " = " + value },
        (format || mars.formatOf(path))(value));
};

/* Columns of a table of the data by name: {rows, at: name -> index or -1}. */
mars.table = function (table) {
    return { rows: table.rows, columns: table.columns, at: name => table.columns.indexOf(name) };
};

/* ---- one axis of simulated time ---- */

/* A span in view, which all panels of a run share (sync: "run0", "run1" ..., "all"): whoever is zoomed calls set, and all that listen follow. null, null: all times. */
mars.axis = function (sync) {
    return mars.axes[sync] = mars.axes[sync] || { from: null, to: null, all: [],
        listen(follow) {
            this.all.push(follow);
            if (this.from !== null)
                follow(this.from, this.to);
        },
        set(from, to) {
            if (this.from === from && this.to === to)
                return;
            this.from = from, this.to = to;
            this.all.forEach(follow => follow(from, to));
        } };
};
mars.axes = {};

/* ---- what changes from period to period ---- */

/* A button, a slider and words for frames that end at `times`, -1 being the whole run; show(frame) draws one. limit(from, to) leaves the frames of a span. */
mars.Player = class {
    constructor(times, begun, show, all = "whole run") {
        this.all = all;
        this.times = times;
        this.begun = begun || 0;
        this.draw = show;
        this.slider = mars.make("input", { type: "range", min: -1, max: times.length - 1, value: -1, step: 1, "aria-label": "period", oninput: () => this.show(Number(this.slider.value)) });
        this.told = mars.make("output", {}, all);
        this.button = mars.make("button", { type: "button", class: "play", onclick: () => this.play() }, "Play");
        this.elements = [this.button, this.slider, this.told];
        this.frame = -1;
        this.first = -1, this.last = times.length - 1;
    }

    limit(from, to) {
        const begins = i => i ? this.times[i - 1] : this.begun, all = this.times.map((time, i) => i).filter(i => from === null || (this.times[i] > from && begins(i) < to));
        if (!all.length)
            return;
        this.first = from === null ? -1 : all[0], this.last = all[all.length - 1];
        this.slider.min = this.first, this.slider.max = this.last;
        this.show(from === null ? -1 : Math.max(this.first, Math.min(this.last, this.frame)));
    }

    show(frame) {
        this.frame = frame;
        this.slider.value = frame;
        this.told.textContent = frame < 0 ? this.all : mars.time(frame ? this.times[frame - 1] : this.begun) + " to " + mars.time(this.times[frame]);
        this.draw(frame);
    }

    play() {
        if (this.timer) {
            clearInterval(this.timer);
            this.timer = 0;
            this.button.textContent = "Play";
            return;
        }
        this.button.textContent = "Pause";
        if (this.frame >= this.last)
            this.frame = this.first - (this.first >= 0);
        this.timer = setInterval(() => {
            if (this.frame >= this.last)
                return this.play();
            this.show(this.frame + 1);
        }, Math.max(60, Math.min(250, 15000 / this.times.length)));
    }
};

/* As much of a text as there is room for. */
mars.fitting = function (context, text, room) {
    let most = text.length;
    while (most > 1 && context.measureText(text.slice(0, most) + (most < text.length ? "…" : "")).width > room)
        most--;
    return text.slice(0, most) + (most < text.length ? "…" : "");
};

/* ---- hints that follow the pointer ---- */

mars.tip = (function () {
    let tip = null;
    return {
        show(event, text) {
            if (!tip) {
                tip = mars.make("div", { class: "tip", role: "status" });
                document.body.append(tip);
            }
            tip.textContent = text;
            tip.style.display = "block";
            const box = tip.getBoundingClientRect();
            tip.style.left = Math.min(event.clientX + 14, innerWidth - box.width - 8) + "px";
            tip.style.top = (event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18) + "px";
        },
        hide() {
            if (tip)
                tip.style.display = "none";
        },
    };
})();

/* A hint on what is at a point of a canvas: words(x, y); nothing: there is none. */
mars.hints = function (canvas, words) {
    canvas.addEventListener("pointermove", event => {
        const text = event.buttons ? "" : words(event.offsetX, event.offsetY);
        if (text)
            mars.tip.show(event, text);
        else
            mars.tip.hide();
    });
    canvas.addEventListener("pointerleave", mars.tip.hide);
};

/* A canvas whose picture is moved by the pointer: move(dx, dy). */
mars.drags = function (canvas, move) {
    let from = null;
    canvas.addEventListener("pointerdown", event => {
        from = [event.offsetX, event.offsetY];
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => { from = null; });
    canvas.addEventListener("pointermove", event => {
        if (!from)
            return;
        move(event.offsetX - from[0], event.offsetY - from[1]);
        from = [event.offsetX, event.offsetY];
    });
};
