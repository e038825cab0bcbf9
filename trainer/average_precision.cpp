#include "trainer/average_precision.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "trainer/data/argsort.hpp"

namespace evolve::trainer {
namespace {

/// Added to denominators, as YOLOv5 does.
constexpr double eps = 1e-16;
/// Confidences at which precision and recall are looked at: 0 … 1.
constexpr std::size_t curve_points = 1000;
/// Recalls at which a precision-recall curve is integrated: 0, 0.01 … 1.
constexpr std::size_t ap_points = 101;
/// Points over which the mean F1 is smoothed: a tenth of the curve, and odd.
constexpr std::size_t smoothing = 101;

using Curve = std::vector<double>;

float area(const Box& box) {
  return (box.x2 - box.x1) * (box.y2 - box.y1);
}

float iou(const Box& a, const Box& b) {
  const float w = std::max(0.f, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const float h = std::max(0.f, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  return w * h / (area(a) + area(b) - w * h + 1e-7f);
}

/// Points of a function, ascending in x.
struct Points {
  std::span<const double> x, y;
};

/// NumPy's interp() at one x. `i` is the search's memory: x must not decrease from call to call.
/// Below the first point the value is `left`, beyond the last one that of the last.
double interpolate(double x, const Points& points, double left, std::size_t& i) {
  const auto& [px, py] = points;
  if (x < px.front()) return left;
  while (i + 1 < px.size() && px[i + 1] <= x) ++i;
  if (i + 1 == px.size() || px[i] == x) return py[i];
  return (py[i + 1] - py[i]) / (px[i + 1] - px[i]) * (x - px[i]) + py[i];
}

/// The values at confidences 0, 1/999 … 1 of a curve given at descending confidences.
Curve over_confidence(const Curve& negated_conf, const Curve& values, double above_the_first) {
  Curve curve(curve_points);
  std::size_t i = 0;
  for (std::size_t point = curve_points; point-- > 0;) {
    const double conf = point + 1 == curve_points ? 1 : static_cast<double>(point) * (1.0 / 999);
    curve[point] = interpolate(-conf, {negated_conf, values}, above_the_first, i);
  }
  return curve;
}

/// The area under the precision-recall curve, precision made non-increasing.
double average_precision(const Curve& recall, const Curve& precision) {
  Curve x{0}, y{1};
  x.insert(x.end(), recall.begin(), recall.end());
  y.insert(y.end(), precision.begin(), precision.end());
  x.push_back(1);
  y.push_back(0);
  for (std::size_t i = y.size() - 1; i-- > 0;) y[i] = std::max(y[i], y[i + 1]);
  double sum = 0, previous_x = 0, previous_y = 0;
  for (std::size_t point = 0, i = 0; point < ap_points; ++point) {
    const double at = static_cast<double>(point) * 0.01;
    const double value = interpolate(at, {x, y}, y.front(), i);
    if (point > 0) sum += (at - previous_x) * (value + previous_y) / 2;
    previous_x = at;
    previous_y = value;
  }
  return sum;
}

/// Precision and recall after each detection, at one IoU threshold.
struct PrecisionRecall {
  Curve precision, recall;
};

PrecisionRecall accumulate(std::span<const Judged> detections, std::size_t threshold, int labels) {
  PrecisionRecall out;
  double right = 0;
  for (std::size_t i = 0; i < detections.size(); ++i) {
    right += (detections[i].hits >> threshold) & 1;
    out.recall.push_back(right / (labels + eps));
    out.precision.push_back(right / static_cast<double>(i + 1));
  }
  return out;
}

/// A class's score, and its curves over confidence.
struct ClassCurves {
  ClassScore score;
  Curve precision = Curve(curve_points), recall = Curve(curve_points), f1 = Curve(curve_points);
};

/// `detections`: those of the class, by descending confidence.
ClassCurves curves_of(std::span<const Judged> detections, int cls, int labels) {
  ClassCurves out{.score = {.cls = cls, .labels = labels}};
  if (detections.empty()) return out;
  Curve negated_conf;
  for (const auto& detection : detections) negated_conf.push_back(-detection.conf);
  for (std::size_t i = 0; i < iou_thresholds.size(); ++i) {
    const auto [precision, recall] = accumulate(detections, i, labels);
    out.score.ap[i] = average_precision(recall, precision);
    if (i > 0) continue;
    out.recall = over_confidence(negated_conf, recall, 0);
    out.precision = over_confidence(negated_conf, precision, 1);
  }
  for (std::size_t i = 0; i < curve_points; ++i) {
    const double p = out.precision[i], r = out.recall[i];
    out.f1[i] = 2 * p * r / (p + r + eps);
  }
  return out;
}

/// Where the smoothed mean F1 is greatest, as an index into the curves. The curve's ends are
/// repeated outwards.
std::size_t best_confidence(const std::vector<ClassCurves>& classes) {
  constexpr std::size_t margin = smoothing / 2;
  Curve mean(curve_points + 2 * margin);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const std::size_t point = std::clamp(i, margin, margin + curve_points - 1) - margin;
    for (const auto& one : classes) mean[i] += one.f1[point];
    mean[i] /= static_cast<double>(classes.size());
  }
  Curve smoothed(curve_points);
  for (std::size_t i = 0; i < curve_points; ++i) {
    for (std::size_t k = 0; k < smoothing; ++k) smoothed[i] += mean[i + k] * (1.0 / smoothing);
  }
  return static_cast<std::size_t>(std::ranges::max_element(smoothed) - smoothed.begin());
}

}  // namespace

std::vector<Hits> match(std::span<const Detection> detections,
                        std::span<const GroundTruth> labels) {
  std::vector<Hits> hits(detections.size());
  std::vector<Hits> taken(labels.size());
  for (std::size_t i = 0; i < detections.size(); ++i) {
    float greatest = 0;
    std::size_t label = 0;
    for (std::size_t k = 0; k < labels.size(); ++k) {
      if (labels[k].cls != detections[i].cls) continue;
      const float overlap = iou(labels[k].box, detections[i].box);
      if (overlap < greatest) continue;
      greatest = overlap;
      label = k;
    }
    Hits claimed = 0;
    for (std::size_t k = 0; k < iou_thresholds.size(); ++k) {
      if (greatest >= iou_thresholds[k]) claimed |= static_cast<Hits>(1u << k);
    }
    if (claimed == 0) continue;
    hits[i] = static_cast<Hits>(claimed & ~taken[label]);
    taken[label] |= claimed;
  }
  return hits;
}

double ClassScore::ap50_95() const {
  return std::accumulate(ap.begin(), ap.end(), 0.0) / static_cast<double>(ap.size());
}

double ClassScore::true_positives() const {
  return std::nearbyint(recall * labels);
}

double ClassScore::false_positives() const {
  return std::nearbyint(true_positives() / (precision + eps) - true_positives());
}

std::vector<ClassScore> score_classes(std::span<const Judged> detections,
                                      std::span<const int> labels_per_class) {
  std::vector<double> negated_conf;
  for (const auto& detection : detections) negated_conf.push_back(-detection.conf);
  std::vector<std::vector<Judged>> of_class(labels_per_class.size());
  for (const int i : data::argsort(negated_conf)) {
    const Judged& detection = detections[static_cast<std::size_t>(i)];
    const auto cls = static_cast<std::size_t>(detection.cls);
    if (cls < of_class.size()) of_class[cls].push_back(detection);
  }
  std::vector<ClassCurves> classes;
  for (std::size_t cls = 0; cls < of_class.size(); ++cls) {
    if (labels_per_class[cls] == 0) continue;
    classes.push_back(curves_of(of_class[cls], static_cast<int>(cls), labels_per_class[cls]));
  }
  if (classes.empty()) return {};
  const std::size_t best = best_confidence(classes);
  std::vector<ClassScore> scores;
  for (auto& one : classes) {
    one.score.precision = one.precision[best];
    one.score.recall = one.recall[best];
    one.score.f1 = one.f1[best];
    scores.push_back(one.score);
  }
  return scores;
}

}  // namespace evolve::trainer
