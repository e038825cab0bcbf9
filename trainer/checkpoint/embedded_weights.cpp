#include "trainer/checkpoint/embedded_weights.hpp"

#include <cstddef>

extern "C" const char evolve_shapes_base_begin[];
extern "C" const char evolve_shapes_base_end[];

namespace evolve::trainer {

std::string_view shapes_base_weights() {
  return {evolve_shapes_base_begin,
          static_cast<std::size_t>(evolve_shapes_base_end - evolve_shapes_base_begin)};
}

}  // namespace evolve::trainer
