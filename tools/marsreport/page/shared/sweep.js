/* sweep.js - the page of a sweep: its figures with their units, values as texts, and the points that are chosen. */
"use strict";

mars.sweepModel = function (sweep) {
    const times = [["ps", 1], ["ns", 1e3], ["us", 1e6], ["ms", 1e9], ["s", 1e12]], sizes = [["B", 1], ["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30]];
    const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ", none = [null, null];

    /* As in table.csv and on the terminal: the largest unit that leaves the largest of all at 1 or more. */
    function figureOf(name, own) {
        const time = /_ps(?=$|[.[])/.exec(name), size = /(^|_)bytes$/.exec(name), units = time && !name.includes(".count") ? times : size ? sizes : null;
        const most = Math.max(...own.mean.map(value => Math.abs(value || 0))), unit = units && (units.filter(([, base]) => most >= base).pop() || units[0]);
        const title = !unit ? name : (time ? name.replace(time[0], "") : name) + " (" + unit[0] + ")";
        return { name, title, at: row => [own.mean[row], own.half[row]].map(value => value === null ? null : value / (unit ? unit[1] : 1)) };
    }

    /* Those of the table, then all that are not the same in all rows. */
    const columns = sweep.columns.map((column, i) => ({ name: column.figure, title: column.title, relative: column.relative, at: row => sweep.rows[row].cells[i] || none }));
    const tabled = new Set(columns.map(column => column.name));
    const others = Object.entries(sweep.figures).filter(([name, own]) => own !== null && typeof own === "object" && !tabled.has(name)).map(([name, own]) => figureOf(name, own));
    const constants = Object.entries(sweep.figures).filter(([, own]) => own === null || typeof own !== "object");

    /* Two digits of the interval, and as many places of the mean; of one run four digits. */
    function text([mean, half]) {
        if (mean === null || mean === undefined)
            return "–";
        if (half === null || !(half > Math.abs(mean) * 1e-9))
            return (Math.abs(mean) < 1e4 ? mars.short(mean) : mean.toFixed(0)) + (half === null ? "" : " ± 0");
        const places = Math.max(0, Math.min(9, 1 - Math.floor(Math.log10(half))));
        return mean.toFixed(places) + " ± " + half.toFixed(places);
    }

    /* ---- values of keys ---- */

    const factors = { "": 1, ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, "%": 0.01 };

    /* "64 KiB": {value, kind}; null: no number. */
    function numberOf(word) {
        const found = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z%]*)\s*$/.exec(word === null ? "" : word);
        if (!found || !(found[2] in factors))
            return null;
        return { value: Number(found[1]) * factors[found[2]], kind: /s$/.test(found[2]) ? "time" : /B$/.test(found[2]) ? "bytes" : "" };
    }

    /* A key's values, in order: {words, places: of each row, numbers, format}; as numbers where all are. */
    const keys = sweep.keys.map((name, k) => {
        const own = sweep.rows.map(row => row.words[k]), parsed = own.map(numberOf), kinds = new Set(parsed.map(number => number && number.kind));
        const numbers = parsed.every(Boolean) && kinds.size === 1, words = [...new Set(own)];
        if (numbers)
            words.sort((a, b) => numberOf(a).value - numberOf(b).value);
        const kind = numbers ? parsed[0].kind : "";
        return { name, words, numbers, places: numbers ? parsed.map(number => number.value) : own.map(word => words.indexOf(word)), text: word => word === null ? "–" : word,
            format: !numbers ? i => words[i] === null ? "–" : words[i] : kind === "time" ? mars.time : kind === "bytes" ? mars.bytes : value => mars.short(value) };
    });

    /* ---- points that are chosen: the first is what the others are compared with ---- */

    const chosen = [], followers = [];
    function toggle(row) {
        const at = chosen.indexOf(row);
        if (at >= 0)
            chosen.splice(at, 1);
        else if (chosen.length < letters.length)
            chosen.push(row);
        followers.forEach(follow => follow());
    }

    return { sweep, columns, figures: columns.concat(others), constants, text, keys, chosen, toggle,
        clear: () => chosen.slice().forEach(toggle), follow: draw => followers.push(draw), letter: row => letters[chosen.indexOf(row)] || "",
        name: (row, without = -1) => keys.map((key, k) => k === without ? null : key.text(sweep.rows[row].words[k])).filter(word => word !== null).join(", ") };
};

if (mars.data.sweep)
    mars.sweep = mars.sweepModel(mars.data.sweep);
