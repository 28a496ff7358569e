/* What was simulated. */
"use strict";

(function () {
    const { make, number, at } = mars;

    const one = { nodes: "node", switches: "switch", links: "link" };
    const named = (run, what) => !mars.hasNetwork(run) ? "processes" : run.result[what] === 1 ? one[what] : what;

    /* The machine as it is, its links coloured by their class. */
    function drawing(run) {
        const canvas = make("canvas", { role: "img", "aria-label": "the machine: " + run.scene.shape }), scene = new mars.Scene(run);
        mars.drawn(() => {
            const width = mars.several ? 260 : 440, height = Math.max(120, Math.min(260, width * run.scene.height / run.scene.width + 20));
            scene.draw(mars.canvasOf(canvas, width, height), scene.fit(width, height), { small: true, kinds: true, class: -1 });
        });
        const legend = make("div", { class: "legend" }, ...run.scene.classes.slice(0, 12).map((name, i) => make("span", { style: "--mark:" + mars.colours.mark(i) }, name)));
        return make("div", { class: "drawing" }, canvas, run.scene.lines.a.length ? legend : null);
    }

    mars.panel({
        id: "simulated", title: "What was simulated", wide: true,
        build(box, run, index) {
            const n = path => number(run, index, path);
            const known = run.result ? run : run.started || {}; /* of a run that was killed: what was known at its beginning */
            if (run.scene)
                box.append(drawing(run));
            if (run.result)
                box.append(make("p", {}, at(run, "result.network") || ""),
                    make("p", {}, ...(mars.hasNetwork(run) ? ["nodes", "switches", "links"] : ["nodes"]).flatMap((what, i) => [i ? ", " : "", n("result." + what), " " + named(run, what)])));
            else if (known.result)
                box.append(make("p", {}, String(known.result.network)), make("p", {}, ["nodes", "switches", "links"].map(what => mars.count(known.result[what]) + " " + named(known, what)).join(", ")));
            if (known.input)
                box.append(make("p", { class: "faint" }, "marssim " + known.input.version + ", " + known.input.configuration +
                    (known.input.overrides && known.input.overrides.length ? ", with " + known.input.overrides.join(", ") : "") + ", seed " + known.input.seed));
            if (run.config)
                box.append(make("details", {}, make("summary", {}, "The configuration with all keys (system.cfg)"), make("pre", { tabindex: 0 }, run.config)));
        },
    });
})();
