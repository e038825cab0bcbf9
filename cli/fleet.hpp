// The devices of a run: which of them may take a trial now, and what is known of them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "devices/health.hpp"
#include "devices/pool.hpp"
#include "devices/memory_admission.hpp"
#include "devices/sampler.hpp"

namespace evolve::cli {

/// What is to be journaled and said of devices.
struct DeviceNews {
  std::vector<nlohmann::ordered_json> events;
  std::vector<std::string> lines;
};

class Fleet {
 public:
  /// `found` are the accelerators among the slots' devices, `crew` knows the workers on a device.
  Fleet(std::vector<core::Slot> slots, const std::vector<devices::Accelerator>& found,
        std::function<core::WorkerCount(const std::string& device)> crew);

  /// A slot for an attempt at a trial that has failed on the devices `failed_on`: of a device that
  /// is trusted, has room, and is another one than those, if there is any such; else another one
  /// than the last of them, if there is. Nothing when it must wait.
  std::optional<core::Lease> lease(const std::vector<std::string>& failed_on);

  /// An attempt at a trial has been started on a slot of the device.
  void started(const std::string& device) { ++running_[device]; }
  /// It has ended.
  void tell(const hyp::Outcome& outcome, const std::vector<std::string>& failed_on);

  /// Sees to the drivers, which are asked from time to time in the background, and returns what is
  /// new since the last call.
  DeviceNews watch();

  /// Why nothing can go on: every device is quarantined, or no worker becomes ready on any.
  const std::optional<std::string>& no_usable_device() const { return no_usable_device_; }

  /// "xpu:0 (97 %, 71 °C, 140 W)": the device and what its driver said last.
  std::string standing(const std::string& device) const;

 private:
  using Clock = devices::Clock;

  /// Where such an attempt may go, should it have to wait for one of them.
  std::vector<std::string> eligible(const std::vector<std::string>& failed_on);
  /// A trial that starts on it must start a worker first.
  bool needs_worker(const std::string& device) const { return crew_(device).idle == 0; }
  bool full(const std::string& device);
  void blame(const devices::Blame& blame);
  void ask();
  void take(const std::vector<devices::Accelerator>& sample);

  devices::Pool pool_;
  /// The devices, each with its first slot.
  std::map<std::string, const core::Slot*> devices_;
  std::function<core::WorkerCount(const std::string&)> crew_;
  devices::Health health_;
  devices::MemoryAdmission memory_admission_;
  devices::Sampler sampler_;
  /// Those whose drivers can be asked.
  std::set<std::string> sampled_;
  /// Attempts under way.
  std::map<std::string, int> running_;
  /// What the drivers said last.
  std::map<std::string, devices::Accelerator> last_;
  /// The workers when the drivers were asked.
  std::map<std::string, core::WorkerCount> crews_;
  Clock::time_point asked_ = Clock::now();
  std::optional<Clock::time_point> journaled_;
  /// A trial waits for a sample.
  bool wanted_ = false;
  /// Trials at a time, where memory was seen to be too small for more.
  std::map<std::string, int> limits_;
  /// Devices of which it has been said that they are full.
  std::set<std::string> said_full_;
  /// Attempts in a row.
  int failed_before_ready_ = 0;
  std::optional<std::string> no_usable_device_;
  DeviceNews news_;
};

}  // namespace evolve::cli
