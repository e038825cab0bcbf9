#include "trainer/run/heartbeat.hpp"

namespace evolve::trainer {

void Heartbeat::operator()(Clock::time_point now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;  // another thread is at it
  if (now - last_ < interval_) return;
  last_ = now;
  send_();
}

}  // namespace evolve::trainer
