// The space of a run: a table of genes that starts at a hyp file, and which of them evolve.
#pragma once

#include <string>

#include "hyp/hyp_file.hpp"
#include "hyp/space.hpp"

namespace evolve::hyp {

/// The space of a run: `table` (a space file's, or the default 29) started at a hyp file. Genes
/// come in the order of the hyp file, then those that only the table has. A name that only the hyp
/// file has becomes a fixed gene without bounds (`low == high`). Throws `Error` with the hyp file's
/// line when a start lies outside its gene's bounds (an evolved gene or a fixed one with known
/// bounds) or is a text where a number belongs; a non-integer start of an integer gene is rounded.
Space started_at(const Space& table, const HypFile& start);

/// Throws `Error` with the file's line for a text that is no choice of its gene, or that stands
/// where a number belongs. A value outside its bounds is accepted: it will be clamped.
void check_values(const Space& space, const HypFile& file);

/// The space, and what it lacks of YOLOv5's table, fixed at YOLOv5's defaults: the built-in trainer
/// needs all 29, a space file may name a few.
Space with_defaults(Space space);

/// Makes exactly these genes evolve ("all": every gene with a range; or "lr0,momentum"); throws
/// `Error` for an unknown name, and for one without a range.
void select_evolved(Space& space, const std::string& names);

}  // namespace evolve::hyp
