#include "engine/fold.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "core/error.hpp"

namespace evolve::engine {

RunState fold(const results::RunSettings& settings, const std::vector<results::Event>& events,
              const std::string& path, int latest) {
  std::set<std::pair<int, int>> asked;  // without further attempts
  for (const auto& event : events) {
    if (const auto* started = std::get_if<results::Started>(&event))
      asked.emplace(started->trial, started->start_epoch);
    if (const auto* bred = std::get_if<results::Bred>(&event))
      for (const auto& child : bred->trials) asked.emplace(child.trial, 0);
  }
  // What the search says of itself names no place in the journal.
  int line = 1;
  const auto located = [&](const auto& work) {
    try {
      return work();
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with(path)) throw;
      throw Error(error.fault(), text_of({path, line}) + ": " + error.what());
    }
  };
  auto state = located(
      [&] { return RunState(settings, path, static_cast<int>(std::ssize(asked)) - latest); });
  for (const auto& event : events) {
    ++line;
    located([&] { state.apply(event); });
  }
  return state;
}

}  // namespace evolve::engine
