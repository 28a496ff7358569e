/* machine.js - what was simulated. */
"use strict";

(function () {
    const { make, number, at } = mars;

    mars.panel({
        id: "simulated", title: "What was simulated", wide: true,
        build(box, run, index) {
            const n = path => number(run, index, path);
            if (run.result)
                box.append(make("p", {}, at(run, "result.network") || ""),
                    make("p", {}, n("result.nodes"), " nodes, ", n("result.switches"), " switches, ", n("result.links"), " links"));
            if (run.input)
                box.append(make("p", { class: "faint" }, "marssim " + run.input.version + ", " + run.input.configuration +
                    (run.input.overrides && run.input.overrides.length ? ", with " + run.input.overrides.join(", ") : "") + ", seed " + run.input.seed));
            if (run.config)
                box.append(make("details", {}, make("summary", {}, "The configuration with all keys (system.cfg)"), make("pre", { tabindex: 0 }, run.config)));
        },
    });
})();
