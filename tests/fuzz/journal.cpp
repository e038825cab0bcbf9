#include "results/journal.hpp"

#include "cli/evolve_options.hpp"
#include "engine/run_state.hpp"
#include "tests/fuzz/fuzz.hpp"

void evolve::fuzz::journal(const std::string& input) {
  const File file(input);
  refusable([&] {
    const auto history = results::read_journal(file.path());
    engine::fold(history.run, history.events, file.path());
    refusable<nlohmann::json::exception>([&] { cli::resumed({}, history.run.options); });
  });
}
