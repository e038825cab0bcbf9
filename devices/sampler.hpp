// How the accelerators of a run are, asked again and again without making anyone wait.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/accelerator.hpp"
#include "devices/discovery.hpp"
#include "devices/probe.hpp"

namespace evolve::devices {

class Sampler {
 public:
  /// Asks the drivers of these kinds and of no other; without one, nothing is ever asked.
  explicit Sampler(std::vector<std::string> kinds, std::chrono::milliseconds limit = probe_limit)
      : kinds_(std::move(kinds)), limit_(limit) {}

  /// Changes which drivers are asked, from the next question on.
  void change(std::vector<std::string> kinds) { kinds_ = std::move(kinds); }
  bool asking() const { return probe_ != nullptr; }
  /// Asks the drivers, in processes of their own; none in which such a process is still stuck.
  void ask();
  /// What the drivers say, when they have said it: the devices of all the kinds, none of a driver
  /// that fails.
  std::optional<std::vector<Accelerator>> answer();

 private:
  std::vector<std::string> kinds_;
  /// Of each question to a driver.
  std::chrono::milliseconds limit_;
  std::unique_ptr<Probe> probe_;
  /// Of each kind, a process that its driver does not even let die: every further question would
  /// leave another one.
  std::map<std::string, pid_t> stuck_;
};

}  // namespace evolve::devices
