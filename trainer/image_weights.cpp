#include "trainer/image_weights.hpp"

#include <algorithm>

namespace evolve::trainer {

std::vector<double> image_weights(const data::Dataset& dataset, std::span<const double> ap) {
  std::vector<double> weights(ap.size());
  for (const data::Picture& picture : dataset.pictures) {
    for (const data::Label& label : picture.labels) ++weights[static_cast<std::size_t>(label.cls)];
  }
  double sum = 0;
  for (double& weight : weights) {
    weight = 1 / std::max(weight, 1.0);
    sum += weight;
  }
  for (std::size_t c = 0; c < weights.size(); ++c) {
    weights[c] *= static_cast<double>(weights.size()) / sum * (1 - ap[c]) * (1 - ap[c]);
  }
  std::vector<double> of_pictures;
  for (const data::Picture& picture : dataset.pictures) {
    double& weight = of_pictures.emplace_back(0);
    for (const data::Label& label : picture.labels) {
      weight += weights[static_cast<std::size_t>(label.cls)];
    }
  }
  return of_pictures;
}

}  // namespace evolve::trainer
