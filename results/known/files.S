/* Puts the known runs into the program as they are. */
#include "core/embedded_file.inc"

    embedded_file known_adam, "adam.csv"
    embedded_file known_adamw, "adamw.csv"
    embedded_file known_adam_random, "adam_random.csv"
