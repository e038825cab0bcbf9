#include "results/journal.hpp"

#include "cli/plan.hpp"
#include "cli/replay.hpp"
#include "tests/fuzz/fuzz.hpp"

void evolve::fuzz::take(const std::string& input) {
  const File file(input);
  refusable([&] {
    const auto history = results::read_journal(file.path());
    const auto plan = cli::resumed_plan({}, history.run, file.path());
    ga::Evolution evolution(plan.space, plan.search, plan.initial);
    cli::replay(history.events, evolution, file.path());
  });
}
