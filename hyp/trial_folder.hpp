// Where a trial's files are in the run directory. The journal says it and the workers write it, so
// it is said here, once.
#pragma once

#include <string>

namespace evolve::hyp {

/// "trials/000017", of its repeat "trials/000017/repeat".
std::string trial_folder(int trial, bool repeat = false);
/// "trials/000017/log", of its repeat "trials/000017/repeat/log".
std::string trial_log(int trial, bool repeat = false);

}  // namespace evolve::hyp
