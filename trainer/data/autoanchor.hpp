// Anchors that fit the labels of a data set.
#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace evolve::data {

struct Dataset;

/// Width and height in pixels: of a label in the training image, of an anchor.
struct Size {
  float w = 0, h = 0;
  bool operator==(const Size&) const = default;
};

/// How well anchors fit labels. A label and an anchor match as well as the worse of their two side
/// ratios says: min(w / w', w' / w, h / h', h' / h), 1 for equal sizes. They go together in
/// training when that is greater than 1 / thr, `thr` being the hyperparameter anchor_t.
struct AnchorFit {
  /// Fraction of labels that go with some anchor.
  double best_possible_recall = 0;
  /// Mean number of anchors that a label goes with.
  double anchors_per_label = 0;
  /// Mean over the labels of their best match; a label that goes with no anchor counts 0.
  double fitness = 0;
};

/// All zero when there are no labels.
AnchorFit measure(std::span<const Size> anchors, std::span<const Size> labels, double thr);

/// What becomes of a model's anchors.
struct AnchorChoice {
  /// As many as before; new ones are sorted by ascending area, so that equal shares of them go to
  /// the levels from the finest to the coarsest.
  std::vector<Size> anchors;
  bool replaced = false;
  AnchorFit fit;
};

/// The sizes of a data set's labels when the longer side of each image is imgsz pixels.
struct LabelSizes {
  /// New anchors are searched for these.
  std::vector<Size> exact;
  /// The sizes in `exact`, those of each image times a factor between 0.9 and 1.1 drawn from the
  /// seed: recall is measured on them, as in YOLOv5.
  std::vector<Size> jittered;
};
LabelSizes label_sizes(const Dataset& dataset, std::uint64_t seed);

/// Where the refinement begins: k-means' anchors, and the random numbers that follow.
struct AnchorStart {
  std::vector<Size> anchors;
  boost::random::mt19937_64 rng;
};

/// YOLOv5's check_anchors(), again and again: anchors with a best possible recall above 0.98 stay;
/// others are replaced if those found are better in that respect.
///
/// They are found by k-means (30 starts, sizes scaled to unit variance, as YOLOv5's kmean_anchors()
/// calls SciPy's), then 1000 generations of refinement by mutation. Labels below 2 pixels in both
/// directions are ignored; with fewer labels than anchors, or sizes that do not vary, the start is
/// random, as in YOLOv5. Where YOLOv5 mutates all anchors of a generation at once, a generation
/// here mutates one anchor after the other, each change kept when the fitness rises: for the cost
/// of the same evaluations it gets further.
///
/// K-means depends on the number of anchors alone and is done once for each; only the refinement
/// depends on `thr`.
class AnchorFitter {
 public:
  AnchorFitter(int imgsz, LabelSizes sizes);
  /// A fitter for the labels of a data set.
  explicit AnchorFitter(const Dataset& dataset);

  /// As many anchors as `current` has; the result depends on these and `thr` only. `beat` is called
  /// after each pass over the labels: with many of them the search takes long.
  AnchorChoice fit(
      std::span<const Size> current, double thr, const std::function<void()>& beat = [] {});

 private:
  int imgsz_;
  LabelSizes sizes_;
  /// By number of anchors.
  std::map<int, AnchorStart> starts_;
};

}  // namespace evolve::data
