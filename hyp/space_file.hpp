// Space files: which genes evolve, within what bounds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hyp/space.hpp"

namespace evolve::hyp {

/// Reads a space file (docs/files.md has the grammar): long form, `[low, high]`, or YOLOv5's meta tuple
/// `[evolve, low, high]`. Throws `Error` with file and line for crossed bounds, a log scale that does not
/// start above 0, an unknown key, a NaN, a duplicate gene, fewer than two choices.
/// Starts are YOLOv5's defaults where it has the name and they lie inside the bounds, else the middle of the range.
Space read_space_file(const std::string& path);
Space parse_space(const std::string& text, const std::string& path);

/// The space of a run: `table` (a space file's, or the default 29) started at `hyp`. Genes come in the
/// order of the hyp file, then those that only the table has. A name that only the hyp file has becomes a
/// fixed gene. Throws `Error` (with `hyp_path` and the line) when a start lies outside its gene's bounds:
/// an evolved gene or a fixed one with known bounds; a non-integer start of an integer gene is rounded.
Space started_at(const Space& table, const Hyperparameters& hyp, const std::string& hyp_path);

/// Makes exactly these genes evolve ("all", or "lr0,momentum"); throws `Error` for an unknown name.
void select_evolved(Space& space, const std::string& names);

}  // namespace evolve::hyp
