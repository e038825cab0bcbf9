// Sorting as NumPy does it.
#pragma once

#include <span>
#include <vector>

namespace evolve::data {

/// The order that makes `keys` ascending: keys[order[0]] <= keys[order[1]] …; no key is NaN. Equal
/// keys come in the order in which numpy.argsort leaves them on processors for which it has no
/// vectorised sort, and before version 1.25 on all. YOLOv5 batches images of equal shape, and
/// ranks detections of equal confidence, in that order, so losses and metrics depend on it.
std::vector<int> argsort(std::span<const double> keys);

}  // namespace evolve::data
