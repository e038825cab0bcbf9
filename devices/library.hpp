// A vendor's library, opened at run time. Only probes open one (probe.hpp).
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace evolve::devices {

/// There is no such library here, or no driver under it: not a fault, but no device either.
struct NoDriver : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The process of a probe does not outlive its library, so nothing closes it.
class Library {
 public:
  /// Throws NoDriver when there is none; std::runtime_error when it is there and cannot be loaded.
  explicit Library(const char* name) : name_(name), handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_) return;
    const std::string reason = ::dlerror();
    // Another library that it needs may be missing too: that is a fault.
    if (reason.starts_with(name_ + ": cannot open shared object file: No such file"))
      throw NoDriver(name_ + " is not installed");
    throw std::runtime_error(reason);
  }

  /// A function of type F, or null.
  template <class F>
  F* find(const char* function) const {
    return reinterpret_cast<F*>(::dlsym(handle_, function));
  }

  /// A function of type F; throws std::runtime_error when there is none.
  template <class F>
  F* get(const char* function) const {
    if (auto* found = find<F>(function)) return found;
    throw std::runtime_error(name_ + " has no " + function);
  }

 private:
  std::string name_;
  void* handle_;
};

}  // namespace evolve::devices
