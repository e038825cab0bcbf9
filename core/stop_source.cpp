#include "core/stop_source.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace evolve::core {

StopSource::StopSource() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::system_category(), "eventfd");
}

StopSource::~StopSource() {
  ::close(descriptor_);
}

void StopSource::request(int reason) noexcept {
  const int before = errno;
  reason_ = reason;
  ++requests_;
  ::eventfd_write(descriptor_, 1);
  errno = before;  // a signal handler must leave it as it was
}

}  // namespace evolve::core
