/* Puts shapes_base.pt into the program as it is. */
#include "core/embedded_file.inc"

    embedded_file shapes_base, "shapes_base.pt"
