/* lib-page.js - what tests of pages in a browser share: node TEST.js BROWSER FOLDER prints lines "ok" and "not ok". */
"use strict";
const { chromium } = require("playwright-core");

const options = { executablePath: process.argv[2], args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"] };
let number = 0;

function check(name, right, why) {
    number++;
    console.log((right ? "ok " : "not ok ") + "page-" + number + " " + name + (right ? "" : ": " + JSON.stringify(why)));
}

/* tab: "#all" or that of a panel; "": as a reader finds it. */
const opener = folder => async function (browser, path, theme, tab = "#all", width = 1280) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme || "light" });
    page.complaints = [];
    page.on("console", message => message.type() === "error" && page.complaints.push(message.text()));
    page.on("pageerror", error => page.complaints.push(error.message));
    page.on("dialog", dialog => page.complaints.push("dialog " + dialog.message()) && dialog.dismiss());
    const begun = Date.now();
    await page.goto("file://" + folder + "/" + path + tab);
    await page.waitForSelector("body[data-ready]", { timeout: 30000 }).catch(() => page.complaints.push("it never became ready"));
    page.tookMs = Date.now() - begun;
    return page;
};

/* Panels of which something must be scrolled sideways. */
function sidewaysNow() {
    return [...document.querySelectorAll(".scroll, .controls, .figure, section")]
        .filter(element => element.scrollWidth > element.clientWidth + 1).map(element => element.closest("section").id);
}

module.exports = { chromium, check, opener, sidewaysNow, options };
