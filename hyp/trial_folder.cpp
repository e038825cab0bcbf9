#include "hyp/trial_folder.hpp"

#include <fmt/format.h>

namespace evolve::hyp {

std::string trial_folder(int trial) {
  return fmt::format("trials/{:06}", trial);
}

std::string trial_log(int trial) {
  return trial_folder(trial) + "/log";
}

}  // namespace evolve::hyp
