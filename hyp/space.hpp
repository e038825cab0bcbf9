// The search space: genes, their bounds and scales, and the way between raw values and the unit
// interval.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hyp/hyperparameters.hpp"

namespace evolve::hyp {

/// One hyperparameter: what it may be and where it starts.
struct Gene {
  enum class Kind { real, integer, categorical };
  enum class Scale { linear, log };

  std::string name;
  Kind kind = Kind::real;
  Scale scale = Scale::linear;
  /// Bounds, both included. A categorical gene has 0 and choices.size() - 1.
  double low = 0;
  double high = 1;
  /// Names of a categorical gene's values; its raw value is an index into them.
  std::vector<std::string> choices = {};
  /// A gene that does not evolve keeps `start` in every trial.
  bool evolve = true;
  double start = 0;

  bool operator==(const Gene&) const = default;
};

/// Raw values of the evolved genes of a space, in its order.
using Genes = std::vector<double>;

/// All hyperparameters of a run in the order of evolve.csv's columns; some evolve, the rest are
/// fixed.
struct Space {
  std::vector<Gene> genes;

  const Gene* find(const std::string& name) const;
  bool operator==(const Space&) const = default;
};

/// The genes that evolve, in the space's order.
std::vector<Gene> evolved_genes(const Space& space);

/// What is wrong with a gene's bounds, and what would be right.
struct WrongBounds {
  std::string what, remedy;
};
/// Nothing where the bounds make sense: not crossed, of a finite width, above 0 on a log scale,
/// with a whole number between them where only whole ones count.
std::optional<WrongBounds> wrong_bounds(const Gene& gene);

/// Whether the bounds make sense, those of a categorical gene are its choices', and the start lies
/// within them; of a gene that never evolves and has no bounds it may be any finite number.
bool is_sound(const Gene& gene);

/// The least and the greatest value that the gene may take: whole where only whole ones count,
/// whatever the bounds are.
double least_value(const Gene& gene);
double greatest_value(const Gene& gene);

/// Whether the gene's bounds leave it more than one value.
bool has_range(const Gene& gene);
/// The gene's values are choices, which have no order.
bool is_categorical(const Gene& gene);

/// The place of a raw value in its gene's range, 0 at `low` and 1 at `high`, on the gene's scale.
/// A range of one value gives 0.
double to_unit(const Gene& gene, double value);
/// The inverse, clamped to the bounds. On a linear scale each value of an integer or categorical
/// gene owns an equal share of the unit interval; on a log scale an integer gene takes the nearest
/// whole number. `from_unit(to_unit(v))` is `v` for whole values, and `v` up to rounding for real
/// ones.
double from_unit(const Gene& gene, double unit);
/// The nearest value that the gene may take: inside its bounds, whole for integer and categorical
/// genes.
double nearest(const Gene& gene, double value);
/// The value of a categorical gene that has this index: a number where the choice spells one, else
/// its text.
Value choice(const Gene& gene, std::size_t index);

/// The hyperparameters a trainer gets: all genes of the space, the evolved ones from `genes`.
Hyperparameters express(const Space& space, const Genes& genes);
/// The evolved genes of a set; a value outside its bounds is clamped, a missing name takes the
/// gene's start. Throws `Error` for a text that is not a choice of its gene.
Genes genes_of(const Space& space, const Hyperparameters& hyp);
/// The raw values of all genes of the space in its order, a choice as its index, none clamped: the
/// right part of a row of evolve.csv. A missing name takes the gene's start. Throws `Error` as
/// `genes_of` does.
std::vector<double> raw_values(const Space& space, const Hyperparameters& hyp);
/// All genes of the space at their start.
Hyperparameters start_of(const Space& space);
/// What bounds the values that a gene may have: its start and, where it evolves, the choices, or
/// the least and the greatest.
std::vector<Value> extreme_values(const Gene& gene);

/// YOLOv5's 29 hyperparameters with the bounds of its evolve, started at hyp.scratch-low.yaml; 13
/// evolve (hsv_h … copy_paste), 16 are fixed. lr0 and lrf are on a log scale, `anchors` is whole
/// and starts at 3.
const Space& default_space();

/// {"lr0": {"low": 1e-05, "high": 0.1, "scale": "log", "evolve": false, "start": 0.01}, …} in the
/// words of a space file, for the journal.
nlohmann::ordered_json to_json(const Space& space);
/// The inverse; throws nlohmann's exceptions when a part is missing or of the wrong kind,
/// std::invalid_argument for bounds that no space file may have.
Space space_from_json(const nlohmann::ordered_json& json);

}  // namespace evolve::hyp
