/* A sweep: the points that are chosen side by side, with all figures of their summaries, and where their runs are. */
"use strict";

(function () {
    const { make } = mars;

    /* Which of two is better: 1 the higher one, -1 the lower one, 0 not known. More is accepted where more is offered: that is not better. */
    const better = (name, sameOffer) => /\.count$/.test(name) ? 0 : name === "accepted_load" && sameOffer ? 1 : /latency|finish_ps|wait|simulated_time|^run\./.test(name) ? -1 : 0;

    /* By how much it differs from the first; faint where the intervals overlap. */
    function difference(figure, first, row, sameOffer) {
        const [a, x] = figure.at(first), [b, y] = figure.at(row), chance = x !== null && y !== null && a !== b && Math.abs(a - b) <= x + y;
        const text = mars.difference(a, b, chance ? 0 : better(figure.name, sameOffer));
        return chance ? make("span", { class: "faint chance", title: "the intervals overlap" }, text, " ≈") : text;
    }

    function figures(model, chosen, wanted) {
        const offer = model.figures.find(figure => figure.name === "offered_load"), same = row => !offer || offer.at(row)[0] === offer.at(chosen[0])[0];
        const differs = figure => chosen.some(row => figure.at(row)[0] !== figure.at(chosen[0])[0]);
        const rows = model.figures.filter(figure => figure.name.includes(wanted) && differs(figure)).map(figure => [figure.title, ...chosen.map((row, i) =>
            make("span", { "data-figure": figure.title, "data-row": row }, model.text(figure.at(row)), ...(i ? [" ", difference(figure, chosen[0], row, same(row))] : [])))]);
        return make("div", { class: "scroll tall", tabindex: 0 }, mars.simpleTable(["figure", ...chosen.map(row => model.letter(row) + ": " + model.name(row))], rows));
    }

    /* Its runs: a link to the page of each, or the line that makes it. */
    function runs(model, row) {
        const { folder, rows } = model.sweep, missing = rows[row].runs.some(run => !run.page);
        return make("div", {}, make("h3", {}, model.letter(row) + ": " + model.name(row)), make("p", {}, ...rows[row].runs.flatMap((run, i) => [i ? ", " : "",
            run.page ? make("a", { href: "runs/" + run.key + "/report.html" }, run.seed === null ? "run" : "seed " + run.seed) : (run.seed === null ? "run " : "seed " + run.seed + " ") + run.key])),
        missing ? make("p", { class: "hint" }, "A page: ", make("code", {}, "marsreport " + folder + "/runs/" + rows[row].runs.find(run => !run.page).key)) : null);
    }

    function compare(box, model) {
        const shown = make("div", {}), places = make("div", { class: "columns" }), hint = make("p", { class: "hint" });
        const search = make("input", { type: "search", placeholder: "figures with …", "aria-label": "figures whose names have", oninput: () => draw() });
        const clear = make("button", { type: "button", onclick: () => model.clear() }, "Choose none");
        const controls = make("div", { class: "controls" }, search, clear);
        function draw() {
            const { chosen } = model, { folder, rows } = model.sweep, keys = chosen.map(row => rows[row].runs[0].key);
            controls.hidden = chosen.length === 0;
            shown.replaceChildren(...(chosen.length ? [figures(model, chosen, search.value)] : []));
            places.replaceChildren(...chosen.map(row => runs(model, row)));
            hint.replaceChildren(...(chosen.length < 2 ? ["Choose two points or more, by a click in a plot or in the table: all their figures are then side by side."] :
                ["Differences are from A; faint with ≈ where the intervals overlap. Their first runs with all panels: ",
                    make("code", {}, "marsreport -o compared.html " + keys.map(key => folder + "/runs/" + key).join(" "))]));
        }
        model.follow(draw);
        box.append(controls, shown, places, hint);
        draw();
    }

    mars.panel({ id: "chosen", title: "Points compared", sweep: true, wide: true, all: box => compare(box, mars.sweep) });

    mars.panel({
        id: "swept", title: "What was swept", sweep: true, wide: true,
        all(box) {
            const model = mars.sweep, { configuration, version, rows, common } = model.sweep, runs = rows.reduce((sum, row) => sum + row.runs.length, 0);
            box.append(make("p", {}, configuration + ", marssim " + version + ": " + mars.count(rows.length) + (rows.length === 1 ? " point, " : " points, ") + mars.count(runs) + (runs === 1 ? " run" : " runs")),
                ...model.keys.map(key => make("p", {}, make("code", {}, key.name), " = " + key.words.map(key.text).join(", "))),
                ...Object.entries(common).map(([key, value]) => make("p", { class: "faint" }, make("code", {}, key), " = " + value)),
                make("details", {}, make("summary", {}, "Figures that are the same at all points"), make("div", { class: "scroll leaves", tabindex: 0 },
                    mars.simpleTable(["figure", "value"], model.constants.map(([name, value]) => [name, value === null ? "–" : mars.count(value)])))));
        },
    });
})();
