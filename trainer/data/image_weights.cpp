#include "trainer/data/image_weights.hpp"

#include <algorithm>

namespace evolve::data {

std::vector<double> image_weights(const Dataset& dataset, std::span<const double> ap) {
  std::vector<double> weights(ap.size());
  for (const Image& image : dataset.images) {
    for (const Label& label : image.labels) ++weights[static_cast<std::size_t>(label.cls)];
  }
  double sum = 0;
  for (double& weight : weights) {
    weight = 1 / std::max(weight, 1.0);
    sum += weight;
  }
  for (std::size_t c = 0; c < weights.size(); ++c) {
    weights[c] *= static_cast<double>(weights.size()) / sum * (1 - ap[c]) * (1 - ap[c]);
  }
  std::vector<double> of_images;
  for (const Image& image : dataset.images) {
    double& weight = of_images.emplace_back(0);
    for (const Label& label : image.labels) {
      weight += weights[static_cast<std::size_t>(label.cls)];
    }
  }
  return of_images;
}

}  // namespace evolve::data
