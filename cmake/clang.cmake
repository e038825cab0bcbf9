# The compiler of the sanitizers' presets: clang, for libFuzzer; its address sanitizer's build serves the fuzzers too.
# 16 is the newest of Debian 12, and the first that takes all of this C++20.
find_program(EVOLVE_CLANG NAMES clang++-16 clang++-17 clang++-18 clang++-19 clang++-20 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER ${EVOLVE_CLANG})
