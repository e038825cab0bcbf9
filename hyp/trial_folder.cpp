#include "hyp/trial_folder.hpp"

#include <fmt/format.h>

namespace evolve::hyp {

std::string trial_folder(int trial, int repeat) {
  const auto folder = fmt::format("{}/{:06}", trials_folder, trial);
  if (repeat == 0) return folder;
  return folder + (repeat == 1 ? "/repeat" : fmt::format("/repeat{}", repeat));
}

std::string run_of_trial(const std::string& path) {
  return path.substr(0, path.rfind(fmt::format("/{}/", trials_folder)));
}

std::string trial_log(int trial, int repeat) {
  return trial_folder(trial, repeat) + "/" + log_file;
}

}  // namespace evolve::hyp
