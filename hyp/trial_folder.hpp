// Where a trial's files are in the run directory. The journal says it and the workers write it, so
// it is said here, once.
#pragma once

#include <string>

namespace evolve::hyp {

/// "trials/000017"
std::string trial_folder(int trial);
/// "trials/000017/log"
std::string trial_log(int trial);

}  // namespace evolve::hyp
