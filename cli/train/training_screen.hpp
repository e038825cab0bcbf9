// What a training and a validation look like: YOLOv5's lines, in 80 columns.
#pragma once

#include <string>
#include <vector>

#include "workers/protocol/jobs.hpp"

namespace evolve::cli {

/// "00:04", "1:02:03".
std::string clock_text(double seconds);

/// "   Epoch GPU_mem  box_loss  obj_loss  cls_loss Instances Size"
std::string epoch_header();
/// "    3/39   1.25G    0.1021   0.03123   0.01544       216  160", the epoch counted
/// from 0 as YOLOv5 shows it.
std::string epoch_text(const workers::BatchReport& batch, int epochs);
/// "preparing images 120/3000", "" where it trains or validates.
std::string preparing_text(const workers::Alive& alive);
/// "  8/13 00:05": how many batches, and how long the others will take, or all have taken.
std::string progress_text(int done, int of, double seconds);

/// "               Class    Images    Labels         P         R     mAP50  mAP50-95"
std::string class_header();
/// The line of class_table() for all classes together.
std::string class_text(const hyp::Metrics& metrics, int images, int labels);
/// The header, all classes together, and each class that has labels.
std::vector<std::string> class_table(const workers::ValidationReport& validation);

/// {"precision": …, "recall": …, "mAP_0.5": …, "mAP_0.5:0.95": …, "images": …, "labels": …,
/// "classes": {NAME: {the same four, "labels": …}, …}}. The second class of a name is "NAME (2)".
nlohmann::ordered_json to_json(const workers::ValidationReport& validation);

}  // namespace evolve::cli
