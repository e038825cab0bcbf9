// Validation as a user sees it: a table by class, and images of what was found.
#pragma once

#include <string>

#include "trainer/data/batch.hpp"
#include "trainer/evaluation/validate.hpp"
#include "trainer/model/detector.hpp"
#include "workers/protocol/jobs.hpp"

namespace evolve::trainer {

/// Fuses `detector` and validates it. Where `dir` is not empty, it gets val_batch0_labels.jpg and
/// val_batch0_pred.jpg: the first batch with its labels, and with what is found there at a
/// confidence above 0.25.
workers::ValidationReport validation_report(Detector& detector, const data::ValidationSet& images,
                                            const ValidateOptions& options, const std::string& dir);

}  // namespace evolve::trainer
