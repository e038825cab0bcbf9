/* Puts the parts of report.html into the program as they are. */
    .section .rodata
    .macro part name, file
    .global evolve_report_\name\()_begin
    .global evolve_report_\name\()_end
evolve_report_\name\()_begin:
    .incbin "\file"
evolve_report_\name\()_end:
    .byte 0
    .endm

    part page, "page.html"
    part style, "style.css"
    part uplot, "uPlot.iife.min.js"
    part uplot_style, "uPlot.min.css"
    part uplot_license, "uPlot.LICENSE"
    part run, "run.js"
    part charts, "charts.js"
    part slots, "slots.js"
    part parallel, "parallel.js"
    part table, "table.js"
    part main, "main.js"
    .section .note.GNU-stack, "", %progbits
