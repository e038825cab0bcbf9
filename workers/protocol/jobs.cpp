#include "workers/protocol/jobs.hpp"

#include "workers/protocol/fields.hpp"

namespace evolve::workers {

std::string line_of(const Job& job) {
  return fields::line_of(job);
}

std::string line_of(const JobReport& report) {
  return fields::line_of(report);
}

std::optional<Job> parse_job(std::string_view line) {
  return fields::parse<Job>(line);
}

std::optional<JobReport> parse_report(std::string_view line) {
  return fields::parse<JobReport>(line);
}

}  // namespace evolve::workers
