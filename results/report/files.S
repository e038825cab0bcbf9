/* Puts the parts of report.html into the program as they are. */
#include "core/embedded_file.inc"

    embedded_file report_page, "page.html"
    embedded_file report_style, "style.css"
    embedded_file report_uplot, "uPlot.iife.min.js"
    embedded_file report_uplot_style, "uPlot.min.css"
    embedded_file report_uplot_license, "uPlot.LICENSE"
    embedded_file report_run, "run.js"
    embedded_file report_charts, "charts.js"
    embedded_file report_slots, "slots.js"
    embedded_file report_parallel, "parallel.js"
    embedded_file report_table, "table.js"
    embedded_file report_main, "main.js"
