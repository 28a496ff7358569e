/* main.js - builds the panels, in the order of their files' names, and the switch between light and dark. */
"use strict";

(function () {
    const { make } = mars;

    function theme(name) {
        document.documentElement.dataset.theme = name;
        mars.colours.marks();
        document.getElementById("theme").textContent = name === "dark" ? "Light" : "Dark";
    }

    /* What is hidden has no width, and is drawn when it is shown. */
    function redraw() {
        all.forEach(tab => tab.box.hidden ? tab.stale = true : tab.redraws.forEach(draw => draw()));
    }
    mars.reselect = () => all.forEach(tab => tab.box.hidden ? tab.unpicked = true : tab.picks.forEach(follow => follow()));

    function fill(panel, box) {
        if (panel.all)
            panel.all(box);
        else
            mars.eachRun(box, (own, run, index) => {
                if (panel.network && !mars.hasNetwork(run))
                    own.append(make("p", { class: "missing" }, "LogGOPS has no network."));
                else
                    panel.build(own, run, index);
                own.append(panel.sums && !own.querySelector(".missing") ? mars.estimated(run) : "");
            });
    }

    /* Runs are side by side, as many as their tables have room for, the others below. Has anything drawn another width now? */
    const room = () => Math.min(mars.runs.length, Math.max(1, Math.floor(main.clientWidth / 440)));
    const across = (side, columns) => side.style.setProperty("--across", columns), acrossOf = side => side.style.getPropertyValue("--across");
    function settle() {
        const sides = [...document.querySelectorAll(".runs")], before = sides.map(acrossOf);
        const tight = side => [...side.querySelectorAll("table, .scroll")].some(element =>
            element.scrollWidth > element.clientWidth + 1 || element.offsetWidth > element.parentElement.clientWidth + 1);
        for (let columns = room(), left = sides; columns > 0 && left.length; columns--, left = left.filter(tight))
            left.forEach(side => across(side, columns));
        return sides.some((side, i) => acrossOf(side) !== before[i] && side.querySelector("canvas"));
    }

    /* A box for each run, with its name where there are several. */
    mars.eachRun = function (box, build) {
        const side = make("div", { class: mars.several ? "runs" : "" });
        across(side, room());
        box.append(side);
        mars.runs.forEach((run, index) => {
            const own = make("div", {}, mars.several ? mars.runName(run, index) : null);
            side.append(own);
            build(own, run, index);
        });
    };

    mars.runName = function (run, index) {
        const name = make("div", { class: "runname" }, run.name);
        name.style.setProperty("--run", mars.colours.mark(index));
        return name;
    };

    const system = matchMedia("(prefers-color-scheme: dark)");
    theme(system.matches ? "dark" : "light");
    system.addEventListener("change", event => {
        theme(event.matches ? "dark" : "light");
        redraw();
    });
    document.getElementById("theme").addEventListener("click", () => {
        theme(mars.colours.dark() ? "light" : "dark");
        redraw();
    });
    /* On paper everything is light, and all tabs are there. */
    let before = null;
    addEventListener("beforeprint", () => {
        before = [document.documentElement.dataset.theme, shown];
        theme("light");
        redraw();
        show();
    });
    addEventListener("afterprint", () => {
        theme(before[0]);
        redraw();
        show(before[1]);
    });
    document.getElementById("print").addEventListener("click", () => print());

    const title = mars.sweep ? "Sweep " + mars.sweep.sweep.folder.replace(/\/+$/, "").replace(/.*\//, "") : mars.runs.map(run => run.name).join(mars.runs.length > 2 ? ", " : " and ");
    document.title = title + " – marssim";
    document.querySelector("header h1").textContent = title;
    document.querySelector("header h1").title = title;
    const notes = document.getElementById("notes"), [tabs, nav] = document.querySelectorAll("nav"), main = document.getElementById("panels");
    mars.runs.forEach(run => (run.notes || []).forEach(note => notes.append(make("p", {}, mars.several ? run.name + ": " + note : note))));

    (mars.sweep ? mars.sweep.sweep.notes : []).forEach(note => notes.append(make("p", {}, note)));

    /* Narrow panels that follow each other are in two columns: the next one in the shorter of them. */
    function shorter(box) {
        if (!box.lastElementChild || !box.lastElementChild.classList.contains("half"))
            box.append(make("div", { class: "half" }, make("div", {}), make("div", {})));
        const [left, right] = box.lastElementChild.children;
        return left.offsetHeight <= right.offsetHeight ? left : right;
    }

    /* Panels of one tab; those without data are last, and small. */
    class Tab {
        constructor(name, title) {
            this.panels = mars.panels.filter(panel => !panel.sweep === !mars.sweep && (panel.tab || "overview") === name && (!panel.wanted || panel.wanted()) && (!panel.network || mars.runs.some(mars.hasNetwork)));
            this.box = make("div", { class: "tab", id: "tab-" + name, role: "tabpanel", "aria-label": title });
            this.button = make("button", { type: "button", role: "tab", "aria-controls": "tab-" + name, onclick: () => {
                history.replaceState(null, "", "#" + this.box.id);
                show(this);
                mars.selectByAddress();
            } }, title);
            this.links = [];
            this.redraws = [], this.picks = [];
        }

        build() {
            const absent = make("div", { class: "absent" });
            mars.redraws = this.redraws, mars.picks = this.picks;
            for (const panel of this.panels) {
                const section = make("section", { id: panel.id, class: panel.wide || mars.several ? "wide" : null, "aria-labelledby": panel.id + "-title" },
                    make("h2", { id: panel.id + "-title" }, panel.title));
                (section.classList.contains("wide") ? this.box : shorter(this.box)).append(section);
                try { /* one panel that fails leaves the others */
                    fill(panel, section);
                } catch (error) {
                    reportError(error);
                }
                if (mars.runs.length && section.querySelectorAll(".missing").length === mars.runs.length && !section.querySelector("canvas, table, details"))
                    absent.append(section);
                else
                    this.links.push(make("a", { href: "#" + panel.id }, panel.title));
            }
            this.box.querySelectorAll(".half").forEach(half => half.querySelector("section") || half.remove());
            if (!absent.children.length)
                return;
            if (mars.runs.some(run => run.partial))
                absent.prepend(make("p", { class: "hint" }, "Of a run that has not ended: what is no series is written at its end, whatever the keys say."));
            this.box.append(absent);
            absent.id = this.box.id + "-absent";
            this.links.push(make("a", { href: "#" + absent.id }, "Not collected"));
        }

        set(visible) {
            this.box.hidden = !visible;
            this.button.setAttribute("aria-selected", visible);
            if (!visible)
                return;
            if (!this.built)
                this.build();
            if (settle() || this.stale)
                this.redraws.forEach(draw => draw());
            if (this.unpicked || (!this.built && mars.runs.some(mars.picked)))
                this.picks.forEach(follow => follow());
            this.built = true, this.stale = this.unpicked = false;
        }
    }

    const all = [["overview", "Overview"], ["network", "Network"], ["applications", "Applications"], ["time", "Time"]].map(tab => new Tab(...tab)).filter(tab => tab.panels.length);
    main.append(...all.map(tab => tab.box));
    tabs.append(...all.map(tab => tab.button));
    tabs.hidden = all.length === 1;
    document.getElementById("find").hidden = Boolean(mars.sweep);

    /* One tab, or (undefined) all below each other. */
    let shown;
    function show(one) {
        shown = one;
        all.forEach(tab => tab.set(!one || tab === one));
        nav.replaceChildren(...all.filter(tab => !one || tab === one).flatMap(tab => tab.links));
    }

    /* #ID: to that panel or tab; #all: every tab; and &select=WORDS. */
    function follow() {
        const id = mars.decoded(location.hash.slice(1).split("&")[0]), tab = all.find(tab => tab.box.id === id || tab.box.id + "-absent" === id || tab.panels.some(panel => panel.id === id));
        mars.selectByAddress();
        show(id === "all" ? undefined : tab || (location.hash && shown) || all[0]);
        if (document.getElementById(id))
            document.getElementById(id).scrollIntoView();
    }
    addEventListener("hashchange", follow);
    follow();

    /* The span that is in view, and the way back. */
    const span = document.getElementById("span");
    mars.runs.forEach((run, index) => mars.axis("run" + index).listen((from, to) => {
        span.hidden = from === null;
        span.textContent = from === null ? "" : mars.time(Math.round(from)) + " to " + mars.time(Math.round(to)) + " ✕";
    }));
    span.addEventListener("click", () => Object.values(mars.axes).forEach(axis => axis.set(null, null)));

    let width = innerWidth, timer = 0;
    addEventListener("resize", () => {
        clearTimeout(timer);
        if (innerWidth !== width)
            timer = setTimeout(() => {
                width = innerWidth;
                all.forEach(tab => { tab.stale = true; });
                show(shown);
            }, 120);
    });
    document.body.dataset.ready = "yes";
})();
