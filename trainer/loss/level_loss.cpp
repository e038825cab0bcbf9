#include "trainer/loss/level_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace evolve::trainer {
namespace {

constexpr float least = std::numeric_limits<float>::min();

/// A loss and its derivative.
struct Term {
  float loss = 0, derivative = 0;
};

/// σ(x) and 1 - σ(x), neither rounded away.
struct Sigmoid {
  explicit Sigmoid(float x) : decay(std::exp(-std::abs(x))) {
    const float greater = 1 / (1 + decay), smaller = decay / (1 + decay);
    value = x < 0 ? smaller : greater;
    complement = x < 0 ? greater : smaller;
  }
  /// e^-|x|
  float decay;
  float value, complement;
};

/// What cross_entropy() in loss.cpp takes the mean of.
Term cross_entropy(float logit, float label, double positive_weight, double gamma) {
  const Sigmoid sigmoid(logit);
  const float weight = 1 + (static_cast<float>(positive_weight) - 1) * label;
  const float softplus = std::log1p(sigmoid.decay) + std::max(-logit, 0.F);
  const Term plain{(1 - label) * logit + weight * softplus,
                   (1 - label) - weight * sigmoid.complement};
  if (gamma <= 0) return plain;
  constexpr float alpha = 0.25F;
  const float missed = label * sigmoid.complement + (1 - label) * sigmoid.value;
  const float missed_derivative =
      missed < least ? 0 : (1 - 2 * label) * sigmoid.value * sigmoid.complement;
  const float at_least = std::max(missed, least);
  const float alpha_t = label * alpha + (1 - label) * (1 - alpha);
  const auto exponent = static_cast<float>(gamma);
  const float power = alpha_t * std::pow(at_least, exponent);
  return {plain.loss * power,
          plain.derivative * power + plain.loss * power * exponent / at_least * missed_derivative};
}

/// The derivative of min(x, bound) by x; where both are equal torch gives each half of it.
float derivative_of_min(float x, float bound) {
  return x < bound ? 1 : x == bound ? 0.5F : 0;
}

/// One axis of two boxes: their overlap and their hull, with their derivatives by the centre
/// and the side of the first.
struct Axis {
  Axis(float centre, float side, float other_centre, float other_side) {
    const float low = centre - side / 2, high = centre + side / 2;
    const float other_low = other_centre - other_side / 2,
                other_high = other_centre + other_side / 2;
    const float reach = std::min(high, other_high) - std::max(low, other_low);
    overlap = std::max(reach, 0.F);
    if (reach >= 0) {
      const float above = derivative_of_min(high, other_high),
                  below = derivative_of_min(other_low, low);
      overlap_by_centre = above - below;
      overlap_by_side = (above + below) / 2;
    }
    hull = std::max(high, other_high) - std::min(low, other_low);
    const float above = derivative_of_min(other_high, high),
                below = derivative_of_min(low, other_low);
    hull_by_centre = above - below;
    hull_by_side = (above + below) / 2;
    twice_apart = other_low + other_high - low - high;
  }
  float overlap = 0, overlap_by_centre = 0, overlap_by_side = 0;
  float hull = 0, hull_by_centre = 0, hull_by_side = 0;
  /// Twice the way from the first centre to the other.
  float twice_apart = 0;
};

/// complete_iou() of loss.hpp, with its gradient by centre x, centre y, width, height of a.
struct CompleteIou {
  float value = 0;
  std::array<float, 4> gradient{};
};

CompleteIou complete_iou(const std::array<float, 4>& a, const float* b, bool with_gradient) {
  constexpr float epsilon = 1e-7F;
  constexpr float pi = std::numbers::pi_v<float>;
  const Axis x(a[0], a[2], b[0], b[2]), y(a[1], a[3], b[1], b[3]);
  const float intersection = x.overlap * y.overlap;
  const float both = a[2] * a[3] + b[2] * b[3] - intersection + epsilon;
  const float iou = intersection / both;
  const float diagonal = x.hull * x.hull + y.hull * y.hull + epsilon;
  const float distance = (x.twice_apart * x.twice_apart + y.twice_apart * y.twice_apart) / 4;
  const float height = with_gradient ? a[3] : std::max(a[3], least);
  const float angle = std::atan(b[2] / b[3]) - std::atan(a[2] / height);
  const float v = angle * angle * (4 / (pi * pi));
  const float alpha = v / (v - iou + (1 + epsilon));
  CompleteIou out{iou - (distance / diagonal + v * alpha)};
  if (!with_gradient) return out;

  const std::array intersection_by{x.overlap_by_centre * y.overlap, y.overlap_by_centre * x.overlap,
                                   x.overlap_by_side * y.overlap, y.overlap_by_side * x.overlap};
  const std::array area_by{0.F, 0.F, a[3], a[2]};
  const std::array diagonal_by{2 * x.hull * x.hull_by_centre, 2 * y.hull * y.hull_by_centre,
                               2 * x.hull * x.hull_by_side, 2 * y.hull * y.hull_by_side};
  const std::array distance_by{-x.twice_apart, -y.twice_apart, 0.F, 0.F};
  const float ratio = a[2] / a[3];
  const float v_by_ratio = -2 * angle * (4 / (pi * pi)) / (1 + ratio * ratio);
  const std::array v_by{0.F, 0.F, v_by_ratio / a[3], -v_by_ratio * ratio / a[3]};
  for (std::size_t i = 0; i < 4; ++i) {
    const float iou_by = (intersection_by[i] - iou * (area_by[i] - intersection_by[i])) / both;
    const float far_by = (distance_by[i] - distance / diagonal * diagonal_by[i]) / diagonal;
    out.gradient[i] = iou_by - far_by - alpha * v_by[i];
  }
  return out;
}

/// The IoU of a row's box, whose loss goes to `gradient` with the weight `gain`.
float box_iou(const float* row, const float* box, const float* anchor, float gain,
              float* gradient) {
  const std::array logits{Sigmoid(row[0]), Sigmoid(row[1]), Sigmoid(row[2]), Sigmoid(row[3])};
  const auto side = [](const Sigmoid& c, float whole) { return 4 * c.value * c.value * whole; };
  const auto iou = complete_iou({2 * logits[0].value - 0.5F, 2 * logits[1].value - 0.5F,
                                 side(logits[2], anchor[0]), side(logits[3], anchor[1])},
                                box, gradient != nullptr);
  if (gradient == nullptr) return iou.value;
  for (std::size_t i = 0; i < 4; ++i) {
    const Sigmoid& c = logits[i];
    const float by_logit =
        i < 2 ? 2 * c.value * c.complement : 2 * side(c, anchor[i - 2]) * c.complement;
    gradient[i] -= gain * iou.gradient[i] * by_logit;
  }
  return iou.value;
}

/// The mean cross-entropy of the classes of a row, times `gain`.
double class_loss(const float* logits, std::int64_t nc, std::int64_t cls,
                  const LossOptions& options, double gain, float* gradient) {
  const double smooth = options.label_smoothing / 2;
  double sum = 0;
  for (std::int64_t c = 0; c < nc; ++c) {
    const auto label = static_cast<float>(c == cls ? 1 - smooth : smooth);
    const Term term = cross_entropy(logits[c], label, options.cls_pw, options.fl_gamma);
    sum += term.loss;
    if (gradient != nullptr)
      gradient[c] += static_cast<float>(gain / static_cast<double>(nc)) * term.derivative;
  }
  return sum * gain / static_cast<double>(nc);
}

}  // namespace

std::array<double, 3> level_loss(const LevelRows& rows, const LevelMatches& matches,
                                 const LossOptions& options, double obj_gain, float* gradient) {
  double box = 0, obj = 0, cls = 0;
  std::vector<float> labels(static_cast<std::size_t>(rows.count));
  const auto nc = rows.outputs - 5;
  for (std::int64_t i = 0; i < matches.count; ++i) {
    const auto share = 1 / static_cast<double>(matches.count);
    const auto at = matches.rows[i];
    const float* row = rows.numbers + at * rows.outputs;
    float* to = gradient == nullptr ? nullptr : gradient + at * rows.outputs;
    const float iou = box_iou(row, matches.boxes + 4 * i, matches.anchor_sizes + 2 * i,
                              static_cast<float>(options.box * share), to);
    box += options.box * share * (1 - iou);
    labels[static_cast<std::size_t>(at)] = std::max(iou, 0.F);  // of several the last one's
    if (nc > 1)
      cls += class_loss(row + 5, nc, matches.classes[i], options, options.cls * share,
                        to == nullptr ? nullptr : to + 5);
  }
  const double share = obj_gain / static_cast<double>(rows.count);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const Term term =
        cross_entropy(rows.numbers[i * rows.outputs + 4], labels[static_cast<std::size_t>(i)],
                      options.obj_pw, options.fl_gamma);
    obj += share * term.loss;
    if (gradient != nullptr)
      gradient[i * rows.outputs + 4] = static_cast<float>(share) * term.derivative;
  }
  return {box, obj, cls};
}

}  // namespace evolve::trainer
