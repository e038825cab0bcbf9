// Evaluation: how good a detector is.
//
// `validate()` runs a detector over a data set: forward passes, `non_max_suppression()`, matching
// with the labels, average precision per class (`score_classes()`). `validation_report()` is the
// same as a user sees it, with images of what was found. NMS and average precision need no torch.
#pragma once

#include "trainer/evaluation/average_precision.hpp"
#include "trainer/evaluation/detection.hpp"
#include "trainer/evaluation/nms.hpp"
#include "trainer/evaluation/validate.hpp"
#include "trainer/evaluation/validation_report.hpp"
