// Validation as a user sees it: a table by class, and pictures of what was found.
#pragma once

#include <string>
#include <vector>

#include "trainer/data/batch.hpp"
#include "trainer/detector.hpp"
#include "trainer/options.hpp"
#include "trainer/worker/jobs.hpp"

namespace evolve::trainer {

/// Validates `detector`, which is fused, on data.validation(). `options.conf`, `iou` and
/// `single_cls` are obeyed. Where `dir` is not empty, it gets val_batch0_labels.jpg and
/// val_batch0_pred.jpg: the first batch with its labels, and with what is found there at a
/// confidence of 0.25 or more.
worker::ValidationReport evaluate(Detector& detector, const std::vector<data::Batch>& batches,
                                  const std::vector<std::string>& names,
                                  const TrainOptions& options, const std::string& dir);

}  // namespace evolve::trainer
