#include "trainer/data/autoanchor.hpp"

#include <algorithm>
#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "trainer/data/dataset.hpp"

namespace evolve::data {
namespace {

using Rng = boost::random::mt19937_64;

constexpr std::uint64_t anchor_seed = 0;

/// How anchors are searched for.
struct AnchorSearch {
  int anchors;
  int imgsz;
  double thr;
  const std::function<void()>& beat;
};

/// Labels are worked on so many at a time, one sum per lane: vector instructions come by themselves
/// and the sums come out the same whatever vectors the processor has.
constexpr std::size_t lanes = 16;

/// Sizes as two arrays, padded to whole groups of lanes with zeros, which match no anchor.
struct Columns {
  explicit Columns(std::span<const Size> sizes) : count(sizes.size()) {
    const std::size_t padded = (count + lanes - 1) / lanes * lanes;
    w.resize(padded);
    h.resize(padded);
    for (std::size_t i = 0; i < count; ++i) {
      w[i] = sizes[i].w;
      h[i] = sizes[i].h;
    }
  }
  /// Without the padding.
  std::size_t count;
  std::vector<float> w, h;
};

// Not std::min and std::max: these are single instructions also where NaN matters.
float lesser(float a, float b) {
  return a < b ? a : b;
}
float greater(float a, float b) {
  return a > b ? a : b;
}

/// How well a label and an anchor match, 0..1.
float match_of(float w, float h, const Size& anchor) {
  return lesser(lesser(w, anchor.w) / greater(w, anchor.w),
                lesser(h, anchor.h) / greater(h, anchor.h));
}

std::vector<Size> by_area(std::vector<Size> anchors) {
  std::ranges::stable_sort(anchors, {}, [](const Size& size) { return size.w * size.h; });
  return anchors;
}

// ---- The start: k-means as scipy.cluster.vq.kmeans does it.

struct Clusters {
  std::vector<Size> centres;
  /// Mean distance of a point to its centre.
  double distortion = std::numeric_limits<double>::infinity();
};

std::vector<Size> distinct_points(const Columns& points, std::size_t n, Rng& rng) {
  boost::random::uniform_int_distribution<std::size_t> any(0, points.count - 1);
  std::vector<std::size_t> chosen;
  while (chosen.size() < n) {
    const std::size_t i = any(rng);
    if (std::ranges::find(chosen, i) == chosen.end()) chosen.push_back(i);
  }
  std::vector<Size> sizes;
  for (const auto i : chosen) sizes.push_back({points.w[i], points.h[i]});
  return sizes;
}

/// The nearest centre of each of the `lanes` points from `first` on, and its squared distance.
struct Nearest {
  std::array<float, lanes> squared;
  std::array<std::int32_t, lanes> centre;
};

Nearest nearest(const Columns& points, std::size_t first, const std::vector<Size>& centres) {
  Nearest out;
  out.squared.fill(std::numeric_limits<float>::infinity());
  out.centre.fill(0);
  for (std::size_t c = 0; c < centres.size(); ++c) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const float dw = points.w[first + i] - centres[c].w;
      const float dh = points.h[first + i] - centres[c].h;
      const float squared = dw * dw + dh * dh;
      const bool nearer = squared < out.squared[i];
      out.squared[i] = nearer ? squared : out.squared[i];
      out.centre[i] = nearer ? static_cast<std::int32_t>(c) : out.centre[i];
    }
  }
  return out;
}

/// Moves each centre to the mean of its points; a centre without points is lost.
Clusters improved(const Columns& points, const std::vector<Size>& centres) {
  struct Sum {
    double w = 0, h = 0;
    std::size_t count = 0;
  };
  std::vector<Sum> sums(centres.size());
  double distance = 0;
  for (std::size_t first = 0; first < points.count; first += lanes) {
    const Nearest found = nearest(points, first, centres);
    for (std::size_t i = 0; i < std::min(lanes, points.count - first); ++i) {
      Sum& sum = sums[static_cast<std::size_t>(found.centre[i])];
      sum.w += points.w[first + i];
      sum.h += points.h[first + i];
      ++sum.count;
      distance += std::sqrt(found.squared[i]);
    }
  }
  Clusters out{.centres = {}, .distortion = distance / static_cast<double>(points.count)};
  for (const auto& [w, h, count] : sums) {
    if (count == 0) continue;
    const auto n = static_cast<double>(count);
    out.centres.push_back({static_cast<float>(w / n), static_cast<float>(h / n)});
  }
  return out;
}

/// The best of 30 runs from random points; no centres when every run lost some of its own. SciPy
/// goes on to changes of 1e-5, but the refinement takes over long before that.
Clusters k_means(const Columns& points, std::size_t n, const std::function<void()>& beat,
                 Rng& rng) {
  constexpr int runs = 30;
  constexpr double still = 1e-3;
  Clusters best;
  for (int run = 0; run < runs; ++run) {
    Clusters now{.centres = distinct_points(points, n, rng)};
    for (double change = std::numeric_limits<double>::infinity(); change > still;) {
      const double before = now.distortion;
      now = improved(points, now.centres);
      change = std::abs(before - now.distortion);
      beat();
    }
    if (now.centres.size() == n && now.distortion < best.distortion) best = now;
  }
  return best;
}

/// Standard deviation.
float deviation(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const float value : values) squares += (value - mean) * (value - mean);
  return static_cast<float>(std::sqrt(squares / static_cast<double>(values.size())));
}

std::vector<Size> random_anchors(std::size_t n, int imgsz, Rng& rng) {
  std::vector<float> sides(2 * n);
  for (float& side : sides) {
    side = boost::random::uniform_01<float>()(rng) * static_cast<float>(imgsz);
  }
  std::ranges::sort(sides);
  std::vector<Size> anchors;
  for (std::size_t i = 0; i < n; ++i) anchors.push_back({sides[2 * i], sides[2 * i + 1]});
  return anchors;
}

std::vector<Size> first_anchors(const Columns& labels, const AnchorSearch& search, Rng& rng) {
  const auto n = static_cast<std::size_t>(search.anchors);
  const float w = deviation(std::span(labels.w).first(labels.count));
  const float h = deviation(std::span(labels.h).first(labels.count));
  if (labels.count < n || !(w > 0) || !(h > 0)) return random_anchors(n, search.imgsz, rng);
  Columns scaled = labels;
  for (float& value : scaled.w) value /= w;
  for (float& value : scaled.h) value /= h;
  std::vector<Size> anchors = k_means(scaled, n, search.beat, rng).centres;
  if (anchors.empty()) return random_anchors(n, search.imgsz, rng);
  for (Size& anchor : anchors) anchor = {anchor.w * w, anchor.h * h};
  return anchors;
}

// ---- The refinement.

/// How well each label is matched; padded as the labels are.
using Matches = std::vector<float>;

/// Fills `matches` with those of one anchor. Returns the mean fitness when each label has the best
/// of it and of `others`.
double try_anchor(const Columns& labels, const Size& anchor, const Matches& others, float limit,
                  Matches& matches) {
  double total = 0;
  constexpr std::size_t block = 64 * lanes;
  for (std::size_t from = 0; from < labels.w.size(); from += block) {
    std::array<float, lanes> sums{};
    const std::size_t to = std::min(from + block, labels.w.size());
    for (std::size_t first = from; first < to; first += lanes) {
      for (std::size_t i = 0; i < lanes; ++i) {
        const float match = match_of(labels.w[first + i], labels.h[first + i], anchor);
        const float best = greater(match, others[first + i]);
        matches[first + i] = match;
        sums[i] += best > limit ? best : 0;
      }
    }
    for (const float sum : sums) total += sum;
  }
  return total / static_cast<double>(labels.count);
}

void raise(Matches& matches, const Matches& to) {
  for (std::size_t i = 0; i < matches.size(); ++i) matches[i] = greater(matches[i], to[i]);
}

/// YOLOv5's mutation: each side changes with probability 0.9, by a factor of 1 + 0.1 u g with u
/// uniform and g normal; no side falls below 2 pixels.
Size mutated(const Size& anchor, Rng& rng) {
  boost::random::uniform_01<float> uniform;
  boost::random::normal_distribution<float> normal;
  const float spread = 0.1f * uniform(rng);
  const auto side = [&](float before) {
    if (uniform(rng) >= 0.9f) return before;
    return std::max(2.f, before * std::clamp(1 + spread * normal(rng), 0.3f, 3.f));
  };
  const float w = side(anchor.w);
  return {w, side(anchor.h)};
}

/// One anchor after the other is mutated, again and again.
void refine(std::vector<Size>& anchors, const Columns& labels, const AnchorSearch& search,
            Rng& rng) {
  constexpr int generations = 1000;
  const std::size_t n = anchors.size();
  const auto limit = static_cast<float>(1 / search.thr);
  const Matches none(labels.w.size());
  std::vector<Matches> matches(n, none);
  for (std::size_t a = 0; a < n; ++a) try_anchor(labels, anchors[a], none, limit, matches[a]);
  double fitness = -1;
  Matches challenge = none;
  // A generation walks from the first anchor to the last: the best of those still to come is known
  // from the start, the best of those passed grows on the way.
  std::vector<Matches> behind(n, none);
  for (int generation = 0; generation < generations; ++generation) {
    behind.back() = none;
    for (std::size_t a = n - 1; a-- > 0;) {
      behind[a] = behind[a + 1];
      raise(behind[a], matches[a + 1]);
    }
    Matches others = none;
    for (std::size_t a = 0; a < n; ++a) {
      raise(behind[a], others);
      if (fitness < 0) fitness = try_anchor(labels, anchors[a], behind[a], limit, challenge);
      const Size challenger = mutated(anchors[a], rng);
      const double reached = try_anchor(labels, challenger, behind[a], limit, challenge);
      if (reached > fitness) {
        fitness = reached;
        anchors[a] = challenger;
        std::swap(matches[a], challenge);
      }
      raise(others, matches[a]);
    }
    search.beat();
  }
}

}  // namespace

AnchorFit measure(std::span<const Size> anchors, std::span<const Size> labels, double thr) {
  if (labels.empty()) return {};
  const auto limit = static_cast<float>(1 / thr);
  std::size_t reached = 0, pairs = 0;
  double fitness = 0;
  for (const Size& label : labels) {
    float best = 0;
    for (const Size& anchor : anchors) {
      const float match = match_of(label.w, label.h, anchor);
      pairs += match > limit;
      best = greater(match, best);
    }
    if (best > limit) {
      ++reached;
      fitness += best;
    }
  }
  const auto n = static_cast<double>(labels.size());
  return {.best_possible_recall = static_cast<double>(reached) / n,
          .anchors_per_label = static_cast<double>(pairs) / n,
          .fitness = fitness / n};
}

namespace {

/// The labels that anchors are searched for.
Columns visible(std::span<const Size> labels) {
  std::vector<Size> sizes;
  std::ranges::copy_if(labels, std::back_inserter(sizes),
                       [](const Size& size) { return size.w >= 2 || size.h >= 2; });
  return Columns(sizes);
}

AnchorStart start_of(const Columns& labels, const AnchorSearch& search) {
  AnchorStart start{.anchors = {}, .rng = Rng(anchor_seed)};
  start.anchors = first_anchors(labels, search, start.rng);
  return start;
}

std::vector<Size> refined(AnchorStart start, const Columns& labels, const AnchorSearch& search) {
  if (labels.count > 0) refine(start.anchors, labels, search, start.rng);
  return by_area(std::move(start.anchors));
}

}  // namespace

LabelSizes label_sizes(const Dataset& dataset, std::uint64_t seed) {
  Rng rng(seed);
  LabelSizes sizes;
  for (const Image& image : dataset.images) {
    const double jitter = 0.9 + 0.2 * boost::random::uniform_01<double>()(rng);
    const double scale =
        static_cast<double>(dataset.imgsz) / std::max(image.original_width, image.original_height);
    for (const Label& label : image.labels) {
      const double w = label.w * scale * image.original_width;
      const double h = label.h * scale * image.original_height;
      sizes.exact.push_back({static_cast<float>(w), static_cast<float>(h)});
      sizes.jittered.push_back({static_cast<float>(w * jitter), static_cast<float>(h * jitter)});
    }
  }
  return sizes;
}

AnchorFitter::AnchorFitter(int imgsz, LabelSizes sizes) : imgsz_(imgsz), sizes_(std::move(sizes)) {}

AnchorFitter::AnchorFitter(const Dataset& dataset)
    : AnchorFitter(dataset.imgsz, label_sizes(dataset, anchor_seed)) {}

AnchorChoice AnchorFitter::fit(std::span<const Size> current, double thr,
                               const std::function<void()>& beat) {
  AnchorChoice keep{.anchors = {current.begin(), current.end()},
                    .replaced = false,
                    .fit = measure(current, sizes_.jittered, thr)};
  constexpr double good_enough = 0.98;  // YOLOv5's
  if (keep.fit.best_possible_recall > good_enough) return keep;
  const AnchorSearch search{
      .anchors = static_cast<int>(current.size()), .imgsz = imgsz_, .thr = thr, .beat = beat};
  const Columns labels = visible(sizes_.exact);
  auto start = starts_.find(search.anchors);
  if (start == starts_.end())
    start = starts_.emplace(search.anchors, start_of(labels, search)).first;
  AnchorChoice found{
      .anchors = refined(start->second, labels, search), .replaced = true, .fit = {}};
  found.fit = measure(found.anchors, sizes_.jittered, thr);
  return found.fit.best_possible_recall > keep.fit.best_possible_recall ? found : keep;
}

}  // namespace evolve::data
