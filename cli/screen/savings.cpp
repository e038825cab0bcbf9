#include "cli/screen/savings.hpp"

#include <fmt/format.h>

#include "core/number.hpp"

namespace evolve::cli {
namespace {

std::string saved(std::int64_t epochs, std::int64_t trials, int of_each) {
  return fmt::format("saved {} of {}", epochs, core::counted(trials * of_each, "epoch"));
}

const char* is_or_are(std::int64_t count) {
  return count == 1 ? "is" : "are";
}

}  // namespace

std::string savings(const engine::RunState& state) {
  const auto& search = state.evolution();
  const int epochs = search.settings().epochs;
  if (!state.paused().empty()) {
    std::int64_t left = 0;
    for (const auto& [trial, paused] : state.paused()) left += epochs - paused.epoch;
    return fmt::format("{} of {} {} still paused, {} went on after a pause: {}",
                       state.paused().size(), core::counted(search.asked(), "trial"),
                       is_or_are(std::ssize(state.paused())), state.gone_on(),
                       saved(left, search.asked(), epochs));
  }
  const auto& early = state.early_stopping();
  if (early.stopped() == 0) return "";
  return fmt::format("{} of {} stopped early: {}", early.stopped(),
                     core::counted(search.ended(), "trial"),
                     saved(std::int64_t{early.stopped()} * epochs - early.stopped_epochs(),
                           search.ended(), epochs));
}

}  // namespace evolve::cli
