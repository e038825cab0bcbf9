// The evolution as ask and tell.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ga/classic/mating_pool.hpp"
#include "ga/model/earlier.hpp"
#include "ga/recommendation.hpp"
#include "hyp/outcome.hpp"
#include "hyp/rung.hpp"
#include "hyp/space.hpp"
#include "hyp/trial.hpp"

namespace evolve::ga {

struct EvolutionState;

struct Settings {
  /// "screened": children that a Gaussian process looks at before one is trained
  /// (ga/screened/screened.hpp). "classic": YOLOv5's operators, repaired (ga/classic/classic.hpp).
  std::string search = "screened";
  std::uint64_t seed = 0;
  /// Trials per generation; elites live on besides. In the classic search also the number of latest
  /// trials that may be parents.
  int population = 50;
  int generations = 300;
  /// Stop after this many trials, where the generations have more. The schedules run over the
  /// generations all the same: a short run had better explore than settle early.
  std::optional<int> trials = {};
  /// Breed trial k from the outcomes of the trials up to k - lag, exactly those. None: from
  /// everything told.
  std::optional<int> lag = {};
  /// Epochs of one training.
  int epochs = 1;
  /// Ask for nothing that could make all trainings together more epochs than that.
  std::optional<int> max_epochs = {};
  /// In the screened search: trainings are paused at rungs, and go on when that is worth most
  /// (ga/epochs/freeze_thaw.hpp). Not where `trials` alone bounds a run: sets are what is counted
  /// there.
  bool pauses = true;
};

/// Trials at most: those of all generations, or fewer.
std::int64_t most_trials(const Settings& settings);

/// At most `trainings`, and no more than the whole ones that the search's epochs make.
int at_most_whole(int trainings, const Settings& settings);

/// Whether a training that follows `before` others belongs to the last ones of a search of `all`,
/// those that decide between the sets that may be the best (see Evolution).
bool among_the_last(std::int64_t before, std::int64_t all);

/// How many generations `trials` trials are.
int generations_of(int trials, int population);

/// `generations`, or as many generations as `trials` trials are where that is more.
int generations_for(int trials, int population, int generations);

/// A steady-state genetic algorithm: every ask breeds one child from what is known at that moment,
/// so no generation ever waits for its last trial.
///
/// - Trial 0 is the space's start, then come the initial sets.
/// - Classic: then random sets until a generation is full. Every later trial is bred from a mating
///   pool: the best of all completed trials, with the fitness they have, and the latest
///   `population` completed ones. As long as nothing has completed it is random.
/// - Screened, with earlier runs: then the sets that these recommend; as soon as three trials have
///   ended (where trainings are paused: nine have begun, where they could be five), every later
///   trial is bred from all that is known.
/// - Screened: then Sobol points up to trial 4, and on until three trials have completed; where
///   trainings are paused up to trial 8, or 4 while no look tells anything, and on until one has
///   completed. Once a trial had less than half of the start's fitness, or failed where the
///   start did not, variations of the start instead. Every later trial is bred from all that is
///   known, and from what is in flight.
/// - A trial that failed or was stopped, or whose fitness is not finite, is not a parent and never
///   the best.
/// - No set is handed out twice while the space has another, but for the start, and in the last
///   fifth of a run (from trial 45 on, its last 50 trials at most) those sets that may be the best:
///   where trainings are luck in part, another training of one of them says more than another
///   set.
/// - Where trainings are paused, an ask may give a trial once more: it goes on. What one ask gave
///   and how that ended is a step; the lag counts steps, and a step knows all that the rungs of the
///   steps before it have shown.
///
/// Without a lag, what is known is everything told so far, in the order of the tells: replaying the
/// asks and tells of a run in their order gives the same trials again. With lag N, trial k knows
/// the outcomes of the trials 0 … k-N and no others, in the order of their numbers, and `ask` waits
/// for them: the same trials, and after the search the same repeats, then come out whatever the
/// order in which they end, with 1 … N of them in flight.
class Evolution {
 public:
  /// `initial` (a population to resume from, or a folder of hyps) is clamped to the bounds; sets
  /// that repeat another are left out. Throws `Error` when a setting is out of range, when a
  /// gene's bounds or start make no sense, two have one name, or none evolves, or when an initial
  /// set has a text that is not a choice of its gene.
  /// `earlier`: what earlier runs trained, for the screened search.
  Evolution(hyp::Space space, Settings settings,
            const std::vector<hyp::Hyperparameters>& initial = {},
            std::span<const EarlierRun> earlier = {});
  ~Evolution();
  Evolution(Evolution&&) noexcept;
  Evolution& operator=(Evolution&&) noexcept;

  /// The next trial; nothing when all have been handed out, or (with a lag) until more is told.
  std::optional<hyp::Trial> ask();
  /// The next trials, `most` at the most, all from what is known now: where no lag says otherwise
  /// one model serves several (ga/screened/screened.hpp). Without a lag, and where trainings are
  /// not paused, the same outcomes and the same number of trials give the same trials again.
  std::vector<hyp::Trial> ask(int most);
  /// Whether `ask` would give one.
  bool can_ask() const;
  /// What `ask` gives, without the work of breeding: the set of the next trial, and where it is
  /// paused, are known from an earlier life of this run. A value outside its bounds is clamped;
  /// throws `Error` for a text that is not a choice of its gene.
  std::optional<hyp::Trial> ask_again(const hyp::Hyperparameters& hyp, int pause_epoch = 0);
  /// What `ask` gives where a paused trial goes on, as an earlier life of this run had it; throws
  /// `Error` when the trial is not paused.
  std::optional<hyp::Trial> ask_again(int trial, int pause_epoch);
  /// What a training had at a rung. A fitness that is not finite says nothing: where it was to be
  /// paused there, it goes on to its end, if that many epochs are left.
  void tell(const hyp::Rung& rung);
  /// A further attempt at a trial that has not ended: `anew` one that was paused is trained from
  /// the beginning, which takes the epochs that it had been trained for once more.
  /// Throws std::out_of_range for a trial that was not handed out.
  void begin_again(int trial, bool anew);
  /// From now on nothing is paused: the trainer cannot. What is under way is trained to its end.
  void cannot_pause();
  /// From now on the search is taken to end after so many trainings (as begun() counts them), where
  /// its settings have more; nothing: no longer. So the last ones can decide between the best sets.
  void expect(std::optional<int> trainings);
  const std::optional<int>& expected() const;
  /// How a trial ended, or a repeat of a trial that has completed: nothing is bred from a repeat,
  /// but the model knows it. Of a failure that will be tried again (`final == false`) the epochs
  /// count, and nothing else. Throws `Error` for a trial that was not asked for or has ended
  /// already, and for a repeat that is not under way.
  void tell(const hyp::Outcome& outcome);

  /// When the search is done: the completed trial to train once more, with another seed (see
  /// trial_to_repeat). The same one until it has begun. With lag N repeat r, in the order in which
  /// they begin, is chosen from the ends of all trials and of the repeats up to r - N, exactly
  /// those, and the later ones are taken to be under way; where that leaves none to choose, from as
  /// many more of their ends, in that order, as it takes. Nothing while one of these has not
  /// ended, and where no trial can be chosen.
  std::optional<hyp::Trial> next_repeat() const;
  /// The repeat of next_repeat(), or with the number that it had in an earlier life of this run any
  /// other, is under way from now on. With a lag a search that goes on waits for all repeats that
  /// began before. Throws `Error` for a trial that has not ended and a number below 1.
  hyp::Trial begin_repeat(int trial, int number);

  /// The set of a trial that was handed out, as genes and as its trainer gets it, and what was told
  /// of its end. Throws std::out_of_range for another number.
  const hyp::Genes& genes(int trial) const;
  hyp::Hyperparameters hyp(int trial) const;
  const std::optional<Observation>& observation(int trial) const;
  /// The fitness that was told of it before its end, by epochs.
  const std::map<int, double>& rungs(int trial) const;
  /// The epoch up to which it is trained, or was last: where it is to be paused, else its last one.
  /// Throws std::out_of_range as the above do.
  int last_epoch(int trial) const;
  /// The trials of the repeats that have ended, and what was told of these ends, in the order in
  /// which the repeats began.
  std::vector<std::pair<int, Observation>> ended_repeats() const;

  /// Every trial may depend on all that is known; else it is YOLOv5's search.
  bool screened() const;
  /// Number of trials that the run has in all.
  int planned() const;
  /// Trainings that it has begun: trials, or where trainings are paused as many whole ones as their
  /// epochs make.
  int begun() const;
  /// Number of trials handed out so far.
  int asked() const;
  /// Number of trials that have ended.
  int ended() const;
  /// Nothing is under way, and there is nothing more to ask for.
  bool done() const;
  /// Whether trainings are paused.
  bool pausing() const;
  /// Whether a paused trial will never go on: too many that looked better were paused.
  bool given_up(int trial) const;
  /// Epochs that are left of `max_epochs` when all that was asked for has been trained.
  int epochs_left() const;

  /// From the next ask on the run has these bounds (never fewer trials than already asked), and the
  /// schedules stretch to them. Throws `Error` when one is below 1.
  void extend(int generations, std::optional<int> trials, std::optional<int> max_epochs = {});

  /// The completed trial of greatest fitness (the first one told, among equals), or nothing.
  const std::optional<Individual>& best() const;
  /// Which set to use, and what to expect of it, from all that was told; nothing without a model:
  /// in the classic search, and until three trials have completed. Not for two threads at a time:
  /// what the model makes of it is kept for the next call.
  std::optional<Standing> standing() const;
  /// The mating pool as of now: elites, best first, then the latest completed trials that are not
  /// among them, the latest last. With a lag it includes what trials still to be asked for may not
  /// know yet.
  std::vector<Individual> population() const;
  const hyp::Space& space() const;
  const Settings& settings() const;

 private:
  bool can_ask_again();

  std::unique_ptr<EvolutionState> state_;
};

}  // namespace evolve::ga
