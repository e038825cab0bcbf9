// A moment, and its text.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace evolve::core {

/// A moment in UTC. The epoch stands for "not known".
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

/// The moment now.
Time now();

/// "2026-05-01T12:00:00.250Z" (ISO 8601)
std::string text_of(Time time);

/// The moment that the whole text spells, with or without a fraction of a second; or nothing.
std::optional<Time> parse_time(const std::string& text);

}  // namespace evolve::core
