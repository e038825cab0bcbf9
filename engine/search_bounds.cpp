#include "engine/search_bounds.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "core/error.hpp"
#include "core/number.hpp"

namespace evolve::engine {

ga::Settings search_settings(const results::RunSettings& run) {
  ga::Settings settings{.search = run.search,
                        .seed = run.seed,
                        .population = run.population,
                        .generations = run.generations,
                        .trials = run.trials,
                        .lag = run.lag,
                        .epochs = run.epochs,
                        .max_epochs = run.max_epochs,
                        .pauses = run.early_stop};
  settings.trials = search_trials(settings, run.repeats);
  settings.max_epochs = search_epochs(settings, run.repeats);
  return settings;
}

std::optional<int> search_trials(const ga::Settings& bounds, int repeats) {
  if (repeats == 0) return bounds.trials;
  const auto all = ga::most_trials(bounds);
  if (repeats < all) return static_cast<int>(all - repeats);
  throw bad_argument(fmt::format("--repeats {}: with {} no trial is left for the search", repeats,
                                 core::counted(all, "trial")),
                     "repeat fewer, or give more --trials");
}

std::optional<int> search_epochs(const ga::Settings& bounds, int repeats) {
  if (!bounds.max_epochs) return {};
  const auto left = *bounds.max_epochs - std::int64_t{repeats} * bounds.epochs;
  if (left >= bounds.epochs) return static_cast<int>(left);
  throw bad_argument(fmt::format("--max-epochs {}: too few for one whole training of {}{}",
                                 *bounds.max_epochs, core::counted(bounds.epochs, "epoch"),
                                 repeats > 0 ? " besides " + core::counted(repeats, "repeat") : ""),
                     fmt::format("write {} or more", (std::int64_t{repeats} + 1) * bounds.epochs));
}

bool ends_by_generations(const ga::Settings& search, int repeats) {
  return ga::most_trials(search) + repeats == std::int64_t{search.population} * search.generations;
}

}  // namespace evolve::engine
