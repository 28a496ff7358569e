/* tables.js - tables, and the bars in them. */
"use strict";

(function () {
    const { make } = mars;

    mars.simpleTable = function (heads, rows) {
        return make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(head => make("th", { scope: "col" }, head)))),
            make("tbody", {}, ...rows.map(row => make("tr", {}, ...row.map(cell => make("td", {}, cell))))));
    };

    /* Rows {name, values, show(value, index), better} of all runs: a value for each, from the second on with its difference to the first. */
    mars.runsTable = function (rows, first = "") {
        const names = mars.runs.map((run, index) => mars.runName(run, index));
        return make("div", { class: "scroll difference", tabindex: 0 }, mars.simpleTable([first, ...names], rows.map(({ name, values, show, better }) => [name, ...values.map((value, i) =>
            i ? make("span", {}, show(value, i), " ", mars.difference(values[0], value, better)) : show(value, i))])));
    };

    mars.bar = function (share) {
        const inner = make("i", {});
        inner.style.width = Math.min(100, 100 * share) + "%";
        return make("span", { class: "bar", "aria-hidden": "true" }, inner);
    };

    /* A bar whose pieces, {title, share, background}, are as long as their shares; without a background they have the colours of kinds. */
    mars.stack = function (label, pieces) {
        return make("div", { class: "stack", role: "img", "aria-label": label }, ...pieces.map(({ title, share, background }, i) => {
            const piece = make("i", { title });
            piece.style.width = 100 * share + "%";
            piece.style.background = background || mars.colours.mark(i);
            return piece;
        }));
    };

    /* Of two numbers, `better` saying which is: 1 the higher one, -1 the lower one, 0 neither. */
    mars.difference = function (a, b, better) {
        if (typeof a !== "number" || typeof b !== "number")
            return "–";
        if (a === b)
            return "equal";
        const text = a === 0 ? "from 0" : (b > a ? "+" : "−") + mars.percent(Math.abs(b / a - 1));
        const good = better === 0 ? "" : (b - a) * better > 0 ? "better" : "worse";
        return make("span", { class: good, title: String(b - a) }, text);
    };

    /* A table of columns {name, title, value(row), show(value), text}; sorted by a click or Enter on a head. */
    mars.sortable = function (columns, rows, first, most, ascending) {
        const body = make("tbody", {}), heads = columns.map((column, i) => make("th", { scope: "col", class: column.text ? "text" : null },
            make("button", { type: "button", onclick: () => sort(i) }, column.title)));
        let by = -1, down = false;
        function sort(i) {
            down = by === i ? !down : !columns[i].text;
            by = i;
            const value = columns[i].value, sorted = rows.slice().sort((a, b) => {
                const x = value(a), y = value(b), order = x === y ? 0 : x === null ? -1 : y === null ? 1 : x < y ? -1 : 1;
                return down ? -order : order;
            });
            heads.forEach((head, j) => head.setAttribute("aria-sort", j === i ? (down ? "descending" : "ascending") : "none"));
            body.replaceChildren(...sorted.slice(0, most || sorted.length).map(row => make("tr", {}, ...columns.map(column =>
                make("td", { class: column.text ? "text" : null }, column.cell ? column.cell(row) : (column.show || String)(column.value(row)))))));
        }
        sort(first);
        if (ascending && down)
            sort(first);
        return make("div", { class: "scroll", tabindex: 0 }, make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body));
    };

    /* All of a table of the results, sorted by a column. */
    mars.wholeTable = function (box, data, file, by) {
        const table = mars.table(data);
        const columns = table.columns.map((name, i) => ({
            title: name.replace(/_(ps|ns)$/, "").replace(/_/g, " "), value: row => row[i], show: mars.formatOf(name), text: /^(job|node_name|entry)$/.test(name),
        })).filter((column, i) => table.rows.some(row => row[i] !== null && row[i] !== 0) || i < 3);
        columns.forEach(column => {
            if (column.text)
                column.show = v => v === null ? "" : String(v);
        });
        box.append(mars.sortable(columns, table.rows, Math.max(0, columns.findIndex(column => column.title === by)), 500, true));
        if (table.rows.length > 500 || data.left_out)
            box.append(make("p", { class: "hint" }, "The first 500 of " + mars.count(table.rows.length) + " rows by the chosen order" +
                (data.left_out ? "; " + mars.count(data.left_out) + " more are in " + file + " only." : ".")));
    };
})();
