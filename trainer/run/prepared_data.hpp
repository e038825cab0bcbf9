// The images of a training, ready to be used, and kept for the next trial.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "trainer/data/autoanchor.hpp"
#include "trainer/data/data.hpp"
#include "trainer/options.hpp"
#include "trainer/run/compute_context.hpp"

namespace evolve::trainer {

/// Decoded images of both splits, and what has been worked out from their labels.
class PreparedData {
 public:
  /// Reads the data set that the options name, on these threads. `beat` is called all the time
  /// while it does; `note` is told where images are kept. Throws `Error` as data::load does, and
  /// where the data set is not what options.inputs tells of.
  PreparedData(
      const TrainOptions& options, int stride, const data::Threads& threads,
      const data::Beat& beat = [](int, int) {}, const data::Note& note = data::on_standard_error);

  const data::Dataset& training() const { return training_; }
  const data::ValidationSet& validation() const { return validation_; }
  /// Training and validation images on a device, copied there when they are first asked for, unless
  /// images are kept nowhere (`--cache none`); later calls must name the same.
  const DeviceImages& on(const ComputeContext& context);
  int classes() const { return static_cast<int>(training_.names.size()); }
  /// Of both splits: {"train":…,"val":…}, see data::counts_of.
  nlohmann::ordered_json counts() const;

  /// YOLOv5's autoanchor on the training labels: `current` where its best possible recall at
  /// ratio `thr` is above 0.98, else as many better ones. `beat` is called all the time while they
  /// are searched for. Depends on `current` and `thr` only.
  const data::AnchorChoice& fit_anchors(
      const std::vector<data::Size>& current, double thr,
      const std::function<void()>& beat = [] {});

 private:
  using AnchorKey = std::pair<std::vector<std::pair<float, float>>, double>;

  PreparedData(const data::DataConfig& config, const TrainOptions& options, int stride,
               data::LoadOptions loading);

  data::Dataset training_;
  data::ValidationSet validation_;
  bool stays_on_host_;
  std::optional<DeviceImages> device_images_;
  data::AnchorFitter fitter_;
  std::map<AnchorKey, data::AnchorChoice> anchors_;
};

/// How a worker loads any split, but for `training`: the cache folder is the machine's.
data::LoadOptions load_options(const TrainOptions& options, const data::Threads& threads,
                               const data::Beat& beat, const data::Note& note);

/// The data of the last trial, in case the next one uses the same.
class DataCache {
 public:
  PreparedData& get(const TrainOptions& options, int stride, const ComputeContext& context);

 private:
  using Key = std::tuple<std::string, int, int, int, bool, std::string, double, bool>;
  std::optional<Key> key_;
  std::unique_ptr<PreparedData> data_;
};

}  // namespace evolve::trainer
