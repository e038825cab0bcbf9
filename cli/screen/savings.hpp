// What was not trained to its last epoch, and what that saved.
#pragma once

#include <string>

#include "engine/run_state.hpp"

namespace evolve::cli {

/// "12 of 60 trials stopped early: saved 76 of 600 epochs"; where trials are paused "31 of 40
/// trials are still paused, 9 went on after a pause: saved 262 of 360 epochs"; empty where every
/// trial was trained to its end.
std::string savings(const engine::RunState& state);

}  // namespace evolve::cli
