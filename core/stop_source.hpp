// How something that runs is asked to stop, from another thread or from a signal handler.
#pragma once

#include <atomic>

namespace evolve::core {

/// A request to stop, which may be repeated: the first one asks to end in good order, a further one
/// to end at once. Everything may be called from any thread; `request` from a signal handler too.
class StopSource {
 public:
  /// Throws std::system_error when no descriptor is left.
  StopSource();
  ~StopSource();
  StopSource(const StopSource&) = delete;
  StopSource& operator=(const StopSource&) = delete;

  /// `reason` is a signal's number, or any other that is not 0.
  void request(int reason) noexcept;

  /// The reason of the latest request; 0: there was none.
  int reason() const { return reason_; }
  int requests() const { return requests_; }
  /// Becomes readable with the first request and stays so: to be polled.
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  std::atomic<int> reason_ = 0;
  std::atomic<int> requests_ = 0;
};

}  // namespace evolve::core
