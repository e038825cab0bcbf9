/* Puts the known runs into the program as they are. */
    .section .rodata
    .macro known name
    .global evolve_known_\name\()_begin
    .global evolve_known_\name\()_end
evolve_known_\name\()_begin:
    .incbin "\name\().csv"
evolve_known_\name\()_end:
    .byte 0
    .endm

    known adam
    known adamw
    known adam_random
    .section .note.GNU-stack, "", %progbits
