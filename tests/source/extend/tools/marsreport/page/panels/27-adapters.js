/* What each adapter sent, by the first rows of links.csv. */
"use strict";

mars.panel({
    id: "adapters", network: true, title: "Adapters",
    tables: { links: 1000 },
    build(box, run) {
        if (run.links)
            mars.wholeTable(box, run.links, "links.csv", "bytes");
        else
            box.append(mars.missing("There is no table of links.", "output.links = true"));
    },
});
