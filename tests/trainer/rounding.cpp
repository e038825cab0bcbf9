#include "tests/trainer/rounding.hpp"

#include <torch/torch.h>

#include <algorithm>

#include "tests/trainer/golden.hpp"
#include "tests/trainer/threads.hpp"
#include "trainer/checkpoint/state_dict.hpp"

namespace evolve::test {
namespace {

using trainer::Detector;
using trainer::Operators;

/// Multiplies every number by 1 plus or minus a millionth; `variant` 0 changes nothing.
void change(torch::Tensor tensor, int variant) {
  if (variant == 0 || !tensor.is_floating_point()) return;
  tensor.mul_(1 + 1e-6 * (2 * torch::rand(tensor.sizes()) - 1));
}

std::vector<double> errors(const Computation& computation, Operators operators, int variant) {
  const Threads one(1);
  const auto results = [&](torch::ScalarType type) {
    torch::manual_seed(static_cast<std::uint64_t>(variant));
    Detector detector = computation.model();
    auto images = computation.images.clone();
    change(images, variant);
    for (auto& [name, tensor] : trainer::state_dict(detector)) change(tensor, variant);
    detector.to(type);
    detector.use(operators);
    return computation.of(detector, images.to(type));
  };
  const auto exact = results(torch::kDouble), rounded = results(torch::kFloat);
  std::vector<double> errors;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    errors.push_back(relative_error(rounded[i], exact[i]));
  }
  return errors;
}

}  // namespace

std::vector<double> rounding_errors(const Computation& computation, Operators operators) {
  return errors(computation, operators, 0);
}

std::vector<double> rounding_scale(const Computation& computation) {
  std::vector<double> greatest = errors(computation, Operators::plain, 0);
  for (int variant = 1; variant <= 8; ++variant) {
    const auto other = errors(computation, Operators::plain, variant);
    for (std::size_t i = 0; i < greatest.size(); ++i) {
      greatest[i] = std::max(greatest[i], other[i]);
    }
  }
  return greatest;
}

}  // namespace evolve::test
