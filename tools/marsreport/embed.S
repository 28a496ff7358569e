/* embed.S - the page, as marsreport.mk puts it together, inside the program. PAGE: where it lies. */
    .section .rodata
    .global rep_page
rep_page:
    .incbin PAGE
    .byte 0
    .section .note.GNU-stack, "", @progbits
