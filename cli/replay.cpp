#include "cli/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"

namespace evolve::cli {
namespace {

// The trials that `events` starts, each counted once.
int count_trials(const std::vector<results::Event>& events) {
  int count = 0;
  for (const auto& event : events) {
    if (const auto* started = std::get_if<results::Started>(&event)) {
      count = std::max(count, started->trial + 1);
    }
  }
  return count;
}

class Replayer {
 public:
  /// `trusted`: the trials below this number are taken as they are recorded.
  Replayer(ga::Evolution& evolution, std::string path, int trusted)
      : evolution_(evolution), path_(std::move(path)), trusted_(trusted) {}

  void operator()(const results::Started& started) {
    if (started.trial < evolution_.asked()) {
      at(started.trial);  // in flight when the run was killed, and started again
      return;
    }
    auto trial = started.trial < trusted_ ? evolution_.ask_again(started.hyp) : evolution_.ask();
    if (!trial || trial->number != started.trial) {
      throw contradiction(started.trial, "cannot have started where it did");
    }
    if (trial->hyp != started.hyp) {
      throw contradiction(started.trial,
                          "is bred differently now: the journal is from another version of evolve");
    }
    open_[started.trial] = {.trial = std::move(*trial), .number = 1, .failed_on = {}};
  }

  void operator()(const hyp::Rung& rung) {
    at(rung.trial);
    result_.early_stopping.tell(rung);
  }

  void operator()(const hyp::Outcome& outcome) {
    if (outcome.repeat) {
      if (std::ranges::find(result_.finished, outcome.trial, &Finished::trial) ==
          result_.finished.end()) {
        throw contradiction(outcome.trial, "is trained again, but has not completed");
      }
      result_.repeats.push_back(outcome);
      return;
    }
    auto& attempt = at(outcome.trial);
    if (const auto* failed = std::get_if<hyp::Failed>(&outcome.result)) {
      if (!failed->final) {
        attempt.number = outcome.attempt + 1;
        attempt.failed_on.push_back(outcome.device);
        return;
      }
      if (!result_.first_failure) result_.first_failure = *failed;
    }
    if (const auto* completed = std::get_if<hyp::Completed>(&outcome.result)) {
      result_.finished.push_back({.trial = outcome.trial,
                                  .hyp = attempt.trial.hyp,
                                  .metrics = completed->metrics,
                                  .fitness = completed->fitness});
    }
    evolution_.tell(outcome);
    result_.early_stopping.tell(outcome);
    open_.erase(outcome.trial);
  }

  void operator()(const results::Other& other) {
    if (other.json.value("event", "") != "extended") return;
    if (other.json.contains("repeats")) result_.repeats_wanted = other.json["repeats"].get<int>();
    const auto& trials = other.json.at("trials");
    evolution_.extend(other.json.at("generations").get<int>(),
                      trials.is_null() ? std::nullopt : std::optional(trials.get<int>()));
  }

  Replayed result() {
    for (auto& [number, attempt] : open_) result_.open.push_back(std::move(attempt));
    return std::move(result_);
  }

 private:
  Attempt& at(int trial) {
    const auto it = open_.find(trial);
    if (it == open_.end()) throw contradiction(trial, "is not under way where its event stands");
    return it->second;
  }

  Error contradiction(int trial, const std::string& what) const {
    return bad_input({path_}, fmt::format("trial {} {}", trial, what), "start a new run");
  }

  ga::Evolution& evolution_;
  std::string path_;
  int trusted_;
  std::map<int, Attempt> open_;
  Replayed result_;
};

}  // namespace

Replayed replay(const std::vector<results::Event>& events, ga::Evolution& evolution,
                const std::string& journal_path) {
  Replayer replayer(evolution, journal_path, count_trials(events) - bred_again);
  for (const auto& event : events) std::visit(replayer, event);
  return replayer.result();
}

nlohmann::ordered_json extended_event(const ga::Settings& settings, int repeats) {
  nlohmann::ordered_json trials;
  if (settings.trials) trials = *settings.trials;
  return {{"event", "extended"},
          {"generations", settings.generations},
          {"trials", trials},
          {"repeats", repeats}};
}

}  // namespace evolve::cli
