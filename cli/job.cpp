#include "cli/job.hpp"

namespace evolve::cli {

Error job_failed(const workers::Ending& failure, const std::string& remedy) {
  if (failure.kind == hyp::FailureKind::data) return {Error::Fault::input, failure.message};
  return run_failed("the trainer failed (" + hyp::name_of(failure.kind) + "): " + failure.message,
                    remedy);
}

}  // namespace evolve::cli
