// The devices of a run: which of them may take a trial now, and what is known of them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/worker_count.hpp"
#include "devices/health.hpp"
#include "devices/memory_admission.hpp"
#include "devices/pool.hpp"
#include "devices/sampler.hpp"
#include "results/event.hpp"

namespace evolve::engine {

class Fleet {
 public:
  /// `found` are the accelerators among the slots' devices, `limits` the trials at a time where
  /// memory was too small for more, `count` knows the workers on a device.
  Fleet(std::vector<core::Slot> slots, const std::vector<devices::Accelerator>& found,
        const std::map<std::string, int>& limits,
        std::function<core::WorkerCount(const std::string& device)> count);

  /// Gives the fleet these slots from now on, on devices of which `found` are the accelerators.
  /// Returns the devices that have fewer slots than before, and by how many.
  std::map<std::string, int> change(const std::vector<core::Slot>& slots,
                                    const std::vector<devices::Accelerator>& found);

  /// A slot for an attempt at a trial that has failed on the devices `failed_on`, in this order. Of
  /// the devices that are trusted and have room it takes one that is none of these; if there is
  /// none such, one that is not the last of these. Nothing when the attempt must wait.
  std::optional<core::Lease> lease(const std::vector<std::string>& failed_on);

  /// Whether there is a usable device besides those, be it free or not.
  bool has_another(const std::vector<std::string>& failed_on);

  /// An attempt at a trial will be handed over to a slot of the device. Until that is done its
  /// other slots get none: what they need depends on the workers that it has then.
  void started(const std::string& device);
  /// All that was started is handed over.
  void handed_over();
  /// An attempt has ended, at a trial that had failed on the devices `failed_on` before it.
  void ended(const hyp::Outcome& outcome, const std::vector<std::string>& failed_on);
  /// What the trial failed by on these devices is no evidence against them: an earlier process saw
  /// it, and something may have been mended since.
  void excuse(int trial, const std::vector<std::string>& failed_on);
  /// The device gets no trial until then.
  void rest(const std::string& device, devices::Clock::time_point until);

  /// Sees to the drivers, which are asked from time to time in the background, and returns what is
  /// new since the last call, to be recorded.
  std::vector<results::Event> watch();

  /// Whether a driver has been seen, since the last call, to have numbered devices anew: their
  /// slots are not lent before change().
  bool renumbered() { return std::exchange(renumbered_, false); }
  /// The device's driver does not list it any more, but others, or says that it is out of order.
  bool is_missing(const std::string& device) const;

  /// Why nothing can go on: every device is quarantined. Else empty.
  const std::string& no_usable_device() const { return no_usable_device_; }

 private:
  using Clock = devices::Clock;

  /// Where such an attempt may go, should it have to wait for one of them.
  std::vector<std::string> eligible(const std::vector<std::string>& failed_on);
  /// It may take a trial, as far as that does not depend on the trial.
  bool usable(const std::string& device);
  /// A device that could tell whether others or their trials are to blame.
  bool has_judge();
  /// Whether a scheduler says that it is on the machine of one of these.
  bool is_on_machine_of(const std::string& device, const std::vector<std::string>& others) const;
  /// A trial that starts on it must start a worker first.
  bool needs_worker(const std::string& device) const { return count_(device).idle == 0; }
  bool full(const std::string& device);
  /// A slot that the run no longer has still trains on it, or on one of its devices.
  bool is_being_left(const std::string& device) const;
  void blame(const devices::Blame& blame);
  void bring_back(const std::string& device);
  void mark_lost(const std::string& device);
  /// Whether the slots still show their own devices.
  void check_numbers(const std::vector<devices::Accelerator>& sample);
  void ask_drivers();
  void take_sample(const std::vector<devices::Accelerator>& sample);

  /// What is known of the devices follows the slots of the pool.
  void index_devices(const std::vector<devices::Accelerator>& found);

  /// A device that the run has or has had.
  struct Device {
    /// The first of its slots; nothing: the run has it no more.
    std::optional<core::Slot> slot = {};
    /// Its driver can be asked.
    bool sampled = false;
    /// Its slots may show another device than theirs.
    bool in_doubt = false;
    /// Its driver did not list it when it was asked last, or said that it is out of order.
    bool missing = false;
    /// Since then it has not said how it numbers this one now, which is in doubt.
    std::optional<Clock::time_point> silent_since = {};
    /// Attempts under way.
    int running = 0;
    /// One of them is not handed over yet.
    bool starting = false;
    /// What its driver said last.
    std::optional<devices::Accelerator> said = {};
    /// The workers when its driver was asked.
    core::WorkerCount count_when_asked = {};
    /// Trials at a time, where memory was seen to be too small for more.
    std::optional<int> limit = {};
    bool reported_full = false;
    Clock::time_point resting_until = {};
  };

  devices::Pool pool_;
  std::map<std::string, Device> devices_;
  /// Those that the run has no more, though a trial is under way on them.
  std::set<std::string> leaving_;
  std::function<core::WorkerCount(const std::string&)> count_;
  devices::Health health_;
  devices::MemoryAdmission memory_admission_;
  devices::Sampler sampler_;
  bool renumbered_ = false;
  /// When a device was lost.
  std::optional<Clock::time_point> lost_;
  Clock::time_point asked_ = Clock::now();
  std::optional<Clock::time_point> journaled_;
  /// A trial waits for a sample.
  bool wanted_ = false;
  std::string no_usable_device_;
  std::vector<results::Event> news_;
};

}  // namespace evolve::engine
