// The evolution as ask and tell.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyp/space.hpp"
#include "hyp/trial.hpp"

namespace evolve::ga {

struct Settings {
  /// "classic": YOLOv5's operators, repaired.
  std::string search = "classic";
  std::uint64_t seed = 0;
  /// Trials per generation; elites live on besides.
  int population = 50;
  int generations = 300;
  /// Stop after this many trials, whatever the generations say.
  std::optional<int> trials;
  /// Breed trial k from the outcomes of the trials up to k - lag, exactly those. None: from everything told.
  std::optional<int> lag;
};

/// An evaluated set.
struct Individual {
  int trial = 0;
  hyp::Genes genes;
  double fitness = 0;
};

class Evolution {
 public:
  /// Trial 0 is the space's start; `initial` (a population to resume from, or a folder of hyps) follows it,
  /// then random sets fill generation 0.
  Evolution(hyp::Space space, Settings settings, std::vector<hyp::Hyperparameters> initial = {});
  ~Evolution();
  Evolution(Evolution&&) noexcept;
  Evolution& operator=(Evolution&&) noexcept;

  /// The next trial; nothing when all have been handed out, or (with a lag) until more is told.
  std::optional<hyp::Trial> ask();
  /// How a trial ended. A failure that will be tried again (`final == false`) changes nothing.
  void tell(const hyp::Outcome& outcome);

  /// Number of trials that the run has in all.
  int planned() const;
  /// Number of trials handed out so far.
  int asked() const;
  /// Number of trials that have ended.
  int ended() const;
  /// All trials have ended.
  bool done() const;

  /// From the next ask on the run has these bounds (never fewer trials than already asked).
  void extend(int generations, std::optional<int> trials);

  /// The completed trial of greatest fitness (the first one told, among equals), or nothing.
  std::optional<Individual> best() const;
  /// The mating pool: elites, best first, then the latest `population` completed trials.
  std::vector<Individual> population() const;
  const hyp::Space& space() const;
  const Settings& settings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evolve::ga
