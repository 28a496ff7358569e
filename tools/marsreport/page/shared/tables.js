/* tables.js - tables, and the bars in them. A row of a job, a task, a node, a switch or a link can be selected (select.js). */
"use strict";

(function () {
    const { make } = mars;

    /* Marks the rows that belong to what is selected. */
    function mark(body, run) {
        for (const row of body.querySelectorAll("tr[data-select]")) {
            const how = mars.related(run, row.dataset.select);
            row.classList.toggle("selected", how === 2);
            row.classList.toggle("related", how === 1);
            row.toggleAttribute("aria-current", how === 2);
        }
        const rows = [...body.querySelectorAll("tr[data-select]")], first = rows.find(row => row === document.activeElement) || rows.find(row => row.classList.contains("selected")) || rows[0];
        rows.forEach(row => { row.tabIndex = row === first ? 0 : -1; });
    }

    /* Click or Enter selects a row, arrows go from row to row; reach(at) puts a row that is not there into view. */
    function selectable(body, run, reach) {
        body.addEventListener("click", event => {
            const row = event.target.closest("tr[data-select]");
            if (row && !event.target.closest("button, a, summary"))
                mars.select(row.dataset.select);
        });
        body.addEventListener("keydown", event => {
            const row = event.target.closest("tr[data-select]"), step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            if (!row || event.target !== row || (!step && event.key !== "Enter" && event.key !== " "))
                return;
            event.preventDefault();
            if (!step) {
                const at = row.dataset.at;
                mars.select(row.dataset.select);
                (body.querySelector("tr[data-at='" + at + "']") || row).focus();
                return;
            }
            if (reach)
                reach(Number(row.dataset.at) + step);
            const next = body.querySelector("tr[data-at='" + (Number(row.dataset.at) + step) + "']");
            if (next)
                next.focus();
        });
        body.addEventListener("focusin", event => event.target.matches("tr") && body.querySelectorAll("tr[data-select]").forEach(row => { row.tabIndex = row === event.target ? 0 : -1; }));
    }

    /* keys: what each row is of. */
    mars.simpleTable = function (heads, rows, run, keys) {
        const body = make("tbody", {}, ...rows.map((row, i) => make("tr", keys ? { "data-select": keys[i], "data-at": i } : {}, ...row.map(cell => make("td", {}, cell)))));
        if (keys) {
            selectable(body, run);
            mark(body, run);
            mars.follows(() => mark(body, run));
        }
        return make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(head => make("th", { scope: "col" }, head)))), body);
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

    const WHOLE = 200; /* rows; of more only those in view are elements */

    /* A table of columns {name, title, value(row), show(value), text, cell(row)}; sorted by a click or Enter on a head. key(row): what a row of `run` is of. A list of
     * groups {sum: a row, rows} is shown as their sums, and the rows below them when they are unfolded. */
    mars.Table = class {
        constructor(columns, rows, first, { run, key, groups, ascending } = {}) {
            Object.assign(this, { columns, rows, run, key, groups, height: 24, by: -1, down: false, open: new Set(groups && groups.length === 1 ? [groups[0].name] : []) });
            this.body = make("tbody", {});
            this.heads = columns.map((column, i) => make("th", { scope: "col", class: column.text ? "text" : null },
                make("button", { type: "button", onclick: () => this.sort(i, this.by === i ? !this.down : !column.text) }, column.title)));
            this.box = make("div", { class: "scroll", tabindex: 0, onscroll: () => this.scrolled() }, make("table", {}, make("thead", {}, make("tr", {}, ...this.heads)), this.body));
            this.sort(first, !columns[first].text && !ascending);
            if (!key)
                return;
            selectable(this.body, run, at => this.reach(at));
            this.body.addEventListener("keydown", event => {
                const group = event.target.classList.contains("group") && this.list[event.target.dataset.at];
                if (group && (event.key === "ArrowRight" || event.key === "ArrowLeft"))
                    this.fold(group, event.key === "ArrowLeft"), this.body.querySelector("tr[data-at='" + this.list.indexOf(group) + "']").focus();
            });
            this.follow();
            mars.follows(() => this.follow());
        }

        sort(i, down) {
            this.by = i, this.down = down;
            this.heads.forEach((head, j) => head.setAttribute("aria-sort", j === i ? (down ? "descending" : "ascending") : "none"));
            this.arrange();
        }

        arrange() {
            const { value } = this.columns[this.by], order = (a, b) => {
                const x = value(a), y = value(b), sign = x === y ? 0 : x === null ? -1 : y === null ? 1 : x < y ? -1 : 1;
                return this.down ? -sign : sign;
            };
            this.list = !this.groups ? this.rows.slice().sort(order) : this.groups.slice().sort((a, b) => order(a.sum, b.sum))
                .flatMap(group => this.open.has(group.name) ? [group].concat(group.rows.slice().sort(order)) : [group]);
            this.draw();
        }

        fold(group, closes) {
            this.open[closes ? "delete" : "add"](group.name);
            this.arrange();
        }

        draw(once = true) {
            const all = this.list.length, few = all <= WHOLE, first = few ? 0 : Math.max(0, Math.min(all - 1, Math.floor(this.box.scrollTop / this.height)) - 30), last = few ? all : Math.min(all, first + 90);
            const space = rows => rows ? [make("tr", { class: "space", style: "height:" + rows * this.height + "px" })] : [], focused = document.activeElement && document.activeElement.parentElement === this.body ? document.activeElement.dataset.at : null;
            this.first = first;
            this.body.replaceChildren(...space(first), ...this.list.slice(first, last).map((row, i) => this.line(row, first + i)), ...space(all - last));
            if (this.key)
                mark(this.body, this.run);
            if (focused !== null && this.body.querySelector("tr[data-at='" + focused + "']"))
                this.body.querySelector("tr[data-at='" + focused + "']").focus({ preventScroll: true });
            const one = this.body.querySelector("tr:not(.space)"), height = one && one.getBoundingClientRect().height || this.height;
            const other = height !== this.height;
            this.height = height;
            if (!few && other && once) { /* the rows that are not there have to be as high */
                this.draw(false);
                return;
            }
            if (!few) /* columns do not become narrower while it is scrolled */
                this.heads.forEach(head => { head.style.minWidth = head.offsetWidth + "px"; });
        }

        line(row, at) {
            const group = this.groups && row.sum ? row : null, open = group && this.open.has(group.name), of = group ? group.sum : row;
            return make("tr", { class: group ? "group" : null, "data-at": at, "data-select": !this.key ? null : group ? "job " + group.name : this.key(row) }, ...this.columns.map((column, i) =>
                make("td", { class: column.text ? "text" : null }, group && i === 0 ? make("button", { type: "button", class: "fold", tabindex: -1, "aria-expanded": open ? "true" : "false", onclick: () => this.fold(group, open) }, open ? "▾" : "▸") : null,
                    column.cell ? column.cell(of) : (column.show || String)(column.value(of)))));
        }

        scrolled() {
            if (this.list.length > WHOLE && Math.abs(Math.floor(this.box.scrollTop / this.height) - 30 - this.first) > 20)
                this.draw();
        }

        reach(at) {
            const top = at * this.height, head = this.heads[0].offsetHeight, view = this.box.clientHeight - head;
            if (at < 0 || at >= this.list.length)
                return;
            if (top < this.box.scrollTop || top + this.height > this.box.scrollTop + view)
                this.box.scrollTop = Math.max(0, top - view / 3);
            if (this.list.length > WHOLE && !this.body.querySelector("tr[data-at='" + at + "']"))
                this.draw();
        }

        /* What is selected comes into view, and its job is unfolded. */
        follow() {
            const own = mars.picked(this.run), group = own && this.groups && this.groups.find(one => one.name === own.it.job), folded = group && !this.open.has(group.name);
            if (folded && own.it.kind === "task")
                this.fold(group, false);
            const at = own ? this.list.findIndex(row => (row.sum ? "job " + row.name : this.key(row)) === own.it.words) : -1;
            if (at >= 0)
                this.reach(at);
            mark(this.body, this.run);
        }
    };

    mars.sortable = (columns, rows, first, options) => new mars.Table(columns, rows, first, options).box;

    /* ---- rows by job ---- */

    const joins = { mean: list => list.length ? list.reduce((sum, value) => sum + value, 0) / list.length : null, sum: list => list.reduce((sum, value) => sum + value, 0),
        highest: list => list.reduce((most, value) => Math.max(most, value), -Infinity) };

    /* Groups of a table with columns job and task: the sums have how many tasks there are in place of a task, and null for what cannot be added. */
    mars.byJob = function (table, how) {
        const job = table.at("job"), of = new Map();
        table.rows.forEach(row => of.has(row[job]) ? of.get(row[job]).push(row) : of.set(row[job], [row]));
        return [...of].map(([name, rows]) => ({ name, rows, sum: table.columns.map((column, i) => {
            const list = i === job || /^(node|core)$/.test(column) ? [] : rows.map(row => row[i]).filter(value => typeof value === "number");
            return i === job ? name : column === "task" ? rows.length : list.length ? joins[how](list) : null;
        }) }));
    };

    /* A table by job, and the choice of what a job's row says; columns: as in mars.Table, the first of them the task. */
    mars.foldedTable = function (box, run, table, columns, first, ascending) {
        const sums = new Set(), groups = how => mars.byJob(table, how).map(group => (sums.add(group.sum), group)), task = columns.find(column => column.title === "task"), job = table.at("job");
        task.cell = row => sums.has(row) ? row[job] + ", " + mars.count(task.value(row)) + (task.value(row) === 1 ? " task" : " tasks") : String(task.value(row));
        const one = new mars.Table(columns, [], first, { run, key: mars.keyOf(table.columns), groups: groups("mean"), ascending });
        box.append(make("div", { class: "controls" }, make("label", {}, "Rows of jobs: ", make("select", { onchange: event => {
            one.groups = groups(event.target.value);
            one.arrange();
        } }, ...Object.keys(joins).map(how => make("option", {}, how))))), one.box);
        return one;
    };

    /* All of a table of the results, sorted by a column. */
    mars.wholeTable = function (box, run, data, file, by) {
        const table = mars.table(data), folded = table.at("job") >= 0 && table.at("task") >= 0, none = show => value => value === null ? "" : show(value);
        const columns = table.columns.map((name, i) => ({
            title: name.replace(/_(ps|ns)$/, "").replace(/_/g, " "), value: row => row[i], show: none(mars.formatOf(name)), text: /^(job|node_name|entry)$/.test(name),
        })).filter((column, i) => (table.rows.some(row => row[i] !== null && row[i] !== 0) || i < 3) && !(folded && i === table.at("job")));
        const first = Math.max(0, columns.findIndex(column => column.title === by));
        if (folded)
            mars.foldedTable(box, run, table, columns, first, true);
        else
            box.append(mars.sortable(columns, table.rows, first, { run, key: mars.keyOf(table.columns), ascending: true }));
        if (data.left_out)
            box.append(make("p", { class: "hint" }, "The first " + mars.count(table.rows.length) + " rows; " + mars.count(data.left_out) + " more are in " + file + " only."));
    };
})();
