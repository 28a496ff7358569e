/* select.js - what is selected: a job, task, node, switch or link, in all panels at once and in the address (#PANEL&select=WORDS).
 *
 * The words are those that a reader would use: "job halo", "task 4 of halo", "node 7", "switch 3"; a link is called by the port that it leaves, "switch 3 port 5",
 * "node 7 port 0"; "place 12" is one of the drawing with several switches or nodes. A panel that shows such things says so to mars.follows, and asks mars.related.
 */
"use strict";

(function () {
    const { make } = mars;
    let selected = "";
    mars.picks = []; /* who is called when another thing is selected: of the tab that is built */
    mars.follows = follow => mars.picks.push(follow);

    /* {kind, of: kind of a link's sender, id, port, job}, null: they are no such words. */
    function parse(words) {
        const end = /^(node|switch|place) (\d+)(?: port (\d+))?$/.exec(words), task = /^task (\d+) of ([^]+)$/.exec(words);
        if (end)
            return { words, kind: end[3] === undefined ? end[1] : "link", of: end[1], id: Number(end[2]), port: Number(end[3]) };
        if (task)
            return { words, kind: "task", id: Number(task[1]), job: task[2] };
        return words.startsWith("job ") ? { words, kind: "job", job: words.slice(4) } : null;
    }

    /* ---- where things are ---- */

    const none = { links: {}, of_switch: [], of_node: [], switch_of: [] };
    function where(run) {
        if (!run.where || run.where.sums)
            return run.where || none;
        for (const name of ["of_switch", "of_node", "switch_of"])
            run.where[name] = (run.where[name] || []).reduce((list, step) => (list.push(step + (list.length ? list[list.length - 1] : 0)), list), []);
        run.where.sums = true;
        return run.where;
    }
    mars.where = where;

    /* The nodes of the tasks of all jobs, as far as tasks.csv is in the page: job -> [node]. */
    function nodesOf(run) {
        if (run.nodesOf)
            return run.nodesOf;
        run.nodesOf = new Map();
        const t = run.tasks && mars.table(run.tasks), [job, task, node] = t ? ["job", "task", "node"].map(t.at) : [];
        for (const row of t ? t.rows : []) {
            if (!run.nodesOf.has(row[job]))
                run.nodesOf.set(row[job], []);
            run.nodesOf.get(row[job])[row[task]] = row[node];
        }
        return run.nodesOf;
    }

    /* The tasks of a job on some of the nodes. */
    mars.tasksOn = (run, job, nodes) => (nodesOf(run).get(job) || []).map((node, task) => nodes.has(node) ? task : -1).filter(task => task >= 0);

    /* The other end of a link: {kind, id, class, line}; in a drawing it is that of its line. null: it is not known. */
    function leads(run, { of, id, port }) {
        const known = where(run).links[of + " " + id + " port " + port], lines = run.scene && run.scene.lines;
        if (known)
            return { kind: known[0], id: known[1], class: known[2], line: known[3] };
        const node = lines ? run.scene.places.node : [], line = lines ? lines.from.findIndex((from, half) => from === id && lines.port[half] === port &&
            Boolean(node[half & 1 ? lines.b[half >> 1] : lines.a[half >> 1]]) === (of === "node")) : -1;
        return line < 0 ? null : { kind: "place", id: line & 1 ? lines.a[line >> 1] : lines.b[line >> 1], class: run.scene.classes[lines.class[line >> 1]], line };
    }

    /* ---- what they are called ---- */

    mars.end = function (run, kind, id, port) {
        const name = where(run).names && where(run).names[kind] && where(run).names[kind][id];
        return kind === "place" ? run.scene.places.label[id] : (name || kind + " " + id) + (port === undefined || port === null || (kind === "node" && !port) ? "" : " port " + port);
    };

    /* A direction of a link by its ends, and, where it is known, its class. */
    mars.linkName = function (run, kind, id, port, classed) {
        const to = leads(run, { of: kind, id, port });
        return mars.end(run, kind, id, port) + (to ? " → " + mars.end(run, to.kind, to.id) + (classed ? " (" + to.class + ")" : "") : "");
    };

    function tell(run, it) {
        const own = mars.picked(run), count = (n, what) => mars.count(n) + " " + what + (n === 1 ? "" : what === "switch" ? "es" : "s"), at = id => id >= 0 ? " at " + mars.end(run, "switch", id) : "";
        const nodes = nodesOf(run).get(it.job);
        switch (it.kind) {
        case "job": return "job " + it.job + (nodes ? ": " + count(nodes.length, "task") + " on " + count(own.nodes.size, "node") : "");
        case "task": return it.words + (own.nodes.size ? " on " + [...own.nodes].map(node => mars.end(run, "node", node) + at(where(run).switch_of[node])).join() : "");
        case "link": return mars.linkName(run, it.of, it.id, it.port, true);
        case "node": return mars.end(run, "node", it.id) + at(where(run).switch_of[it.id]) + jobsOn(own);
        default: return mars.end(run, it.kind, it.id) + (own.nodes.size ? ", " + count(own.nodes.size, "node") : "") + jobsOn(own);
        }
    }
    const jobsOn = own => own.jobs.size ? ": " + (own.jobs.size > 1 ? "jobs " : "job ") + [...own.jobs].join(", ") : "";

    /* ---- what belongs to what ---- */

    /* What is selected, and in this run its jobs, nodes, switches (sets), and the half line that is a link; null: nothing is. */
    mars.picked = function (run) {
        const it = selected && parse(selected);
        if (!it || (run.picked && run.picked.it.words === it.words))
            return it ? run.picked : null;
        const own = run.picked = { it, jobs: new Set(), nodes: new Set(), switches: new Set(), line: -1 }, { of_switch: ofSwitch, of_node: ofNode, switch_of: switchOf } = where(run);
        const add = (kind, id) => kind === "place" ? (ofSwitch.forEach((place, i) => place === id && own.switches.add(i)), ofNode.forEach((place, i) => place === id && own.nodes.add(i)))
            : own[kind === "node" ? "nodes" : "switches"].add(id);
        if (it.job !== undefined)
            own.jobs.add(it.job), (nodesOf(run).get(it.job) || []).forEach((node, task) => (it.kind === "job" || task === it.id) && own.nodes.add(node));
        else
            add(it.of, it.id);
        if (it.kind === "link") {
            const to = leads(run, it);
            if (to)
                add(to.kind, to.id), own.line = to.line;
        }
        if (it.kind === "switch" || it.kind === "place")
            switchOf.forEach((at, node) => own.switches.has(at) && own.nodes.add(node));
        if (it.kind === "node" || it.kind === "switch" || it.kind === "place")
            nodesOf(run).forEach((nodes, job) => nodes.some(node => own.nodes.has(node)) && own.jobs.add(job));
        return own;
    };

    /* 2: the words are what is selected; 1: what they name belongs to it, or it to them; 0: neither. */
    mars.related = function (run, words) {
        const own = mars.picked(run), other = own && words ? parse(words) : null;
        if (!other || words === selected)
            return other ? 2 : 0;
        const has = (kind, id) => (kind === "node" ? own.nodes : own.switches).has(id), link = own.it.kind === "link", machine = !link && own.it.job === undefined, to = other.kind === "link" && leads(run, other);
        switch (other.kind) {
        case "job": return Number(own.jobs.has(other.job));
        case "task": return Number(own.it.kind === "job" ? other.job === own.it.job : machine && own.nodes.has((nodesOf(run).get(other.job) || [])[other.id]));
        case "link": return Number(machine && (has(other.of, other.id) || Boolean(to) && has(to.kind, to.id)) && (own.it.kind === "node" ? other.of === "node" || to.kind === "node" : true));
        default: return Number(has(other.kind, other.id));
        }
    };

    /* Of rows so low that only every `step`th has its label: has this one? What is selected has, and its neighbours leave it the room. */
    mars.labelled = function (run, keys, at, step) {
        const is = i => mars.related(run, keys[i]) === 2;
        return is(at) || (at % step === 0 && !(step > 1 && (is(at - 1) || is(at + 1))));
    };

    /* By the columns of a table: what a row is of, "" where it is none of these. */
    mars.keyOf = function (columns) {
        const at = name => columns.indexOf(name), [kind, from, port, job, task, node, one] = ["from_kind", "from", "from_port", "job", "task", "node", "switch"].map(at);
        return row => kind >= 0 ? row[kind] + " " + row[from] + " port " + row[port] : job >= 0 && task >= 0 ? "task " + row[task] + " of " + row[job] : job >= 0 ? "job " + row[job]
            : node >= 0 ? "node " + row[node] : one >= 0 ? "switch " + row[one] : "";
    };

    /* ---- choosing ---- */

    const button = document.getElementById("selected"), field = document.getElementById("find");
    field.hidden = !mars.runs.length;

    function show() {
        const words = new Set(selected ? mars.runs.map(run => tell(run, parse(selected))) : []);
        button.hidden = !selected;
        button.textContent = selected ? [...words].join(" | ") + " ✕" : "";
        const panel = location.hash.slice(1).split("&")[0], hash = panel + (selected ? "&select=" + encodeURIComponent(selected) : "");
        if (location.hash.slice(1) !== hash)
            history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
    }

    /* The same once more, or "": nothing is selected. */
    mars.select = function (words) {
        selected = words === selected || !parse(words) ? "" : words;
        show();
        mars.reselect();
    };
    /* What the address says; where it says nothing, it is made to. */
    mars.selectByAddress = function () {
        const words = /&select=(.*)$/.exec(location.hash), wanted = words ? mars.decoded(words[1]) : selected;
        if (wanted !== selected)
            mars.select(wanted);
        else
            show();
    };

    /* What somebody has typed: words as above, a name, or a number of the only job's tasks. */
    function find(text) {
        const it = parse(text), jobs = [...nodesOf(mars.runs[0]).keys()], names = where(mars.runs[0]).names || {}, task = /^task (\d+)$/.exec(text);
        if (it && it.kind !== "job")
            return text;
        const kind = ["switch", "node"].find(one => names[one] && names[one].includes(text));
        return kind ? kind + " " + names[kind].indexOf(text) : task && jobs.length === 1 ? text + " of " + jobs[0] : jobs.includes(text) ? "job " + text : it && jobs.includes(it.job) ? text : "";
    }
    field.addEventListener("change", () => {
        const words = find(field.value.trim());
        field.setCustomValidity(words || !field.value ? "" : "No such job, task, node, switch or link: job halo, task 4 of halo, node 7, switch 3, switch 3 port 5");
        field.reportValidity();
        if (words && words !== selected)
            mars.select(words);
        if (words)
            field.value = "";
    });
    button.addEventListener("click", () => mars.select(""));
    addEventListener("keydown", event => {
        if (event.key !== "Escape" || !selected)
            return;
        event.preventDefault(), event.stopPropagation();
        mars.select("");
    }, true);

    /* A canvas on which a click, no drag, selects what is there: words(x, y) names it. */
    mars.picksAt = function (canvas, words) {
        let from = null;
        canvas.addEventListener("pointerdown", event => { from = [event.clientX, event.clientY]; });
        canvas.addEventListener("click", event => {
            const key = from && Math.hypot(event.clientX - from[0], event.clientY - from[1]) < 5 && words(event.offsetX, event.offsetY, event);
            if (key)
                mars.select(key);
        });
    };
})();
