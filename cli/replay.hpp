// Resume is replay: the journal's events, asked and told again, rebuild the very state of the run.
#pragma once

#include <string>
#include <vector>

#include "cli/record.hpp"
#include "ga/evolution.hpp"
#include "ga/rungs.hpp"
#include "results/journal.hpp"

namespace evolve::cli {

/// A try at a trial that is to be started.
struct Attempt {
  hyp::Trial trial;
  /// From 1; one more than the attempts that failed.
  int number = 1;
  /// The devices where earlier attempts failed, the last one last.
  std::vector<std::string> failed_on;
};

/// Where a run stands after its journal.
struct Replayed {
  std::vector<Finished> finished;
  /// Trials that were in flight, or wait for another attempt: to be trained before any new one.
  std::vector<Attempt> open;
  /// How attempts at repeats ended.
  std::vector<hyp::Outcome> repeats;
  /// The number of repeats that an extension asked for last.
  std::optional<int> repeats_wanted;
  /// The first trial that failed for good, for the case that none completed.
  std::optional<hyp::Failed> first_failure;
  /// What decides at a rung.
  ga::EarlyStopping early_stopping;
};

/// The latest trials that a replay breeds again, to see that this version still breeds what is
/// recorded. The ones before are taken from the journal: breeding 100,000 of them would take an
/// hour.
inline constexpr int bred_again = 20;

/// Feeds `events` into `evolution`. Throws `Error` when one of the last `bred_again` trials is bred
/// differently from what is recorded (an operator has changed since), when a set lies outside the
/// space, or when the events contradict each other.
Replayed replay(const std::vector<results::Event>& events, ga::Evolution& evolution,
                const std::string& journal_path);

/// The journal's word for a run that goes on with other bounds.
nlohmann::ordered_json extended_event(const ga::Settings& settings, int repeats);

}  // namespace evolve::cli
