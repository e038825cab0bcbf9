// What a training starts from: checked hyperparameters, the model, its weights and anchors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "hyp/hyperparameters.hpp"
#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/model/detector.hpp"
#include "trainer/options.hpp"
#include "trainer/run/prepared_data.hpp"

namespace evolve::trainer {

/// Throws `Error` naming the first hyperparameter that is missing (of YOLOv5's 28; `anchors` may
/// be), unknown (neither one of the 29 nor `optimizer`), or of a value that nothing can be done
/// with (fault_of()).
void check_hyperparameters(const hyp::Hyperparameters& hyp);

/// The file options.weights, to be read once per training; nothing where there is none. Throws
/// `Error`.
std::optional<Checkpoint> pretrained_weights(const TrainOptions& options);

/// The model that the options and the hyperparameter `anchors` ask for, with `nc` classes (those of
/// its table when absent). As in YOLOv5 the table is that of --cfg, else that of the weights
/// (pretrained_weights()); the latter comes with the weights' anchors. Throws `Error`.
ModelConfig model_config(const TrainOptions& options, const hyp::Hyperparameters& hyp,
                         const std::optional<Checkpoint>& weights, std::optional<int> nc);

/// A detector as training starts it: drawn from `seed` or transferred from the weights, anchors
/// fitted to the data unless options.noautoanchor, the layers of options.freeze without
/// gradients. `beat` is called all the time while anchors are searched for; `note` is told what
/// came of weights and anchors. Throws `Error`.
std::unique_ptr<Detector> make_detector(
    const TrainOptions& options, const hyp::Hyperparameters& hyp,
    const std::optional<Checkpoint>& weights, std::uint64_t seed, PreparedData& data,
    const std::function<void()>& beat = [] {}, const data::Note& note = data::on_standard_error);

/// Throws `Error` when a batch has fewer images than there are ranks: each trains a part of it.
void check_batches(const TrainOptions& options, const PreparedData& data, const Ranks& ranks);

/// Takes the gradients from the parameters of layers (TrainOptions::freeze).
void freeze(Detector& detector, const std::vector<int>& layers);

}  // namespace evolve::trainer
