#include "cli/job.hpp"

#include "cli/command_line.hpp"

namespace evolve::cli {

workers::JobSettings job_settings(const std::string& worker, const std::string& hang_timeout) {
  return {.command = {worker}, .hang_timeout = duration(hang_timeout, "--hang-timeout")};
}

Error job_failed(const workers::Ending& failure, const std::string& remedy) {
  if (failure.kind == hyp::FailureKind::data) return {Error::Fault::input, failure.message};
  return run_failed("the trainer failed (" + hyp::name_of(failure.kind) + "): " + failure.message,
                    remedy);
}

}  // namespace evolve::cli
