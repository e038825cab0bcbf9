/* Puts shapes_base.pt into the program as it is. */
    .section .rodata
    .global evolve_shapes_base_begin
    .global evolve_shapes_base_end
    .balign 16
evolve_shapes_base_begin:
    .incbin "shapes_base.pt"
evolve_shapes_base_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
