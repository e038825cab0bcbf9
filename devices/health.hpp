// Which devices are trusted with trials, by what happened on them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "devices/clock.hpp"
#include "hyp/outcome.hpp"

namespace evolve::devices {

/// A device is to blame for a failure.
struct Blame {
  std::string device;
  /// "it was lost: …"
  std::string reason;
  /// The device has had so many blames in a row that it gets no further trial.
  bool quarantined = false;
  bool operator==(const Blame&) const = default;
};

/// A trial that fails may itself be the cause. A device is blamed with evidence only: it was lost,
/// its worker never became ready, a trial that had failed on it ended well on another (which is no
/// second blame for the same trial, and none where the surroundings had failed), or the
/// surroundings fail on it again while trials end well on others: a machine whose disk is full. No
/// device is blamed for a program that cannot be started. Two blames in a row, with no trial that
/// ended well on it between them, put it into quarantine. A CPU of this machine is never blamed.
class Health {
 public:
  /// The devices of a run, by name ("xpu:1"), and which of them other machines have.
  explicit Health(const std::vector<std::string>& devices,
                  const std::set<std::string>& elsewhere = {});

  /// The run has these devices from now on. What is known of others is kept, but who puts one back
  /// that was quarantined has mended it: its quarantine ends. Returns those.
  std::vector<std::string> change(const std::vector<std::string>& devices,
                                  const std::set<std::string>& elsewhere = {});

  /// An attempt at a trial has ended; earlier ones had failed on the devices `failed_on`. Returns
  /// whom that puts to blame.
  std::vector<Blame> ended(const hyp::Outcome& outcome, const std::vector<std::string>& failed_on,
                           Clock::time_point now);

  /// A device that cannot have trials is quarantined for this reason at once. Returns that, or
  /// nothing where it is already.
  std::vector<Blame> quarantine(const std::string& device, const std::string& reason,
                                Clock::time_point now);

  /// The trial's failure on the device has a cause that is not the device.
  void excuse(int trial, const std::string& device) { settled_.emplace(trial, device); }

  bool quarantined(const std::string& device) const { return states_.at(device).quarantined; }
  /// The last trials on the device, several in a row, failed before they had trained an epoch, of
  /// nothing that hyperparameters explain, and no other device has told yet whose fault that is.
  bool undecided(const std::string& device) const;
  /// Every device is quarantined, so nothing can go on.
  bool none_left() const;
  /// The devices that have been quarantined for long enough to be looked at again.
  std::vector<std::string> rested(Clock::time_point now) const;
  /// A device that has rested was looked at then and does not work: it rests as long again.
  void rest_again(const std::string& device, Clock::time_point now) {
    states_.at(device).since = now;
  }
  /// Ends a device's quarantine. One further blame quarantines it again.
  void bring_back(const std::string& device);

 private:
  struct State {
    int blames = 0;
    /// No device of the run any more.
    bool gone = false;
    bool never_blamed = false;
    bool quarantined = false;
    int quarantines = 0;
    Clock::time_point since;
    /// The surroundings have failed on it since a trial last ended well on it; and one has ended
    /// well on another device since then.
    bool surroundings_failed = false;
    bool others_do_well = false;
    /// See undecided().
    std::set<int> undecided;
  };
  void surroundings_failed(const hyp::Outcome& outcome, const std::string& message,
                           Clock::time_point now, std::vector<Blame>& blames);
  void blame(const std::string& device, const std::string& reason, Clock::time_point now,
             std::vector<Blame>& blames);

  std::map<std::string, State> states_;
  /// Trials and devices of failures that have been judged.
  std::set<std::pair<int, std::string>> settled_;
};

}  // namespace evolve::devices
