/* marssweep_page.js - the page of a sweep in a real browser: node marssweep_page.js BROWSER FOLDER, called by marssweep.sh.
 *
 * FOLDER has four.html (four runs of one), and the sweeps one (2 algorithms, 3 loads, 2 seeds), designs (@size by load, against small) and lone (one run, with a name with HTML in it).
 */
"use strict";
const { chromium, check, opener, sidewaysNow, options } = require("./lib-page.js");
const fs = require("fs");

const folder = process.argv[3], open = opener(folder);

const csv = path => fs.readFileSync(folder + "/" + path, "utf8").trim().split("\n").map(line => line.split(","));
const near = (a, b) => a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

/* The summaries of a sweep's runs: [{words, at(path)}], paths as marssweep names figures. */
function summaries(sweep) {
    const name = member => ["name", "class", "kind", "collective", "bytes"].map(key => member[key]).find(value => value !== undefined);
    const take = (all, path, value) => {
        if (Array.isArray(value))
            value.forEach((member, i) => take(all, path + "[" + (member && typeof member === "object" && name(member) !== undefined ? name(member) : i) + "]", member));
        else if (value && typeof value === "object")
            Object.entries(value).forEach(([key, member]) => take(all, path ? path + "." + key : key, member));
        else if (typeof value === "number" || typeof value === "boolean")
            all[path] = Number(value);
    };
    return fs.readdirSync(folder + "/" + sweep + "/runs").map(key => {
        const read = file => JSON.parse(fs.readFileSync(folder + "/" + sweep + "/runs/" + key + "/" + file, "utf8")), all = {}, summary = read("summary.json");
        take(all, "", summary.result);
        take(all, "run", summary.run);
        return { words: read("point.json").words, all };
    });
}

/* Every mean of every figure is that of the runs' summaries. */
async function figures(page) {
    const data = await page.evaluate(() => ({ keys: mars.data.sweep.keys, rows: mars.data.sweep.rows.map(row => row.words), figures: mars.data.sweep.figures })), all = summaries("one");
    const wrong = [];
    for (const [name, own] of Object.entries(data.figures))
        data.rows.forEach((words, row) => {
            const runs = all.filter(run => data.keys.every((key, k) => run.words[key] === words[k])).map(run => run.all[name]).filter(value => value !== undefined);
            const mean = runs.length ? runs.reduce((sum, value) => sum + value, 0) / runs.length : null, shown = own === null || typeof own === "number" ? own : own.mean[row];
            if (name !== "saturated" && !(shown === null ? mean === null : near(mean, shown)))
                wrong.push([name, words, mean, shown]);
        });
    check("every figure at every point is the mean of the summaries of its runs", wrong.length === 0 && Object.keys(data.figures).length > 50, wrong.slice(0, 3));
}

/* What the table shows is what table.csv has, in the head's unit: [[row, figure, shown mean, shown half]]. */
async function table(page, sweep) {
    const [head, ...rows] = csv(sweep + "/table.csv"), units = { ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12 };
    const shown = await page.evaluate(() => [...document.querySelectorAll("#table [data-figure]")].map(cell => ({ row: cell.dataset.row, title: cell.dataset.figure, text: cell.textContent, exact: cell.title })));
    const keys = await page.evaluate(() => mars.data.sweep.rows.map(row => row.words)), columns = await page.evaluate(() => mars.data.sweep.columns);
    const wrong = shown.filter(({ row, title, text, exact }) => {
        const column = columns.find(one => one.title === title), at = head.indexOf(column.figure + (column.relative ? ".relative" : ""));
        const own = rows.find(line => keys[row].every((word, k) => line[k] === (word === null ? "" : word))), unit = (/ \((ps|ns|us|ms|s)\)$/.exec(title) || [])[1];
        const want = [Number(own[at]), Number(own[at + 1])].map(value => value / (unit ? units[unit] : 1)), [mean, half] = exact.split(" ± ").map(Number), [short, whisker] = text.split(" ± ").map(Number);
        return !near(want[0], mean) || !near(want[1], half || 0) || Math.abs(short - mean) > 0.051 * (half || 1) + 1e-3 * Math.abs(mean) || Math.abs((whisker || 0) - (half || 0)) > 0.06 * (half || 0);
    });
    check("the table of " + sweep + " is table.csv, intervals and units too", wrong.length === 0 && shown.length === rows.length * columns.length && shown.length > 0, wrong.slice(0, 3));
}

/* Where the point of a row is drawn in a plot, on the screen. */
const placeOf = (page, which, row) => page.evaluate(([which, row]) => {
    const plot = document.querySelectorAll("#curves .plot")[which].plot, model = mars.sweep, frame = plot.over.getBoundingClientRect();
    const load = model.keys.findIndex(key => key.name === "traffic.load"), words = model.sweep.rows[row].words, x = model.keys[load].places[row];
    const line = plot.series.findIndex((one, i) => i && one.label === words[1 - load]), at = plot.data[0].indexOf(x);
    return [frame.left + plot.valToPos(x, "x"), frame.top + plot.valToPos(plot.data[line][at], "y")];
}, [which, row]);

async function curves(page) {
    const drawn = () => page.evaluate(() => [...document.querySelectorAll("#curves .plot")].map(({ plot }) => ({ x: plot.data[0], lines: plot.series.slice(1).map((one, i) => [one.label, plot.data[i + 1]]) })));
    const [head, ...rows] = csv("one/table.csv"), first = await drawn();
    const of = (figure, unit) => ["minimal", "par"].map(name => [name, rows.filter(row => row[0] === name).map(row => Number(row[head.indexOf(figure)]) / unit)]);
    const alike = (a, b) => a.length === b.length && a.every(([name, values], i) => name === b[i][0] && values.length === b[i][1].length && values.every((value, k) => near(value, b[i][1][k])));
    check("a curve for each algorithm, of latency and of accepted load", first.length === 2 && first[0].x.join() === "0.1,0.2,0.3" && alike(first[0].lines, of("packet_latency_ps.mean", 1e6)) &&
        alike(first[1].lines, of("accepted_load", 1)), first);
    const choice = page.locator("#curves .swept select").first();
    await choice.selectOption({ label: "hops.mean" });
    const hops = summaries("one").filter(run => run.words["routing.algorithm"] === "par" && run.words["traffic.load"] === "0.2").map(run => run.all["hops.mean"]);
    const other = (await drawn())[0].lines;
    check("any figure of the summaries can be drawn", near(other[1][1][1], hops.reduce((sum, value) => sum + value, 0) / hops.length), [other, hops]);
    await page.locator("#curves .swept select").nth(1).selectOption("logarithmic");
    check("on a logarithmic axis, too", await page.evaluate(() => document.querySelector("#curves .plot").plot.scales.y.distr) === 3, "");
    await choice.selectOption({ label: "packet_latency.mean (us)" });
    const [x, only] = await page.locator("#curves > div:not(.plots) select, #curves > .controls select").all();
    await only.selectOption({ label: "par" });
    check("a value of a key alone", (await drawn())[0].lines.length === 1, await drawn());
    await page.locator("#curves > .controls select").nth(1).selectOption("");
    await x.selectOption({ label: "routing.algorithm" });
    const across = await drawn(), labels = await page.evaluate(() => mars.sweep.keys[0].format(1));
    check("against a key of words: a curve for each load", across[0].lines.map(line => line[0]).join() === "0.1,0.2,0.3" && across[0].x.join() === "0,1" && labels === "par" &&
        near(across[0].lines[2][1][0], of("packet_latency_ps.mean", 1e6)[0][1][2]), across[0]);
    await page.locator("#curves > .controls select").first().selectOption({ label: "traffic.load" });
}

async function chosen(page) {
    const rows = await page.evaluate(() => mars.data.sweep.rows.map(row => row.words.join())), a = rows.indexOf("minimal,0.1"), b = rows.indexOf("par,0.3");
    await page.locator("#curves").scrollIntoViewIfNeeded();
    for (const row of [a, b])
        await page.mouse.click(...await placeOf(page, row === a ? 0 : 1, row));
    const heads = await page.locator("#chosen th").allTextContents();
    check("a click on two points compares them", heads.join("|") === "figure|A: minimal, 0.1|B: par, 0.3", heads);
    const [head, ...lines] = csv("one/table.csv"), at = head.indexOf("packet_latency_ps.mean"), want = row => Number(lines.find(line => line[0] + "," + line[1] === row)[at]) / 1e6;
    const shown = await page.locator("#chosen tbody tr", { hasText: /^packet_latency.mean/ }).locator("td").allTextContents();
    const percent = 100 * (want("par,0.3") / want("minimal,0.1") - 1), told = Number((/([+−][0-9.]+) %/.exec(shown[2]) || ["", "0"])[1].replace("−", "-"));
    check("their figures and the difference are right", Math.abs(parseFloat(shown[1]) - want("minimal,0.1")) < 0.06 * want("minimal,0.1") && Math.abs(told - percent) < 0.051, [shown, percent]);
    const rowsShown = await page.locator("#chosen tbody tr").count();
    await page.locator("#chosen input").fill("hops");
    check("all figures that differ are there, and can be searched", rowsShown > 40 && await page.locator("#chosen tbody tr").evaluateAll(all => all.every(row => /hops/.test(row.textContent))), rowsShown);
    const marked = await page.locator("#table tbody tr:has(:checked)").allTextContents();
    check("the table marks them", marked.length === 2 && marked[0].startsWith("Aminimal0.1") && marked[1].startsWith("Bpar0.3"), marked);
    await page.locator("#table tbody tr").nth(1).locator("input").focus();
    await page.keyboard.press("Space");
    check("a row of the table chooses a third, by the keyboard", (await page.locator("#chosen th").allTextContents()).length === 4, "");
    const links = await page.locator("#chosen a").evaluateAll(all => all.map(link => [link.textContent, link.href]));
    check("links lead to the pages of their runs", links.length === 6 && links.every(([text, href]) => /^seed [12]$/.test(text) && fs.existsSync(new URL(href))), links);
    await page.locator("#chosen button").click();
    check("and none is chosen again", await page.locator("#chosen th").count() === 0 && await page.locator("#table input:checked").count() === 0, "");
}

async function sorted(page) {
    const values = () => page.locator("#table tbody tr td:nth-child(6)").evaluateAll(cells => cells.map(cell => parseFloat(cell.textContent)));
    await page.locator("#table th button").nth(5).click();
    const down = await values();
    await page.locator("#table th button").nth(5).click();
    const up = await values();
    check("a click on a head sorts", down.every((value, i) => !i || value <= down[i - 1]) && up.every((value, i) => !i || value >= up[i - 1]) && down[0] > down[5], [down, up]);
    await page.locator("#table select").selectOption({ label: "hops.max" });
    check("any figure can be a column", (await page.locator("#table th").allTextContents()).includes("hops.max"), await page.locator("#table th").allTextContents());
}

(async () => {
    const browser = await chromium.launch(options), page = await open(browser, "one/page.html");
    await figures(page);
    await table(page, "one");
    await curves(page);
    await chosen(page);
    await sorted(page);
    check("no complaint of the browser", page.complaints.length === 0, page.complaints);
    for (const [theme, width] of [["light", 1280], ["dark", 1920]]) {
        const other = await open(browser, "designs/page.html", theme, "", width);
        await other.locator("#table input").first().check();
        await other.locator("#table input").nth(2).check();
        const sideways = await other.evaluate(sidewaysNow), wide = await other.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        check("nothing is cut off at " + width + ", " + theme, sideways.length === 0 && wide <= 0 && other.complaints.length === 0, [sideways, wide, other.complaints]);
        if (theme === "light")
            await table(other, "designs");
    }
    const single = await open(browser, "lone/page.html");
    check("one run has a table, and its name is a text", await single.locator("#table tbody tr").count() === 1 && await single.locator("#curves").count() === 0 &&
        (await single.locator("#swept").textContent()).includes("<img src=x") && single.complaints.length === 0, single.complaints);
    const four = await open(browser, "four.html"), heads = await four.locator("#headline .difference th").allTextContents();
    const words = await four.evaluate(() => mars.runs.map(run => run.words)), named = (head, own) => head.split(" ").every(word => Object.entries(own).some(([key, value]) => word === key.split(".").pop() + "=" + value));
    check("runs of a sweep side by side are called by what differs", heads.length === 5 && heads.slice(1).every((head, i) => named(head, words[i])) && new Set(heads).size === 5 &&
        !heads.some(head => /warmup|end=/.test(head)) && four.complaints.length === 0, [heads, four.complaints]);
    await browser.close();
})().catch(error => {
    console.log("not ok page " + error.message);
    process.exit(1);
});
