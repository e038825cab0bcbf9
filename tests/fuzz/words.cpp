// Values of options, and the file `devices`: device specifications, fitness expressions, commands,
// durations.
#include <stdexcept>

#include "cli/options/command_line.hpp"
#include "core/shell_word.hpp"
#include "devices/spec.hpp"
#include "engine/device_file.hpp"
#include "hyp/fitness.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "workers/protocol/text.hpp"

void evolve::fuzz::words(const std::string& input) {
  refusable<std::invalid_argument>([&] { devices::parse_spec(input); });
  engine::parse_device_file(input);
  refusable([&] { hyp::Fitness{input}(hyp::Metrics{}); });
  refusable([&] { core::shell_words(input, "--trainer-command"); });
  refusable([&] { cli::duration_seconds(input, "--time-limit"); });
  workers::last_line(input);
}
