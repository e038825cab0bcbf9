// Loops that become vector instructions.
#pragma once

/// Before a function: one version of it per generation of x86 processors, chosen when the program
/// starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define EVOLVE_VECTOR_LOOP \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EVOLVE_VECTOR_LOOP
#endif
