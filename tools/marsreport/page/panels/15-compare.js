/* Several runs: what their configurations, links and waits have that is not alike. */
"use strict";

(function () {
    const { make } = mars;

    function configurations(box) {
        const all = mars.runs.map(mars.settings), show = value => value === undefined ? "–" : value.replace(/^not given$/, "(not given)");
        const rows = [...new Set(all.flatMap(settings => [...settings.keys()]))].filter(key => all.some(settings => settings.get(key) !== all[0].get(key)));
        box.append(make("h3", {}, "Keys of the configuration that differ"), rows.length
            ? make("div", { class: "scroll", tabindex: 0 }, mars.simpleTable(["key", ...mars.runs.map(mars.runName)], rows.map(key => [key, ...all.map(settings => show(settings.get(key)))])))
            : make("p", {}, "None: the configurations are the same."));
    }

    /* Members of a list in each run that have the same name; rows of what `paths` says of each: [[what, path, better]]. */
    function members(list, name, paths) {
        const lists = mars.runs.map(run => mars.at(run, list) || []), names = new Set(lists.flat().map(one => one[name]));
        return [...names].flatMap(own => {
            const places = lists.map(all => all.findIndex(one => one[name] === own)), there = places.map((place, i) => place < 0 ? {} : lists[i][place]);
            return paths(own, there).map(([what, path, better]) => ({ name: what, better, values: there.map(one => mars.at(one, path)),
                show: (value, i) => value === undefined ? "–" : mars.number(mars.runs[i], i, list + "." + places[i] + "." + path) }));
        });
    }

    function table(box, title, rows) {
        if (rows.length)
            box.append(make("h3", {}, title), mars.runsTable(rows));
    }

    const classes = box => table(box, "Links by class", members("result.link_classes", "class", name => [[name + ", mean use", "mean_utilisation", 0], [name + ", highest", "max_utilisation", -1]]));

    /* Jobs of one name: what they waited for. */
    const waits = box => table(box, "Waits of jobs", members("result.jobs", "name", (name, jobs) =>
        [...new Set(jobs.flatMap(job => Object.keys(job.waits || {})))].filter(key => /_ps$/.test(key) && jobs.some(job => job.waits && job.waits[key]))
            .map(key => [name + ": " + (key === "wait_ps" ? "all" : key.replace(/_ps$/, "").replace(/_/g, " ")), "waits." + key, -1])));

    /* The same machine twice: what has become more, or less. */
    function drawing(box, a, b) {
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
        mars.hints(canvas, (x, y) => {
            const found = scene.find(view, x, y, -1);
            return found && scene.tell(found, after) + "\nin " + a.name + ":\n" + scene.tell(found, before);
        });
    }

    const sameMachine = (a, b) => a.scene && b.scene && ["lines.a", "lines.b", "lines.class", "places.x", "places.y", "classes"].every(path =>
        JSON.stringify(mars.at(a.scene, path)) === JSON.stringify(mars.at(b.scene, path)));

    mars.panel({
        id: "compare", title: "What differs", wide: true,
        wanted: () => mars.several,
        all(box) {
            if (mars.runs.every(run => run.config))
                configurations(box);
            else
                box.append(make("p", { class: "missing" }, "A folder has no system.cfg: the configurations cannot be compared."));
            classes(box);
            waits(box);
            const alike = mars.runs.slice(1).filter(run => sameMachine(mars.runs[0], run)), side = make("div", { class: alike.length > 1 ? "runs" : "" });
            box.append(side);
            alike.forEach(run => {
                const own = make("div", {});
                side.append(own);
                drawing(own, mars.runs[0], run);
            });
        },
    });
})();
