// Hyperparameter files: YOLOv5's flat `name: number`.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/yaml.hpp"
#include "hyp/hyperparameters.hpp"

namespace evolve::hyp {

/// A hyperparameter set and where each of its values is written.
struct HypFile {
  std::string path;
  Hyperparameters hyp = {};
  /// One line number per entry of `hyp`.
  std::vector<int> lines = {};

  /// The place of `name`, or the file when it isn't there.
  Where where(const std::string& name) const;
};

/// Reads a hyp file in its order. A value is a number (YAML 1.1 or 1.2, so `1e-05` too) or a
/// text (a choice; whether its gene has such a one a space tells). Throws `Error` with file and
/// line for anything else: broken YAML, nesting, a duplicate name, a name that can't be a column of
/// evolve.csv, no value, NaN or infinity, an empty file.
HypFile read_hyp_file(const std::string& path);

/// Reads a hyp file's text, as read_hyp_file() does; `path` is what errors say.
HypFile parse_hyp(const std::string& text, const std::string& path);

/// Reads a map inside a larger YAML file, as read_hyp_file() does a file.
HypFile hyp_from_yaml(const core::Yaml& node, const std::string& path);

/// `name: value` lines that PyYAML reads back as the same numbers (`1.0e-05`).
std::string hyp_lines(const Hyperparameters& hyp);

/// More than any trainer has, and so few that every line of a journal can be read.
inline constexpr std::size_t most_names = 2000;
// Some may be in a space alone.
static_assert(2 * most_names <= core::most_keys);

/// Throws `Error` for a map of more than `most_names`, and for a name that can't be a
/// hyperparameter's: empty, not UTF-8, or with a blank, a control character or one of , : / " ' #
void check_names(const core::Yaml& map, const std::string& path);

}  // namespace evolve::hyp
