/* colours.js - colours of data. Both sets stay apart for people who do not distinguish red from green.
 *
 * Shares and loads: a grey for what is idle, then colours of the scale "inferno" of matplotlib (CC0), away from the
 * background to full. Kinds: the eight colours of Okabe and Ito.
 */
"use strict";

mars.colours = (function () {
    const light = [[226, 230, 236], [247, 214, 120], [252, 165, 10], [243, 120, 25], [221, 81, 58], [188, 55, 84], [147, 38, 103],
        [106, 23, 110], [66, 10, 104], [22, 11, 57]];
    const dark = [[52, 62, 76], [84, 30, 112], [120, 28, 109], [155, 41, 100], [188, 55, 84], [221, 81, 58], [243, 120, 25], [252, 165, 10],
        [246, 215, 70], [252, 255, 164]];
    const kinds = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c7a00", "#7f7f7f"];
    const bright = ["#3d9be0", "#f0803c", "#19c294", "#dd9bc0", "#f0b429", "#9ad4f5", "#c9b53a", "#b4b4b4"]; /* the same on dark */
    const isDark = () => document.documentElement.dataset.theme === "dark";

    /* 0: nothing, 1: full. */
    function load(share) {
        const list = isDark() ? dark : light, place = Math.max(0, Math.min(1, share)) * (list.length - 1);
        const i = Math.min(list.length - 2, Math.floor(place)), part = place - i;
        const mix = k => Math.round(list[i][k] + (list[i + 1][k] - list[i][k]) * part);
        return "rgb(" + mix(0) + "," + mix(1) + "," + mix(2) + ")";
    }

    /* 0: much less, 0.5: as much, 1: much more. */
    function difference(share) {
        const middle = isDark() ? dark[0] : light[0], end = share < 0.5 ? [0, 114, 178] : [213, 94, 0], part = Math.min(1, 2 * Math.abs(share - 0.5));
        return "rgb(" + middle.map((from, k) => Math.round(from + (end[k] - from) * Math.sqrt(part))).join() + ")";
    }

    function variable(name) {
        return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    }

    /* A strip with what it means at its ends. */
    function scale(from, to, colour = load) {
        const canvas = mars.make("canvas", { width: 160, height: 12, "aria-hidden": "true" });
        mars.drawn(() => {
            const context = canvas.getContext("2d");
            for (let x = 0; x < 160; x++) {
                context.fillStyle = colour(x / 159);
                context.fillRect(x, 0, 1, 12);
            }
        });
        return mars.make("span", { class: "scale" }, from, canvas, to);
    }

    /* For canvases; what has a style takes the mark, which follows the switch between light and dark. */
    const kind = i => (isDark() ? bright : kinds)[i % kinds.length];
    const mark = i => "var(--kind-" + i % kinds.length + ")";
    function marks() {
        kinds.forEach((unused, i) => document.documentElement.style.setProperty("--kind-" + i, kind(i)));
    }

    return { load, difference, kind, mark, marks, variable, scale, dark: isDark };
})();
