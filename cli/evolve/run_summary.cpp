#include "cli/evolve/run_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/screen/text.hpp"
#include "core/number.hpp"

namespace evolve::cli {

std::string share_done(const engine::RunState& state) {
  const auto& search = state.evolution();
  if (const auto most = state.bounds().max_epochs)
    return fmt::format("{} of {}", state.epochs_trained(), core::counted(*most, "epoch"));
  auto share = state.ended_for_repeats() ? core::counted(search.ended(), "trial")
                                         : fmt::format("{} of {}", search.ended(),
                                                       core::counted(search.planned(), "trial"));
  if (const int repeats = state.repeats().in_all(); search.done() && repeats > 0)
    share += fmt::format(" and {} of {}", state.repeats_ended(), core::counted(repeats, "repeat"));
  return share;
}

std::string failure_summary(const engine::RunState& state, const results::RunDirectory& directory) {
  const auto& first = state.first_failure();
  if (!first) return "";
  const auto& search = state.evolution();
  const auto failed = std::ranges::count_if(state.ended(), [&](int trial) {
    return search.observation(trial)->ending == ga::Observation::Ending::failed;
  });
  return fmt::format("{} of {} failed, the first one with: {}; see {}", failed,
                     core::counted(search.asked(), "trial"), first->message,
                     display_path(directory.root / first->log));
}

std::string failed_repeats(const engine::RunState& state) {
  const auto repeats = state.evolution().ended_repeats();
  std::set<int> trials;
  std::ptrdiff_t failed = 0;
  for (const auto& [trial, observation] : repeats) {
    if (observation.ending != ga::Observation::Ending::failed) continue;
    ++failed;
    trials.insert(trial);
  }
  if (failed == 0) return "";
  return fmt::format("{} of {} failed, of {} {}", failed,
                     core::counted(std::ssize(repeats), "repeat"),
                     trials.size() == 1 ? "trial" : "trials", fmt::join(trials, ", "));
}

std::string repeat_summary(const std::vector<results::Repeat>& repeats) {
  constexpr std::size_t most = 5;
  std::string text = "Trained again with other seeds: ";
  double change = 0, greatest = 0;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const auto& [trial, seed, first, again, metrics] = repeats[i];
    change += (again - first) / static_cast<double>(repeats.size());
    greatest = std::max({greatest, std::abs(first), std::abs(again)});
    if (i == most) text += ", …";
    if (i >= most) continue;
    text += fmt::format("{}trial {} {} → {}", i ? ", " : "", trial, fitness_text(first),
                        fitness_text(again));
  }
  if (std::abs(change) <= 1e-4 * greatest) return text + "; on average no less and no more";
  return text + fmt::format("; on average {} {}", fitness_text(std::abs(change)),
                            change < 0 ? "less" : "more");
}

}  // namespace evolve::cli
