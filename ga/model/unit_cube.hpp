// Sets of genes as points of the unit cube, where every gene is on its own scale, and as the
// features that the surrogate measures distances in.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "hyp/space.hpp"

namespace evolve::ga {

/// Points are columns: [genes, points], each coordinate `hyp::to_unit` of a gene.
using Points = Eigen::MatrixXd;

/// The set that a run begins with.
hyp::Genes start_genes(std::span<const hyp::Gene> space);
/// The point of a set: [genes].
Eigen::VectorXd point_of(std::span<const hyp::Gene> space, const hyp::Genes& genes);
/// The points of several sets, in their order.
Points points_of(std::span<const hyp::Gene> space, std::span<const hyp::Genes> sets);
/// The set at a point; integer and categorical genes take a whole value.
hyp::Genes genes_at(std::span<const hyp::Gene> space, const Eigen::VectorXd& point);

/// The gene that each feature belongs to. A number is one feature, a categorical gene has one for
/// each of its choices.
std::vector<int> genes_of_features(std::span<const hyp::Gene> space);

/// [features, points]. A number's feature is its coordinate. The features of a categorical gene are
/// 0 but for the choice, sqrt(1/2): two different choices are 1 apart, whichever they are.
Eigen::MatrixXd features_of(std::span<const hyp::Gene> space, const Points& points);

}  // namespace evolve::ga
