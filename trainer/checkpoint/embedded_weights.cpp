#include "trainer/checkpoint/embedded_weights.hpp"

#include "core/embedded_file.hpp"

EVOLVE_EMBEDDED_FILE(shapes_base)

namespace evolve::trainer {

std::string_view shapes_base_weights() {
  return shapes_base_file();
}

}  // namespace evolve::trainer
