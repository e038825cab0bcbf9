#include "results/journal.hpp"

#include "cli/evolve/evolve_options.hpp"
#include "engine/fold.hpp"
#include "engine/run_state.hpp"
#include "tests/fuzz/fuzz.hpp"

void evolve::fuzz::journal(const std::string& input) {
  const File file(input);
  refusable([&] {
    const auto contents = results::read_journal(file.path());
    engine::fold(contents.run, contents.events, file.path());
    refusable<nlohmann::json::exception>([&] { cli::resumed({}, contents.run); });
  });
}
