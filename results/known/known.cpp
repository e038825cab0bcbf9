#include "results/known/known.hpp"

#define EVOLVE_KNOWN_RUN(name)                                       \
  extern "C" const char evolve_known_##name##_begin[];               \
  extern "C" const char evolve_known_##name##_end[];                 \
  static std::string_view name##_csv() {                             \
    return {evolve_known_##name##_begin, evolve_known_##name##_end}; \
  }

EVOLVE_KNOWN_RUN(adam)
EVOLVE_KNOWN_RUN(adamw)
EVOLVE_KNOWN_RUN(adam_random)

namespace evolve::results {

std::vector<KnownTable> known_tables() {
  return {{"shapes with Adam", adam_csv()},
          {"shapes with AdamW", adamw_csv()},
          {"shapes with Adam from random weights", adam_random_csv()}};
}

}  // namespace evolve::results
