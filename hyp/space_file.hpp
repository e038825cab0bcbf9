// Space files: which genes evolve, within what bounds.
#pragma once

#include <string>

#include "hyp/space.hpp"

namespace evolve::hyp {

/// Reads a space file (docs/files.md has the grammar): long form, `[low, high]`, or YOLOv5's meta
/// tuple `[evolve, low, high]`. Throws `Error` with file and line for crossed bounds, a log scale
/// that does not start above 0, an unknown key, a NaN, a duplicate gene, fewer than two choices or
/// twice the same, an integer gene without a whole number between its bounds. Starts are YOLOv5's
/// defaults where it has the name and they lie inside the bounds, else the middle of the range on
/// its scale; the first choice of a categorical gene.
Space read_space_file(const std::string& path);
Space parse_space(const std::string& text, const std::string& path);

}  // namespace evolve::hyp
