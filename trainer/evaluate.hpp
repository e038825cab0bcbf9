// Validation as a user sees it: a table by class, and pictures of what was found.
#pragma once

#include <string>

#include "trainer/data/batch.hpp"
#include "trainer/detector.hpp"
#include "trainer/validate.hpp"
#include "trainer/worker/jobs.hpp"

namespace evolve::trainer {

/// Fuses `detector` and validates it. Where `dir` is not empty, it gets val_batch0_labels.jpg and
/// val_batch0_pred.jpg: the first batch with its labels, and with what is found there at a
/// confidence of 0.25 or more.
worker::ValidationReport evaluate(Detector& detector, const data::ValidationSet& pictures,
                                  const ValidateOptions& options, const std::string& dir);

}  // namespace evolve::trainer
