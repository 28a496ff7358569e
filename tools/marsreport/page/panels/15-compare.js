/* Two runs: what their configurations and links have that is not alike. */
"use strict";

(function () {
    const { make } = mars;

    function configurations(box, [a, b]) {
        const first = mars.settings(a), second = mars.settings(b), show = value => value === undefined ? "–" : value.replace(/^not given$/, "(not given)");
        const rows = [...new Set([...first.keys(), ...second.keys()])].filter(key => first.get(key) !== second.get(key));
        box.append(make("h3", {}, "Keys of the configuration that differ"), rows.length
            ? make("div", { class: "scroll", tabindex: 0 }, mars.simpleTable(["key", a.name, b.name], rows.map(key => [key, show(first.get(key)), show(second.get(key))])))
            : make("p", {}, "None: the configurations are the same."));
    }

    function classes(box, [a, b]) {
        const of = run => new Map((mars.at(run, "result.link_classes") || []).map((one, i) => [one.class, [one, i]]));
        const first = of(a), second = of(b), names = [...first.keys()].filter(name => second.has(name));
        if (!names.length)
            return;
        const number = (run, index, i, name) => mars.number(run, index, "result.link_classes." + i + "." + name);
        box.append(make("h3", {}, "Links by class"), mars.simpleTable(["class", "mean use, " + a.name, "mean use, " + b.name, "difference", "highest, " + a.name, "highest, " + b.name, "difference"],
            names.map(name => {
                const [x, i] = first.get(name), [y, j] = second.get(name);
                return [name, number(a, 0, i, "mean_utilisation"), number(b, 1, j, "mean_utilisation"), mars.difference(x.mean_utilisation, y.mean_utilisation, 0),
                    number(a, 0, i, "max_utilisation"), number(b, 1, j, "max_utilisation"), mars.difference(x.max_utilisation, y.max_utilisation, -1)];
            })));
    }

    /* Jobs of one name: what they waited for. */
    function waits(box, [a, b]) {
        const second = mars.at(b, "result.jobs") || [];
        (mars.at(a, "result.jobs") || []).forEach((job, i) => {
            const j = second.findIndex(other => other.name === job.name && other.waits);
            if (!job.waits || j < 0)
                return;
            const rows = Object.keys(job.waits).filter(name => /_ps$/.test(name) && (job.waits[name] || second[j].waits[name]));
            box.append(make("h3", {}, "Waits of job " + job.name), mars.simpleTable(["", a.name, b.name, "difference"], rows.map(name => [name === "wait_ps" ? "all" : name.replace(/_ps$/, "").replace(/_/g, " "),
                mars.number(a, 0, "result.jobs." + i + ".waits." + name), mars.number(b, 1, "result.jobs." + j + ".waits." + name), mars.difference(job.waits[name], second[j].waits[name], -1)])));
        });
    }

    /* The same machine twice: what has become more, or less. */
    function drawing(box, [a, b]) {
        const scene = new mars.Scene(b), before = new mars.Scene(a).loads(-1), after = scene.loads(-1);
        const most = after.reduce((highest, load, i) => load < 0 ? highest : Math.max(highest, Math.abs(load - before[i])), 0);
        const loads = after.map((load, i) => load < 0 ? -1 : 0.5 + (most ? (load - before[i]) / most / 2 : 0));
        const canvas = make("canvas", { role: "img", "aria-label": "links of the machine by the difference of their loads" }), word = mars.percent(most);
        let view = null;
        box.append(make("h3", {}, "Links on the machine: load in " + b.name + " minus load in " + a.name),
            make("div", { class: "controls" }, mars.colours.scale("−" + word, "+" + word + " of the time", mars.colours.difference)), make("div", { class: "canvas" }, canvas));
        mars.drawn(() => {
            const width = canvas.parentElement.clientWidth, height = Math.round(Math.max(200, Math.min(520, width * b.scene.height / b.scene.width + 40)));
            view = scene.fit(width, height);
            scene.draw(mars.canvasOf(canvas, width, height), view, { loads, class: -1, share: load => load, difference: true });
        });
        canvas.addEventListener("pointermove", event => {
            const found = scene.find(view, event.offsetX, event.offsetY, -1);
            if (found)
                mars.tip.show(event, scene.tell(found, after) + "\nin " + a.name + ":\n" + scene.tell(found, before));
            else
                mars.tip.hide();
        });
        canvas.addEventListener("pointerleave", mars.tip.hide);
    }

    const sameMachine = ([a, b]) => a.scene && b.scene && ["lines.a", "lines.b", "lines.class", "places.x", "places.y", "classes"].every(path =>
        JSON.stringify(mars.at(a.scene, path)) === JSON.stringify(mars.at(b.scene, path)));

    mars.panel({
        id: "compare", title: "What differs", wide: true,
        wanted: () => mars.runs.length === 2,
        both(box) {
            if (mars.runs.every(run => run.config))
                configurations(box, mars.runs);
            else
                box.append(make("p", { class: "missing" }, "A folder has no system.cfg: the configurations cannot be compared."));
            classes(box, mars.runs);
            waits(box, mars.runs);
            if (sameMachine(mars.runs))
                drawing(box, mars.runs);
        },
    });
})();
