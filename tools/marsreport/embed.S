/* embed.S - the files of the page, as they lie in page/ and third-party/, inside the program. */
#define EMBED(name, path)                                                                                    \
    .section .rodata; .global rep_##name; .global rep_##name##_end; rep_##name: .incbin path; rep_##name##_end: .byte 0
EMBED(page_html, "tools/marsreport/page/page.html")
EMBED(uplot_css, "tools/marsreport/third-party/uplot/uPlot.min.css")
EMBED(style_css, "tools/marsreport/page/style.css")
EMBED(uplot_js, "tools/marsreport/third-party/uplot/uPlot.iife.min.js")
EMBED(base_js, "tools/marsreport/page/base.js")
EMBED(colours_js, "tools/marsreport/page/colours.js")
EMBED(headline_js, "tools/marsreport/page/headline.js")
EMBED(machine_js, "tools/marsreport/page/machine.js")
EMBED(scene_js, "tools/marsreport/page/scene.js")
EMBED(topology_js, "tools/marsreport/page/topology.js")
EMBED(matrix_js, "tools/marsreport/page/matrix.js")
EMBED(hot_js, "tools/marsreport/page/hot.js")
EMBED(gantt_js, "tools/marsreport/page/gantt.js")
EMBED(parts_js, "tools/marsreport/page/parts.js")
EMBED(series_js, "tools/marsreport/page/series.js")
EMBED(tables_js, "tools/marsreport/page/tables.js")
EMBED(histograms_js, "tools/marsreport/page/histograms.js")
EMBED(main_js, "tools/marsreport/page/main.js")
EMBED(uplot_licence, "tools/marsreport/third-party/uplot/LICENSE")
.section .note.GNU-stack, "", @progbits
