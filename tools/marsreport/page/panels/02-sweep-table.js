/* A sweep: the table, a row for each point, sorted by a click on a head; a box in each row chooses it. */
"use strict";

(function () {
    const { make } = mars;

    function table(box, model) {
        const { rows } = model.sweep, shown = model.columns.slice(), own = make("div", {}), boxes = rows.map((row, i) =>
            make("input", { type: "checkbox", "aria-label": "choose " + model.name(i), onchange: () => model.toggle(i) }));
        const marks = rows.map(() => make("b", { class: "letter" }));
        const add = make("select", { "aria-label": "add a column", onchange: () => {
            shown.push(model.figures[Number(add.value)]);
            add.value = "";
            draw();
        } }, make("option", { value: "" }, "add a column …"), ...model.figures.map((figure, i) => i < model.columns.length ? null : make("option", { value: i }, figure.title)).filter(Boolean));

        function draw() {
            const saturates = rows.some(row => row.saturated);
            const columns = [{ title: "", value: i => model.chosen.indexOf(i) < 0 ? model.chosen.length : model.chosen.indexOf(i), cell: i => make("span", {}, boxes[i], marks[i]), text: true },
                ...model.keys.map((key, k) => ({ title: key.name, text: true, value: i => key.places[i], cell: i => key.text(rows[i].words[k]) })),
                { title: "runs", value: i => rows[i].runs.length, show: mars.count },
                ...shown.map(figure => ({ title: figure.title, value: i => figure.at(i)[0], cell: i => {
                    const [mean, half] = figure.at(i);
                    return make("span", { "data-figure": figure.title, "data-row": i, title: mean + (half === null ? "" : " ± " + half) }, model.text([mean, half]));
                } })),
                saturates && { title: "", text: true, value: i => rows[i].saturated, cell: i => rows[i].saturated ? "saturated" : "" }].filter(Boolean);
            own.replaceChildren(mars.sortable(columns, rows.map((row, i) => i), model.keys.length ? 1 : 0, { ascending: true }));
            own.firstElementChild.classList.add("tall");
        }
        model.follow(() => rows.forEach((row, i) => {
            boxes[i].checked = model.chosen.includes(i);
            marks[i].textContent = model.letter(i);
        }));
        draw();
        box.append(make("div", { class: "controls" }, add, make("span", { class: "hint" }, "Means over the runs of a point, ± half of the interval of " +
            mars.percent(model.sweep.level).replace(/\.0+ /, " ") + " (Student's t). A click on a head sorts; rows with a mark are compared below.")), own);
    }

    mars.panel({ id: "table", title: "Table", sweep: true, wide: true, all: box => table(box, mars.sweep) });
})();
