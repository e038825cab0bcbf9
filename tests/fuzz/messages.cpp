#include "trainer/worker/messages.hpp"

#include <stdexcept>

#include "tests/fuzz/fuzz.hpp"
#include "trainer/worker/jobs.hpp"

void evolve::fuzz::take(const std::string& input) {
  using Wrong = std::invalid_argument;
  refusable<Wrong>([&] {
    if (const auto message = worker::parse_from_worker(input)) worker::line_of(*message);
  });
  refusable<Wrong>([&] {
    if (const auto message = worker::parse_from_engine(input)) worker::line_of(*message);
  });
  refusable<Wrong>([&] {
    if (const auto job = worker::parse_job(input)) worker::line_of(*job);
  });
  refusable<Wrong>([&] {
    if (const auto report = worker::parse_report(input)) worker::line_of(*report);
  });
}
