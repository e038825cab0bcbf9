#include "workers/protocol/messages.hpp"

#include "workers/protocol/fields.hpp"

namespace evolve::workers {

std::string line_of(const FromWorker& message) {
  return fields::line_of(message);
}

std::string line_of(const FromEngine& message) {
  return fields::line_of(message);
}

std::optional<FromWorker> parse_from_worker(std::string_view line) {
  return fields::parse<FromWorker>(line);
}

std::optional<FromEngine> parse_from_engine(std::string_view line) {
  return fields::parse<FromEngine>(line);
}

}  // namespace evolve::workers
