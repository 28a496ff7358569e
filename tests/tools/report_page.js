/* report_page.js - pages of marsreport in a real browser: node report_page.js BROWSER FOLDER, called by report.sh.
 *
 * FOLDER has the result folders traced, torus, html, killed with their pages, and two.html. Prints lines "ok" and "not ok".
 */
"use strict";
const { chromium, check, opener, sidewaysNow, options } = require("./lib-page.js");
const fs = require("fs");

const folder = process.argv[3], open = opener(folder);

/* Elements that show a number of summary.json: the number they name is there, and what they show is it in short. */
function wrongNumbers(summary) {
    const at = path => path.split(".").reduce((node, name) => node == null ? undefined : node[name], summary);
    const units = { ps: 1, ns: 1e3, "µs": 1e6, ms: 1e9, s: 1e12, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, "%": 0.01 };
    return Array.from(document.querySelectorAll('[data-key][data-run="0"]')).filter(element => {
        const value = at(element.dataset.key), text = element.textContent;
        if (typeof value !== "number")
            return String(value) !== text;
        const match = /^±? ?([-0-9.,e+]+) ?(\S*)$/.exec(text);
        if (!match || String(value) !== element.dataset.value)
            return true;
        const unit = match[2] === "s" && element.dataset.key.startsWith("run.") ? 1 : units[match[2] || "B"];
        const shown = Number(match[1].replace(/,/g, "")) * unit;
        return Math.abs(shown - value) > 0.006 * Math.abs(value) + (match[2] === "%" ? 6e-5 : 6e-3);
    }).map(element => element.dataset.key + " shows " + element.textContent);
}

async function numbers(browser) {
    const page = await open(browser, "traced/report.html"), summary = JSON.parse(fs.readFileSync(folder + "/traced/summary.json", "utf8"));
    const wrong = await page.evaluate(wrongNumbers, summary), shown = await page.locator("[data-key]").count();
    check("no complaint of the browser", page.complaints.length === 0, page.complaints);
    check("every number shown is that of summary.json", wrong.length === 0 && shown > 100, [wrong.slice(0, 5), shown]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check("nothing is wider than 1280 pixels", wide <= 0, wide);
    const sideways = await page.evaluate(sidewaysNow);
    check("and no table must be scrolled sideways", sideways.length === 0, sideways);
    return page;
}

async function zoom(page) {
    const span = () => page.evaluate(() => {
        const x = document.querySelector("#series .plot").plot.scales.x;
        return x.max - x.min;
    });
    const all = await span(), over = await page.locator("#series .u-over").first().boundingBox();
    await page.locator("#series").scrollIntoViewIfNeeded();
    const box = await page.locator("#series .u-over").first().boundingBox() || over;
    await page.mouse.move(box.x + 0.3 * box.width, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 55, { steps: 5 });
    await page.mouse.up();
    const dragged = await span();
    check("dragging zooms a series", dragged > 0.2 * all && dragged < 0.4 * all, [all, dragged]);
    await page.locator("#series .plot").first().focus();
    await page.keyboard.press("Escape");
    const back = await span();
    await page.keyboard.press("+");
    const nearer = await span();
    await page.keyboard.press("Escape");
    check("Escape shows all, plus zooms", back === all && nearer < 0.6 * all, [all, back, nearer]);
}

async function machine(page) {
    await page.locator("#topology canvas.scene").focus();
    const scale = () => page.evaluate(() => document.querySelector("#topology canvas.scene").view.view.scale);
    const shown = () => page.evaluate(() => document.querySelector("#topology canvas.scene").toDataURL());
    const first = await scale(), whole = await shown();
    await page.keyboard.press("+");
    const nearer = await scale();
    await page.keyboard.press("0");
    check("plus zooms the machine, 0 shows all of it", nearer > 1.3 * first && await scale() === first, [first, nearer]);
    await page.locator("#topology input[type=range]").focus();
    for (let i = 0; i < 20; i++)
        await page.keyboard.press("ArrowRight");
    const told = await page.locator("#topology output").textContent();
    check("the slider goes from period to period", told === "9.5 ms to 10 ms" && await shown() !== whole, told);
    await page.locator("#topology .play").focus();
    await page.keyboard.press("Enter");
    await page.waitForTimeout(1500);
    await page.keyboard.press("Enter");
    const later = await page.locator("#topology output").textContent(), value = Number(await page.locator("#topology input[type=range]").inputValue());
    check("play continues by itself", value > 19, [later, value]);
    const box = await page.locator("#matrix canvas.heat").boundingBox();
    await page.locator("#matrix").scrollIntoViewIfNeeded();
    await page.locator("#matrix canvas.heat").hover({ position: { x: 44 + (box.width - 50) / 64 * 1.5, y: 4 + (box.width - 50) / 64 * 0.5 } });
    const tip = await page.locator(".tip").textContent();
    check("the matrix tells who and how much", /^n0 > n1: 884 messages/.test(tip), tip);
}

async function objects(page) {
    const [what, which] = await page.locator("#objects select").all(), frame = page.locator("#objects .plot");
    const sum = () => frame.evaluate(element => element.plot.data[element.plot.data.length - 1].reduce((all, value) => all + value, 0));
    await what.selectOption("task_series");
    await which.selectOption({ label: "bytes sent" });
    const bytes = await sum(), told = await page.locator("#objects .plot").locator("xpath=..").locator("h3").textContent();
    const right = await page.evaluate(() => mars.runs[0].result.jobs[0].bytes);
    check("a series of tasks adds up to the bytes of the job", bytes === right && told === "bytes sent of tasks", [bytes, right, told]);
    await page.locator("#objects canvas.rows").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const mark = await page.locator("#objects output").textContent();
    check("arrows go from task to task", /^task [0-9]+, 0 ps to 500 µs: /.test(mark), mark);
}

async function matrices(browser) {
    const page = await open(browser, "matrices/report.html");
    const [level] = await page.locator("#matrix select").all(), names = await level.locator("option").allTextContents();
    check("matrices of nodes and tasks", names.join() === "nodes,tasks of <b>job</b>", names);
    await level.selectOption("1");
    await page.locator("#matrix input[type=range]").fill("1");
    await page.locator("#matrix canvas.heat").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    const told = await page.locator("#matrix p output").textContent(), when = await page.locator("#matrix .controls output").textContent();
    check("a period of the matrix of tasks", told === "t0 > t1: 2 messages, 20 B" && when === "1 µs to 2 µs" && page.complaints.length === 0, [told, when, page.complaints]);
}

/* Three cores compute or are stalled for most of the time, of 12. */
async function cores(browser) {
    const page = await open(browser, "cores/report.html");
    const told = await page.evaluate(() => [...document.querySelectorAll("#cores .plot")].map(frame => [frame.previousElementSibling.textContent,
        frame.plot.series.slice(1).map(line => line.label), Math.max(...frame.plot.data.slice(1).flat())]));
    check("cores and memory over time are plots", told.length === 2 && told[0][0] === "share of the time of all cores" && told[0][1][0] === "computing" &&
        told[0][2] > 0.2 && told[0][2] <= 0.25 && told[1][1].join() === "memory controllers" && page.complaints.length === 0, [told, page.complaints]);
}

/* Above LogGOPS there are jobs, and no links or packets to speak of. */
async function loggops(browser) {
    const page = await open(browser, "loggops/report.html"), text = await page.locator("body").innerText();
    check("of a run above LogGOPS are its jobs, and no links, switches or packets", page.complaints.length === 0 && /2 processes/.test(text) && /job pingpong/.test(text) &&
        /messages in flight/.test(text) && !/packet|output\.links/.test(text) && await page.locator("#topology, #links, #latency").count() === 0, [page.complaints, text.slice(0, 600)]);
}

async function keyboard(page) {
    await page.evaluate(() => document.activeElement.blur());
    const seen = new Set();
    for (let i = 0; i < 80; i++) {
        await page.keyboard.press("Tab");
        seen.add(await page.evaluate(() => {
            const section = document.activeElement.closest("section");
            return document.activeElement.id || (section ? section.id : document.activeElement.tagName);
        }));
    }
    check("Tab reaches switch, series and tables", ["theme", "series", "topology", "matrix", "functions", "tasks"].every(name => seen.has(name)), [...seen]);
    const before = await page.evaluate(() => document.documentElement.dataset.theme);
    await page.locator("#theme").focus();
    await page.keyboard.press("Enter");
    check("Enter switches light and dark", before === "light" && await page.evaluate(() => document.documentElement.dataset.theme) === "dark", before);
    await page.locator("#functions th button").first().focus();
    await page.keyboard.press("Enter");
    const names = await page.locator("#functions tbody td:first-child").allTextContents();
    check("Enter on a head sorts", names.join() === names.slice().sort().join() && names.length > 5, names);
}

async function tasks(browser) {
    const page = await open(browser, "timeline/report.html");
    const canvas = page.locator("#gantt canvas.gantt"), told = () => page.locator("#gantt output").textContent();
    const all = await told();
    const box = await canvas.boundingBox();
    /* Task 1 from 1 us to 5.5 us of 5.5 us: its call in the upper half of the row, its wait ends before it. */
    await canvas.hover({ position: { x: 96 + 0.98 * (box.width - 96), y: 45 } });
    const tip = await page.locator(".tip").textContent();
    check("the chart of tasks tells what a task did", tip.startsWith("<b>job</b>, task 1\nMPI_Recv: 4.5 µs"), tip);
    await canvas.hover({ position: { x: 96 + 0.5 * (box.width - 96), y: 27 } });
    const below = await page.locator(".tip").textContent();
    check("a thread is below its task", below.startsWith("<b>job</b>, task 0, thread 1\ncompute: 4 µs"), below);
    await canvas.focus();
    await page.keyboard.press("+");
    const nearer = await told();
    await page.keyboard.press("0");
    check("plus zooms it, 0 shows all", all === "0 ps to 5.5 µs" && nearer !== all && await told() === all && page.complaints.length === 0, [all, nearer, page.complaints]);
}

async function links(browser) {
    const page = await open(browser, "links/report.html"), canvas = page.locator("#gantt canvas.gantt");
    const legend = await page.locator("#gantt .legend").textContent();
    await canvas.hover({ position: { x: 600, y: 8 } });
    const shown = await canvas.evaluate(element => [element.gantt.marks[0], element.gantt.left < 191]);
    await canvas.focus();
    for (let i = 0; i < 12; i++)
        await page.keyboard.press("+");
    const seen = await canvas.evaluate(element => {
        const gantt = element.gantt, i = gantt.byTrack[0][0];
        gantt.place(gantt.gantt.spans.begin[i], 2 * gantt.gantt.spans.duration[i]);
        return gantt.find(gantt.left + 0.25 * (gantt.width - gantt.left), 2);
    });
    check("a link has a row with its states", legend === "link busy" && shown.join() === "switch 0 port 3 → switch 4 (y),true" && /^switch 0 port 3 → switch 4 \(y\)\nbusy: /.test(seen) &&
        page.complaints.length === 0, [legend, shown, seen, page.complaints]);
}

/* The axis of the chart at eight zooms: its ticks are multiples of 1, 2 or 5 times a power of ten, some and not too many, with labels of their own. */
async function axis(browser) {
    const page = await open(browser, "timeline/report.html");
    const wrong = await page.locator("#gantt canvas.gantt").evaluate(element => {
        const gantt = element.gantt, wrong = [];
        for (let i = 0, span = gantt.last - gantt.first; i < 8; i++, span /= 3.7) {
            gantt.place(gantt.first + (gantt.last - gantt.first) * 0.61803, span);
            const { step, at } = gantt.ticks(), labels = at.map(time => mars.timeOnAxis(time, step));
            if (!["1", "2", "5"].includes(String(step).replace(/0*$/, "")) || at.some(time => time % step || time < gantt.from || time > gantt.to) ||
                    at.length < 3 || at.length > 13 || new Set(labels).size !== labels.length)
                wrong.push([span, step, labels]);
        }
        return wrong;
    });
    check("the axis of the chart has round numbers", wrong.length === 0 && page.complaints.length === 0, [wrong, page.complaints]);
}

async function others(browser) {
    const html = await open(browser, "html/report.html");
    const shown = await html.locator("#simulated p").first().textContent();
    check("a name with HTML in it is shown as text", shown.includes("<img src=x") && html.complaints.length === 0, [shown, html.complaints]);
    const parts = await html.locator("#parts table:not(.u-legend) tbody tr").allTextContents();
    check("latency is split by part", parts.join() === "source queue100 ps5.00 %,injection1 ns50.0 %,switches300 ps15.0 %,links0 ps0.00 %,ejection600 ps30.0 %," +
        "of that, waiting in switches100 ps5.00 %,of that, contention: above an empty network150 ps7.50 %", parts);
    const cores = await html.locator("#cores tbody tr").allTextContents();
    check("what cores and memory did", cores.join() === "computing50.0 %,stalled for memory12.5 %,away: noise0.00 %,idle37.5 %,tasks that waited for a core0.00 %," +
        "copying messages inside nodes25.0 %,memory controllers22 KiB25.0 %50.0 %", cores);
    const waits = await html.locator("#waits tbody tr").allTextContents();
    check("waits are split by cause, in all and by task", waits.slice(0, 2).join() === "late sender600 ps60.0 %a receive waited until the message was sent," +
        "contention400 ps40.0 %time in the network above that of an empty one" && /, 2 tasks1\.5500 ps300 ps200 ps$/.test(waits[2]) && waits.slice(3).join() === "12800 ps400 ps400 ps,01200 ps200 ps0 ps", waits);
    const path = await html.locator("#critical tbody tr").allTextContents(), canvas = html.locator("#critical canvas.path");
    check("so is the critical path", path.join() === "computation7 ns70.0 %,transfer3 ns30.0 %,computation7 ns70.0 %,<b>MPI_Recv</b>3 ns30.0 %,task 110 ns100.0 %,task 0 > 113 ns0 ps", path);
    const box = await canvas.boundingBox();
    await canvas.hover({ position: { x: 70 + 0.85 * (box.width - 74), y: 5 } });
    const tip = await html.locator(".tip").textContent();
    check("pieces of it say what they are", tip === "task 0 > task 1\ntransfer, MPI_Recv: 3 ns\n7 ns to 10 ns", tip);
    const rates = await html.locator("#rates tbody tr").allTextContents();
    check("rates are shown by size", rates.join() === "1 KiB22.93 KiB1.5 GB/s", rates);
    const numbers = await html.evaluate(wrongNumbers, JSON.parse(fs.readFileSync(folder + "/html/summary.json", "utf8")));
    check("their numbers, too, are those of summary.json", numbers.length === 0, numbers);
    const killed = await open(browser, "killed/report.html", "dark");
    const words = await killed.locator("#notes").textContent();
    const simulated = await killed.locator("#simulated").textContent();
    check("the page of a killed run says so, and what ran", words.includes("killed") && simulated.includes("64 nodes, 48 switches") && killed.complaints.length === 0, [words, simulated, killed.complaints]);
    check("dark where the system is", await killed.evaluate(() => document.documentElement.dataset.theme) === "dark", "");
    const torus = await open(browser, "torus/report.html");
    const missing = await torus.locator("#functions").textContent();
    check("a panel without data names the key", missing.includes("output.calls") && torus.complaints.length === 0, [missing, torus.complaints]);
    const two = await open(browser, "two.html");
    const difference = await two.locator("#headline .difference").textContent();
    const keys = await two.locator("#compare tbody td:first-child").allTextContents();
    check("two runs show which keys differ", keys.includes("topology.kind") && keys.includes("jobs.0.program") && !keys.includes("run.seed"), keys);
    const same = await open(browser, "same.html");
    const told = await same.locator("#waits tbody tr").count(), sizes = await same.locator("#rates tbody tr").count();
    check("waits and rates of a run are in the page", told > 32 && sizes > 8, [told, sizes, same.complaints]);
    const tight = await same.evaluate(sidewaysNow), stacked = await same.locator(".runs").evaluateAll(all => all.filter(side => side.style.getPropertyValue("--across") === "1").length);
    check("tables of two runs that have no room side by side are below each other", tight.length === 0 && stacked > 0, [tight, stacked]);
    check("of one machine the differences are drawn", await same.locator("#compare canvas").count() === 2 && await two.locator("#compare canvas").count() === 0 &&
        same.complaints.length === 0, same.complaints);
    check("two runs have their differences", difference.includes("−") && two.complaints.length === 0, [difference, two.complaints]);
    const three = await open(browser, "three.html"), heads = await three.locator("#headline .difference th").allTextContents(), differences = await three.evaluate(() =>
        [...document.querySelectorAll("#headline .difference tbody tr")].map(row => [...row.children].map(cell => (cell.querySelector("[data-value]") || { dataset: {} }).dataset.value)));
    check("so have three", heads.join() === ",traced,torus,loggops" && differences.every((row, i) => row.length === 4) && differences[0].slice(1).join() === (await three.evaluate(() =>
        mars.runs.map(run => run.result.simulated_time_ps))).join() && three.complaints.length === 0, [heads, differences[0], three.complaints]);
    check("and nothing of theirs is wider than 1280 pixels", await three.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, await three.evaluate(sidewaysNow));
}

/* A click on something selects it in all panels; the address has it. */
async function selection(browser) {
    const page = await open(browser, "jobs/report.html"), rows = (panel, how) => page.locator("#" + panel + " tr." + how), told = async () => [await page.locator("#selected").textContent(), decodeURIComponent(page.url().replace(/.*#/, ""))];
    const paint = selector => page.evaluate(one => document.querySelector(one).toDataURL(), selector), canvases = ["#jobs canvas.jobs", "#topology canvas.scene", "#matrix canvas.heat", "#gantt canvas.gantt", "#objects canvas.rows"];
    const plain = await Promise.all(canvases.map(paint)), links = page.locator("#links tbody tr");
    const name = await links.first().locator("td").first().textContent();
    await links.first().click();
    const [said, address] = await told(), sender = /^all&select=((?:node|switch) \d+ port \d+)$/.exec(address);
    check("a click on a link selects it, and the address says so", sender && said.startsWith(name) && await rows("links", "selected").count() === 1 && / → /.test(name), [said, address, name]);
    const changed = async () => (await Promise.all(canvases.map(paint))).map((now, i) => now !== plain[i]);
    const drawn = await changed();
    check("it is marked in the machine and over time", drawn[1] && drawn[4], drawn);
    await page.keyboard.press("Escape");
    const cleared = await changed();
    check("Escape clears it", cleared.every(one => !one) && (await told())[1] === "all" && await page.locator("#selected").isHidden(), [cleared, await told()]);
    const node = await page.evaluate(() => {
        const canvas = document.querySelector("#topology canvas.scene"), { scene, view } = canvas.view, { of_node: of } = mars.where(mars.runs[0]), { x, y } = scene.scene.places, box = canvas.getBoundingClientRect();
        const place = of[mars.runs[0].tasks.rows.find(row => row[0] === "a" && row[1] === 7)[2]];
        canvas.scrollIntoView();
        return [view.x + x[place] * view.scale, view.y + y[place] * view.scale, place, box.width];
    });
    await page.locator("#topology canvas.scene").click({ position: { x: node[0], y: node[1] } });
    const at = await told(), task = (await rows("tasks", "related").allTextContents()).map(text => text.slice(0, 12));
    check("a click on the machine selects what is there, and marks its jobs", /^(node|switch|nodes|place) /.test(at[0]) && task.length > 0 && (await changed()).every((one, i) => one || i === 4), [at, task, await changed()]);
    await page.locator("#selected").click();
    await page.locator("#find").fill("task 140 of b");
    await page.keyboard.press("Enter");
    const own = await rows("tasks", "selected").first().locator("td").first().textContent(), row = await rows("tasks", "selected").boundingBox(), view = await page.locator("#tasks .scroll").boundingBox();
    check("a task that is typed is selected, its job unfolded, its row in view", own === "140" && row.y > view.y && row.y + row.height <= view.y + view.height && (await told())[1] === "all&select=task 140 of b" &&
        (await changed()).filter(Boolean).length >= 4 && await page.locator("#tasks tr.space").count() === 0, [own, row, view, await told(), await changed()]);
    await page.reload();
    await page.waitForSelector("body[data-ready]");
    check("the address alone selects it", (await told())[0].startsWith("task 140 of b on node ") && await rows("tasks", "selected").count() === 1 && await rows("waits", "selected").count() === 1, await told());
    await rows("tasks", "selected").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const next = (await told())[1];
    await page.keyboard.press("Enter");
    check("arrows and Enter select the next row, once more nothing", next === "all&select=task 141 of b" && (await told())[1] === "all", [next, await told()]);
    await page.locator("#jobs .controls button").last().click();
    check("a job has its rows marked", await page.locator("#jobs button[aria-pressed=true]").count() === 1 && await rows("headline", "selected").count() === 1 && await rows("tasks", "selected").count() === 1, await told());
    await page.locator("#jobs .controls button").last().click();
    await page.goto(page.url().replace(/#.*/, "") + "#all&select=%E0%A4%A");
    check("and a second click clears; a damaged address selects nothing", (await told())[1] === "all" && page.complaints.length === 0, [await told(), page.complaints]);
}

/* Whose traffic links carry: b's, three quarters of each. */
async function byJob(browser) {
    const page = await open(browser, "byjob/report.html", "light", "#jobs"), canvas = page.locator("#jobs canvas.jobs"), paint = () => page.evaluate(() => document.querySelector("#jobs canvas.jobs").toDataURL());
    const at = await canvas.evaluate(element => { /* a quarter of the busiest line from its sender */
        element.scrollIntoView();
        const { scene, view } = element.jobs, { a, b, forth, back } = scene.scene.lines, { x, y } = scene.scene.places, all = forth.flatMap((load, i) => [load, back[i]]), half = all.indexOf(Math.max(...all));
        const [from, to] = half & 1 ? [b[half >> 1], a[half >> 1]] : [a[half >> 1], b[half >> 1]], mix = list => 0.75 * list[from] + 0.25 * list[to];
        return { position: { x: view.x + mix(x) * view.scale, y: view.y + mix(y) * view.scale }, load: all[half] / 1e4 };
    });
    await canvas.hover({ position: at.position });
    const tip = await page.locator(".tip").textContent(), shares = await page.evaluate(load => [load, 0.75 * load, 0.25 * load].map(mars.percent), at.load);
    check("the hint on a link says whose traffic it is", / → /.test(tip) && tip.includes(": " + shares[0]) && tip.indexOf("b: ") > 0 && tip.indexOf("b: ") < tip.indexOf("a: "), [tip, shares]);
    const all = await paint(), names = await page.locator("#jobs .controls button").allTextContents(), blamed = /job (\w+) /.exec(await page.locator(".bottleneck").first().textContent());
    check("the job that the headline blames comes first", blamed && names[0].startsWith(blamed[1] + ","), [names, blamed]);
    await page.locator("#jobs .controls button").last().click();
    check("a job has the links by its load", await paint() !== all && / busy with [ab]$/.test(await page.locator("#jobs .scale").textContent()) && page.complaints.length === 0, page.complaints);
}

/* Rows of jobs are sums of tasks.csv; unfolded, all tasks can be scrolled to, though few rows are elements. */
async function folded(browser) {
    const page = await open(browser, "jobs/report.html", "light", "#tasks"), [head, ...lines] = fs.readFileSync(folder + "/jobs/tasks.csv", "utf8").trim().split("\n").map(line => line.split(","));
    await page.locator("#tasks select").selectOption("sum");
    const at = head.indexOf("bytes_sent"), sum = job => lines.filter(line => line[0] === job).reduce((all, line) => all + Number(line[at]), 0);
    const heads = await page.locator("#tasks th").allTextContents(), cells = await page.locator("#tasks tr.group").evaluateAll(rows => rows.map(row => [...row.cells].map(cell => cell.textContent)));
    const shown = await page.evaluate(([a, b]) => [mars.bytes(a), mars.bytes(b)], [sum("a"), sum("b")]);
    check("there is a row for each job, with the sums of tasks.csv", cells.length === 2 && cells.map(row => row[heads.indexOf("bytes sent")]).join() === shown.join() && /150 tasks$/.test(cells[0][0]) &&
        await page.locator("#tasks tbody tr").count() === 2, [cells, shown]);
    for (const button of [1, 0])
        await page.locator("#tasks .fold").nth(button).click();
    const few = await page.locator("#tasks tbody tr").count();
    await page.locator("#tasks .scroll").evaluate(element => { element.scrollTop = element.scrollHeight; });
    await page.waitForTimeout(100);
    const last = await page.locator("#tasks tbody tr").last().locator("td").allTextContents(), line = lines.filter(one => one[0] === "b").pop();
    check("unfolded, all rows can be scrolled to, and few are elements", few < 150 && last[0] === "149" && last[heads.indexOf("node")] === line[head.indexOf("node")], [few, last, line]);
    await page.goto(page.url().replace(/#.*/, "") + "#gantt");
    const canvas = page.locator("#gantt canvas.gantt"), rowsOf = () => canvas.evaluate(element => element.gantt.rows.length), before = await rowsOf();
    await canvas.hover({ position: { x: 300, y: 15 } });
    const tip = await page.locator(".tip").textContent();
    await canvas.click({ position: { x: 80, y: 15 } });
    check("so are the tasks over time", before === 2 && await rowsOf() === 152 && /^a, 150 tasks\n.*\n(compute|in calls|waiting)/.test(tip), [before, await rowsOf(), tip]);
    const told = await canvas.evaluate(element => {
        const { gantt } = element, { spans, names } = gantt.gantt, wait = spans.to.findIndex((name, i) => names[name] === "waiting" && gantt.of[spans.track[i]] === "a"), track = spans.track[wait];
        return gantt.because(track, wait);
    });
    check("a wait names its call, the partner and the cause", /^\nin MPI_\w+.*\nfor task \d+\nmostly (contention|transfer|late sender)$/.test(told) && page.complaints.length === 0, [told, page.complaints]);
}

async function many(browser) {
    const page = await open(browser, "many/report.html", "light", "#tasks"), rows = page.locator("#tasks tbody tr");
    const folded = await rows.count();
    await page.locator("#find").fill("task 32767 of two");
    await page.keyboard.press("Enter");
    const own = page.locator("#tasks tr.selected"), cells = await own.locator("td").allTextContents(), row = await own.boundingBox(), view = await page.locator("#tasks .scroll").boundingBox();
    check("of 65,536 tasks the last one comes into view, and few are elements", folded === 2 && await rows.count() < 150 && cells[0] === "32767" && row.y >= view.y && row.y + row.height <= view.y + view.height + 1 &&
        page.complaints.length === 0, [folded, await rows.count(), cells, row, view, page.complaints]);
}

/* Four tabs; a zoom in one panel is one in all; jobs on the machine. */
async function tabs(browser) {
    const page = await open(browser, "traced/report.html", "light", ""), seen = () => page.locator("section:visible").evaluateAll(list => list.map(section => section.id));
    const first = await seen(), names = await page.locator(".tabs button").allTextContents();
    check("a page begins with the overview, where the jobs are", names.join() === "Overview,Network,Applications,Time" && first.join() === "headline,simulated,jobs", [names, first]);
    const shown = await page.locator("#jobs .controls button").allTextContents(), painted = () => page.evaluate(() => document.querySelector("#jobs canvas").toDataURL());
    const all = await painted();
    await page.locator("#jobs .controls button").first().click();
    check("jobs have their nodes, and one alone can be shown", shown.length === 1 && /, 32 nodes$/.test(shown[0]) && await page.locator("#jobs button[aria-pressed=true]").count() === 1 &&
        all.length > 1000, shown);
    await page.locator(".tabs button", { hasText: "Time" }).click();
    const time = await seen();
    check("a tab shows its panels, and no others", time.includes("series") && time.includes("objects") && !time.includes("headline"), time);
    const scales = () => page.evaluate(() => [...document.querySelectorAll(".plot")].map(frame => frame.plot).filter(Boolean).map(plot => [plot.scales.x.min, plot.scales.x.max]));
    const [from, to] = (await scales())[0];
    await page.locator("#series .plot").nth(1).focus();
    await page.keyboard.press("+");
    await page.waitForTimeout(50);
    const zoomed = await scales();
    check("a zoom in one plot is one in all", zoomed.length > 3 && zoomed.every(span => span[0] > from && span[1] < to && Math.abs(span[0] - zoomed[0][0]) < 1), zoomed);
    await page.goto(page.url().replace(/#.*$/, "") + "#topology");
    await page.waitForTimeout(50);
    const slider = await page.locator("#topology input[type=range]").evaluate(element => [Number(element.min), Number(element.max)]);
    check("and the machine's slider has its periods only", slider[0] > 0 && slider[1] > slider[0] && page.complaints.length === 0, [slider, page.complaints]);
    await page.locator("#span").click();
    const back = await page.locator("#topology input[type=range]").evaluate(element => Number(element.min)), told = await page.locator("#topology output").textContent();
    check("a button leads back to all times", back === -1 && told === "whole run" && await page.locator("#span").isHidden(), [back, told]);
}

(async () => {
    const browser = await chromium.launch(options);
    await tabs(browser);
    await selection(browser);
    await folded(browser);
    await byJob(browser);
    await many(browser);
    const page = await numbers(browser);
    await zoom(page);
    await machine(page);
    await objects(page);
    await keyboard(page);
    await matrices(browser);
    await cores(browser);
    await loggops(browser);
    await tasks(browser);
    await links(browser);
    await axis(browser);
    await others(browser);
    await browser.close();
})().catch(error => {
    console.log("not ok page " + error.message);
    process.exit(1);
});
