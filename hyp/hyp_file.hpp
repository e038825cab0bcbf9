// Hyperparameter files: YOLOv5's flat `name: number`.
#pragma once

#include <string>

#include "hyp/hyperparameters.hpp"

namespace evolve::hyp {

/// Reads a hyp file in its order. A value is a number (YAML 1.1 or 1.2, so `1e-05` too) or a text (a
/// choice). Throws `Error` with file and line for anything else: broken YAML, nesting, a duplicate name,
/// NaN or infinity, an empty file.
Hyperparameters read_hyp_file(const std::string& path);

/// The same from text; `path` is what errors say.
Hyperparameters parse_hyp(const std::string& text, const std::string& path);

/// `name: value` lines that PyYAML reads back as the same numbers (`1.0e-05`).
std::string hyp_lines(const Hyperparameters& hyp);

}  // namespace evolve::hyp
