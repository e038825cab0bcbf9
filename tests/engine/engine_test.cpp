// The engine as a library: a whole evolution driven by another program.

#include "engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "results/evolve_csv.hpp"
#include "tests/refusal.hpp"
#include "tests/results/folder.hpp"

namespace evolve::engine {
namespace {

Settings settings(std::uint64_t seed, int trials, const std::string& options = "") {
  Settings settings{.run = {.seed = seed,
                            .search = "classic",
                            .population = 8,
                            .generations = 10,
                            .trials = trials,
                            .slots = {"npu:0", "npu:1"},
                            .space = hyp::default_space()}};
  settings.slots = {{.name = "npu:0"}, {.name = "npu:1"}};
  settings.workers = {.command = {FAKE_TRAINER_BINARY}};
  if (!options.empty())
    settings.workers.command.push_back("--faults"), settings.workers.command.push_back(options);
  return settings;
}

struct Counter : Observer {
  void on_event(const results::Event& event, const RunState& state) override {
    thread = std::this_thread::get_id();
    if (const auto* outcome = std::get_if<hyp::Outcome>(&event))
      completed += std::holds_alternative<hyp::Completed>(outcome->result);
    last_completed = static_cast<int>(state.completed().size());
  }
  void on_progress(const RunState&, const std::vector<workers::Progress>&) override { ++looks; }

  int completed = 0, last_completed = 0, looks = 0;
  std::thread::id thread;
};

/// Asks for a stop once so many trials have completed.
struct Stopper : Counter {
  explicit Stopper(int trials) : trials_(trials) {}
  void on_event(const results::Event& event, const RunState& state) override {
    Counter::on_event(event, state);
    if (completed == trials_) stop.request(77);
  }
  core::StopSource stop;

 private:
  int trials_;
};

RunEnd evolve(const Settings& settings, const std::filesystem::path& folder, Counter& counter,
              const core::StopSource& stop) {
  return begin_run(settings, results::create_run_at(folder), stop, counter)->run();
}

TEST(Engine, BeginsNoRunWithoutATrainerOrASlot) {
  const results::Folder folder;
  const core::StopSource stop;
  Counter counter;
  auto no_trainer = settings(1, 12), no_slot = settings(1, 12);
  no_trainer.workers.command.clear();
  no_slot.slots.clear();
  const auto refused = [&](const Settings& settings) {
    return test::refusal([&] { evolve(settings, folder / "run", counter, stop); });
  };
  EXPECT_EQ(refused(no_trainer), "there is no trainer; name its program");
  EXPECT_EQ(refused(no_slot), "there is no slot; give the run one at least");
}

TEST(Engine, RunsAWholeEvolutionForAnotherProgram) {
  const results::Folder folder;
  const core::StopSource stop;
  Counter counter;
  EXPECT_EQ(evolve(settings(1, 12), folder / "run", counter, stop), RunEnd::finished);
  EXPECT_EQ(counter.completed, 12);
  EXPECT_EQ(counter.last_completed, 12);
  EXPECT_GT(counter.looks, 0);
  EXPECT_EQ(results::read_table(folder / "run/evolve.csv").rows.size(), 12U);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/hyp_evolved.yaml"));
}

TEST(Engine, LeavesAWholeEvolveCsvAlsoWhereSomebodyMovedItAwayMeanwhile) {
  const results::Folder folder;
  const core::StopSource stop;
  struct Mover : Counter {
    void on_event(const results::Event& event, const RunState& state) override {
      Counter::on_event(event, state);
      if (completed == 5) std::filesystem::remove(csv);
    }
    std::filesystem::path csv;
  } mover;
  mover.csv = folder / "run/evolve.csv";
  EXPECT_EQ(evolve(settings(1, 12), folder / "run", mover, stop), RunEnd::finished);
  EXPECT_EQ(results::read_table(mover.csv).rows.size(), 12U);
}

TEST(Engine, InstallsNoSignalHandler) {
  const results::Folder folder;
  const core::StopSource stop;
  struct Looker : Counter {
    void on_progress(const RunState&, const std::vector<workers::Progress>&) override {
      for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP}) {
        struct sigaction action {};
        ::sigaction(signal, nullptr, &action);
        if (action.sa_handler != SIG_DFL) changed.insert(signal);
      }
    }
    std::set<int> changed;
  } looker;
  evolve(settings(1, 6), folder / "run", looker, stop);
  EXPECT_THAT(looker.changed, testing::IsEmpty());
}

TEST(Engine, RunsTwiceInOneProcessAtTheSameTime) {
  const results::Folder folder;
  const core::StopSource stop;
  std::array<Counter, 2> counters;
  std::array<RunEnd, 2> ends{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 2; ++i)
      threads.emplace_back([&, i] {
        ends[i] = evolve(settings(i, 20, "3=abort,7=kill"), folder / std::to_string(i), counters[i],
                         stop);
      });
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ends[i], RunEnd::finished);
    EXPECT_EQ(counters[i].completed, 18) << "two fail for good";
  }
  EXPECT_NE(counters[0].thread, counters[1].thread);
  EXPECT_NE(results::read_table(folder / "0/evolve.csv"),
            results::read_table(folder / "1/evolve.csv"));
}

TEST(Engine, StopsWhenItIsAskedAndGoesOn) {
  const results::Folder folder;
  auto slow = settings(1, 12);
  slow.workers.command = {FAKE_TRAINER_BINARY, "--sleep", "50"};
  Stopper stopper(3);
  EXPECT_EQ(evolve(slow, folder / "run", stopper, stopper.stop), RunEnd::stopped);
  EXPECT_EQ(stopper.stop.reason(), 77);

  auto [journal, history] = results::Journal::resume(folder / "run/journal.jsonl");
  auto state = fold(history.run, history.events, "journal.jsonl");
  EXPECT_GE(state.completed().size(), 3U);
  const core::StopSource stop;
  Counter counter;
  const auto run =
      resume_run(slow, {folder / "run"}, std::move(journal), std::move(state), {}, stop, counter);
  EXPECT_EQ(run->run(), RunEnd::finished);
  EXPECT_EQ(run->state().completed().size(), 12U);
}

TEST(Engine, HasEndedItsWorkersWhenItHasStopped) {
  const results::Folder folder;
  auto slow = settings(1, 12);
  slow.workers.command = {FAKE_TRAINER_BINARY, "--sleep", "50", "--log", folder / "log"};
  Stopper stopper(1);
  const auto run = begin_run(slow, results::create_run_at(folder / "run"), stopper.stop, stopper);
  EXPECT_EQ(run->run(), RunEnd::stopped);
  std::ifstream log(folder / "log");
  int trainings = 0;
  for (std::string line; std::getline(log, line); ++trainings)
    EXPECT_EQ(::kill(std::stoi(line), 0), -1) << line;  // its pid comes first
  EXPECT_GE(trainings, 1);
}

TEST(Engine, HasEachEventInItsJournalBeforeAnyoneActsOnIt) {
  const results::Folder folder;
  const core::StopSource stop;
  auto logging = settings(1, 8);
  logging.workers.command.insert(logging.workers.command.end(), {"--log", folder / "log"});
  struct Reader : Counter {
    void on_event(const results::Event& event, const RunState&) override {
      ++events;
      unwritten += results::read_journal(folder / "run/journal.jsonl").events.size() < events;
      if (const auto* started = std::get_if<results::Started>(&event)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::ifstream log(folder / "log");
        for (int pid = 0, trial = 0; log >> pid >> trial; log.ignore(99, '\n'))
          told_before += trial == started->trial;
      }
    }
    explicit Reader(const std::filesystem::path& f) : folder(f) {}
    std::filesystem::path folder;
    std::size_t events = 0;
    int unwritten = 0, told_before = 0;
  } reader(folder.path());
  EXPECT_EQ(evolve(logging, folder / "run", reader, stop), RunEnd::finished);
  EXPECT_GE(reader.events, 16U);
  EXPECT_EQ(reader.unwritten, 0);
  EXPECT_EQ(reader.told_before, 0) << "a worker had its trial before the journal did";
}

TEST(Engine, LooksAtNoRepeatBeforeItsEnd) {
  const results::Folder folder;
  const core::StopSource stop;
  auto repeating = settings(1, 6);
  repeating.run.epochs = 6;
  repeating.run.repeats = 2;
  repeating.workers.command.push_back("--rungs");
  struct Looker : Counter {
    void on_event(const results::Event& event, const RunState&) override {
      repeats += std::holds_alternative<results::Repeating>(event);
      if (std::holds_alternative<hyp::Rung>(event)) ++(repeats > 0 ? after : before);
    }
    int repeats = 0, before = 0, after = 0;
  } looker;
  EXPECT_EQ(evolve(repeating, folder / "run", looker, stop), RunEnd::finished);
  EXPECT_EQ(looker.repeats, 2);
  EXPECT_EQ(looker.before, 8) << "two of each trial";
  EXPECT_EQ(looker.after, 0);
}

TEST(Engine, StartsNoTrialOnceWhatTheyAllBeginWithHasChanged) {
  const results::Folder folder;
  auto changing = settings(1, 5000);
  changing.run.generations = 625;  // a second's trials are a few hundred
  int looks = 0;
  changing.failures.find_change = [&]() -> std::optional<std::string> {
    if (looks++ == 0) return {};
    return "these are other weights";
  };
  const core::StopSource stop;
  Counter counter;
  const auto run = begin_run(changing, results::create_run_at(folder / "run"), stop, counter);
  EXPECT_EQ(run->run(), RunEnd::inputs_changed);
  EXPECT_EQ(run->change(), "these are other weights");
  EXPECT_FALSE(run->state().completed().empty()) << "it was asked when the run began, too";
  EXPECT_TRUE(run->state().open().empty()) << "what was under way has ended";
}

TEST(Engine, TellsWhatIsWrongWithTheSurroundings) {
  const results::Folder folder;
  auto gone = settings(1, 12, "2=data,3=data,4=data,5=data,6=data,7=data,8=data,9=data,10=data");
  gone.failures.find_fault = [](const std::string&) { return "the data set is gone"; };
  const core::StopSource stop;
  Counter counter;
  const auto run = begin_run(gone, results::create_run_at(folder / "run"), stop, counter);
  EXPECT_EQ(run->run(), RunEnd::surroundings);
  EXPECT_EQ(run->state().surroundings().last_failure().message, "the data set is gone");
  EXPECT_FALSE(run->state().first_failure()) << "nothing final is written";
  EXPECT_LE(run->state().surroundings().failures(), 7) << "a few, not all";
}

}  // namespace
}  // namespace evolve::engine
