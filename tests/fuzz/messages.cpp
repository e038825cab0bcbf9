#include "workers/protocol/messages.hpp"

#include <stdexcept>

#include "tests/fuzz/fuzz.hpp"
#include "workers/protocol/jobs.hpp"

void evolve::fuzz::messages(const std::string& input) {
  using Wrong = std::invalid_argument;
  refusable<Wrong>([&] {
    if (const auto message = workers::parse_from_worker(input)) workers::line_of(*message);
  });
  refusable<Wrong>([&] {
    if (const auto message = workers::parse_from_engine(input)) workers::line_of(*message);
  });
  refusable<Wrong>([&] {
    if (const auto job = workers::parse_job(input)) workers::line_of(*job);
  });
  refusable<Wrong>([&] {
    if (const auto report = workers::parse_report(input)) workers::line_of(*report);
  });
}
