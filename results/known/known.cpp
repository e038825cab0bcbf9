#include "results/known/known.hpp"

#include "core/embedded_file.hpp"

EVOLVE_EMBEDDED_FILE(known_adam)
EVOLVE_EMBEDDED_FILE(known_adamw)
EVOLVE_EMBEDDED_FILE(known_adam_random)

namespace evolve::results {

std::vector<KnownTable> known_tables() {
  return {{"shapes with Adam", known_adam_file()},
          {"shapes with AdamW", known_adamw_file()},
          {"shapes with Adam from random weights", known_adam_random_file()}};
}

}  // namespace evolve::results
