#include "trainer/run/heartbeat.hpp"

#include <fmt/format.h>

namespace evolve::trainer {

void Heartbeat::operator()(Clock::time_point now) {
  beat(now, [] { return std::string(); });
}

void Heartbeat::prepared(int done, int all) {
  beat(Clock::now(),
       [&] { return all > 0 ? fmt::format("images {}/{}", done, all) : std::string("images"); });
}

void Heartbeat::beat(Clock::time_point now, const auto& preparing) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;  // another thread is at it
  if (now - last_ < interval_) return;
  last_ = now;
  send_(preparing());
}

}  // namespace evolve::trainer
