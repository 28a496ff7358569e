/* colours.js - colours of data. Both sets stay apart for people who do not tell red from green.
 *
 * Shares and loads: the scale "inferno" of matplotlib (CC0), by eleven of its colours, from idle (near the background)
 * to full. Kinds: the eight colours of Okabe and Ito.
 */
"use strict";

mars.colours = (function () {
    const inferno = [[0, 0, 4], [22, 11, 57], [66, 10, 104], [106, 23, 110], [147, 38, 103], [188, 55, 84],
        [221, 81, 58], [243, 120, 25], [252, 165, 10], [246, 215, 70], [252, 255, 164]];
    const kinds = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c7a00", "#7f7f7f"];
    const dark = () => document.documentElement.dataset.theme === "dark";

    /* 0: nothing, 1: full. The ends of inferno nearest to the background are left out. */
    function load(share) {
        const at = Math.max(0, Math.min(1, share)), place = dark() ? 0.14 + 0.84 * at : 0.93 - 0.9 * at;
        const i = Math.min(9, Math.floor(place * 10)), part = place * 10 - i;
        const mix = k => Math.round(inferno[i][k] + (inferno[i + 1][k] - inferno[i][k]) * part);
        return "rgb(" + mix(0) + "," + mix(1) + "," + mix(2) + ")";
    }

    function variable(name) {
        return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    }

    /* A strip with what it means at its ends. */
    function scale(from, to) {
        const canvas = mars.make("canvas", { width: 160, height: 12, "aria-hidden": "true" });
        mars.drawn(() => {
            const context = canvas.getContext("2d");
            for (let x = 0; x < 160; x++) {
                context.fillStyle = load(x / 159);
                context.fillRect(x, 0, 1, 12);
            }
        });
        return mars.make("span", { class: "scale" }, from, canvas, to);
    }

    return { load, kind: i => kinds[i % kinds.length], variable, scale, dark };
})();
