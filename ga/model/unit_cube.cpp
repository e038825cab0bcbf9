#include "ga/model/unit_cube.hpp"

#include <cmath>
#include <iterator>

namespace evolve::ga {
namespace {

Eigen::Index feature_count(const hyp::Gene& gene) {
  return is_categorical(gene) ? static_cast<Eigen::Index>(gene.choices.size()) : 1;
}

}  // namespace

hyp::Genes start_genes(std::span<const hyp::Gene> space) {
  hyp::Genes genes;
  genes.reserve(space.size());
  for (const hyp::Gene& gene : space) genes.push_back(gene.start);
  return genes;
}

Eigen::VectorXd point_of(std::span<const hyp::Gene> space, const hyp::Genes& genes) {
  Eigen::VectorXd point(static_cast<Eigen::Index>(space.size()));
  for (std::size_t i = 0; i < space.size(); ++i) {
    point[static_cast<Eigen::Index>(i)] = hyp::to_unit(space[i], genes[i]);
  }
  return point;
}

Points points_of(std::span<const hyp::Gene> space, std::span<const hyp::Genes> sets) {
  Points points(std::ssize(space), std::ssize(sets));
  for (std::size_t i = 0; i < sets.size(); ++i)
    points.col(static_cast<Eigen::Index>(i)) = point_of(space, sets[i]);
  return points;
}

hyp::Genes genes_at(std::span<const hyp::Gene> space, const Eigen::VectorXd& point) {
  hyp::Genes genes;
  genes.reserve(space.size());
  for (std::size_t i = 0; i < space.size(); ++i) {
    genes.push_back(hyp::from_unit(space[i], point[static_cast<Eigen::Index>(i)]));
  }
  return genes;
}

std::vector<int> genes_of_features(std::span<const hyp::Gene> space) {
  std::vector<int> owner;
  for (std::size_t i = 0; i < space.size(); ++i) {
    owner.insert(owner.end(), static_cast<std::size_t>(feature_count(space[i])),
                 static_cast<int>(i));
  }
  return owner;
}

Eigen::MatrixXd features_of(std::span<const hyp::Gene> space, const Points& points) {
  Eigen::Index count = 0;
  for (const hyp::Gene& gene : space) count += feature_count(gene);
  if (count == points.rows()) return points;  // numbers only

  Eigen::MatrixXd features = Eigen::MatrixXd::Zero(count, points.cols());
  if (points.cols() == 0) return features;  // Eigen's rows of nothing have addresses beyond null
  Eigen::Index row = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto coordinates = points.row(static_cast<Eigen::Index>(i));
    if (is_categorical(space[i])) {
      for (Eigen::Index p = 0; p < points.cols(); ++p) {
        const double choice = hyp::from_unit(space[i], coordinates[p]);
        features(row + static_cast<Eigen::Index>(choice), p) = std::sqrt(0.5);
      }
    } else {
      features.row(row) = coordinates;
    }
    row += feature_count(space[i]);
  }
  return features;
}

}  // namespace evolve::ga
