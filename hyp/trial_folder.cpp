#include "hyp/trial_folder.hpp"

#include <fmt/format.h>

namespace evolve::hyp {

std::string trial_folder(int trial, bool repeat) {
  return fmt::format("trials/{:06}{}", trial, repeat ? "/repeat" : "");
}

std::string trial_log(int trial, bool repeat) {
  return trial_folder(trial, repeat) + "/log";
}

}  // namespace evolve::hyp
