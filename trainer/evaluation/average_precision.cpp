#include "trainer/evaluation/average_precision.hpp"

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
  const float w = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const float h = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (!(w > 0 && h > 0)) return 0;
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

/// The detections of one class by descending confidence.
struct Ranking {
  std::vector<double> negated_conf;
  std::vector<Hits> hits;
  /// Places of those that are right at some threshold.
  std::vector<std::size_t> right;
};

/// The area under the precision-recall curve, precision made non-increasing. The curve moves only
/// where a detection is right, so that detection and the one before it are enough.
double average_precision(const Ranking& ranking, std::size_t threshold, int labels) {
  Curve x{0}, y{1};
  double right = 0;
  const auto add = [&](std::size_t seen) {
    x.push_back(right / (labels + eps));
    y.push_back(right / static_cast<double>(seen));
  };
  for (const std::size_t place : ranking.right) {
    if ((ranking.hits[place] >> threshold & 1) == 0) continue;
    if (place > 0) add(place);
    ++right;
    add(place + 1);
  }
  add(ranking.hits.size());
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

/// A class's score, and its curves over confidence.
struct ClassCurves {
  ClassScore score;
  Curve precision = Curve(curve_points), recall = Curve(curve_points), f1 = Curve(curve_points);
};

ClassCurves curves_of(const Ranking& ranking, int cls, int labels) {
  ClassCurves out{.score = {.cls = cls, .labels = labels}};
  if (ranking.hits.empty()) return out;
  for (std::size_t i = 0; i < iou_thresholds.size(); ++i) {
    out.score.ap[i] = average_precision(ranking, i, labels);
  }
  Curve recall, precision;
  double right = 0;
  for (const Hits hits : ranking.hits) {
    right += hits & 1;
    recall.push_back(right / (labels + eps));
    precision.push_back(right / static_cast<double>(recall.size()));
  }
  out.recall = over_confidence(ranking.negated_conf, recall, 0);
  out.precision = over_confidence(ranking.negated_conf, precision, 1);
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

std::vector<ClassScore> score_classes(std::span<const Judged> detections,
                                      std::span<const int> labels_per_class) {
  std::vector<double> negated_conf;
  for (const auto& detection : detections) negated_conf.push_back(-detection.conf);
  std::vector<Ranking> rankings(labels_per_class.size());
  for (const int i : data::argsort(negated_conf)) {
    const auto& [conf, cls, hits] = detections[static_cast<std::size_t>(i)];
    if (static_cast<std::size_t>(cls) >= rankings.size()) continue;
    Ranking& ranking = rankings[static_cast<std::size_t>(cls)];
    if (hits != 0) ranking.right.push_back(ranking.hits.size());
    ranking.hits.push_back(hits);
    ranking.negated_conf.push_back(-conf);
  }
  std::vector<ClassCurves> classes;
  for (std::size_t cls = 0; cls < rankings.size(); ++cls) {
    const int labels = labels_per_class[cls];
    if (labels > 0) classes.push_back(curves_of(rankings[cls], static_cast<int>(cls), labels));
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
