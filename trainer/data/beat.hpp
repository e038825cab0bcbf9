// Signs of life of work on many images.
#pragma once

#include <functional>

namespace evolve::data {

/// Called for each image, by whichever thread is at it: so many of so many are done. 0 of 0: there
/// is nothing to count, or another process is waited for, and it is called all the time. What it
/// throws ends the work.
using Beat = std::function<void(int done, int all)>;

}  // namespace evolve::data
