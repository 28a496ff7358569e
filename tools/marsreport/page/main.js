/* main.js - builds the panels, in the order of their files' names, and the switch between light and dark. */
"use strict";

(function () {
    const { make } = mars;

    function theme(name) {
        document.documentElement.dataset.theme = name;
        mars.colours.marks();
        document.getElementById("theme").textContent = name === "dark" ? "Light" : "Dark";
    }

    function redraw() {
        mars.redraws.forEach(draw => draw());
    }

    function fill(panel, box) {
        if (panel.both) {
            panel.both(box);
            return;
        }
        const pair = make("div", { class: mars.runs.length === 2 ? "pair two" : "" });
        box.append(pair);
        mars.runs.forEach((run, index) => {
            const own = make("div", {});
            if (mars.runs.length === 2)
                own.append(mars.runName(run, index));
            pair.append(own);
            if (panel.network && !mars.hasNetwork(run))
                own.append(make("p", { class: "missing" }, "LogGOPS has no network."));
            else
                panel.build(own, run, index);
        });
    }

    /* Two runs are side by side where their tables have room for that, else one below the other. */
    function settle() {
        const pairs = [...document.querySelectorAll(".pair.two")];
        pairs.forEach(pair => pair.classList.remove("stacked"));
        const tight = pairs.filter(pair => [...pair.querySelectorAll("table, .scroll")].some(element =>
            element.scrollWidth > element.clientWidth + 1 || element.offsetWidth > element.parentElement.clientWidth + 1));
        tight.forEach(pair => pair.classList.add("stacked"));
        return tight.some(pair => pair.querySelector("canvas"));
    }

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
    /* On paper everything is light. */
    let before = null;
    addEventListener("beforeprint", () => {
        before = document.documentElement.dataset.theme;
        theme("light");
        redraw();
    });
    addEventListener("afterprint", () => {
        theme(before);
        redraw();
    });
    document.getElementById("print").addEventListener("click", () => print());

    const title = mars.runs.map(run => run.name).join(" and ");
    document.title = title + " – marssim";
    document.querySelector("header h1").textContent = title;
    document.querySelector("header h1").title = title;
    const notes = document.getElementById("notes"), nav = document.querySelector("nav"), main = document.getElementById("panels");
    mars.runs.forEach(run => (run.notes || []).forEach(note => notes.append(make("p", {}, mars.runs.length === 2 ? run.name + ": " + note : note))));
    const absent = make("div", { id: "absent", class: "absent" }); /* panels without data: last, and small */
    /* Narrow panels that follow each other are in two columns: the next one in the shorter of them. */
    function shorter() {
        if (!main.lastElementChild || !main.lastElementChild.classList.contains("half"))
            main.append(make("div", { class: "half" }, make("div", {}), make("div", {})));
        const [left, right] = main.lastElementChild.children;
        return left.offsetHeight <= right.offsetHeight ? left : right;
    }
    for (const panel of mars.panels.filter(panel => (!panel.wanted || panel.wanted()) && (!panel.network || mars.runs.some(mars.hasNetwork)))) {
        const section = make("section", { id: panel.id, class: panel.wide || mars.runs.length === 2 ? "wide" : null, "aria-labelledby": panel.id + "-title" },
            make("h2", { id: panel.id + "-title" }, panel.title));
        (section.classList.contains("wide") ? main : shorter()).append(section);
        try { /* one panel that fails leaves the others */
            fill(panel, section);
        } catch (error) {
            reportError(error);
        }
        if (section.querySelectorAll(".missing").length === mars.runs.length && !section.querySelector("canvas, table, details"))
            absent.append(section);
        else
            nav.append(make("a", { href: "#" + panel.id }, panel.title));
    }
    main.querySelectorAll(".half").forEach(half => half.querySelector("section") || half.remove());
    if (absent.children.length) {
        if (mars.runs.some(run => run.partial))
            absent.prepend(make("p", { class: "hint" }, "Of a run that has not ended: what is no series is written at its end, whatever the keys say."));
        main.append(absent);
        nav.append(make("a", { href: "#absent" }, "Not collected"));
    }

    let width = innerWidth, timer = 0;
    addEventListener("resize", () => {
        clearTimeout(timer);
        if (innerWidth !== width)
            timer = setTimeout(() => {
                width = innerWidth;
                settle();
                redraw();
            }, 120);
    });
    if (settle())
        redraw();
    document.body.dataset.ready = "yes";
})();
