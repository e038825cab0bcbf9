#include "trainer/loss/targets.hpp"

#include <algorithm>

namespace evolve::trainer {
namespace {

/// An object and an anchor that fits it, in cells.
struct Candidate {
  std::int64_t image, anchor;
  int cls;
  float x, y, w, h;
  std::array<float, 2> anchor_size;
};

bool fits(float w, float h, const std::array<float, 2>& anchor, float anchor_t) {
  const float rw = w / anchor[0];
  const float rh = h / anchor[1];
  return std::max({rw, 1 / rw, rh, 1 / rh}) < anchor_t;
}

std::vector<Candidate> candidates(const std::vector<Target>& targets,
                                  const std::vector<std::array<float, 2>>& anchors, MapSize size,
                                  float anchor_t) {
  const auto nx = static_cast<float>(size.nx);
  const auto ny = static_cast<float>(size.ny);
  std::vector<Candidate> found;
  for (std::size_t a = 0; a < anchors.size(); ++a) {
    for (const Target& t : targets) {
      const float w = t[4] * nx;
      const float h = t[5] * ny;
      if (!fits(w, h, anchors[a], anchor_t)) continue;
      found.push_back({static_cast<std::int64_t>(t[0]), static_cast<std::int64_t>(a),
                       static_cast<int>(t[1]), t[2] * nx, t[3] * ny, w, h, anchors[a]});
    }
  }
  return found;
}

/// Whether a coordinate lies in the half of its cell towards 0, with a cell beyond.
bool near_low_side(float value) {
  return value > 1 && value - static_cast<float>(static_cast<std::int64_t>(value)) < 0.5F;
}

Match match(const Candidate& c, MapSize size, float dx, float dy) {
  Match m{c.image, c.anchor, 0, 0, c.cls, {}, c.anchor_size};
  m.x = std::clamp<std::int64_t>(static_cast<std::int64_t>(c.x - dx), 0, size.nx - 1);
  m.y = std::clamp<std::int64_t>(static_cast<std::int64_t>(c.y - dy), 0, size.ny - 1);
  m.box = {c.x - static_cast<float>(m.x), c.y - static_cast<float>(m.y), c.w, c.h};
  return m;
}

}  // namespace

std::vector<Match> assign(const std::vector<Target>& targets,
                          const std::vector<std::array<float, 2>>& anchors, MapSize size,
                          float anchor_t) {
  const auto found = candidates(targets, anchors, size, anchor_t);
  const auto nx = static_cast<float>(size.nx);
  const auto ny = static_cast<float>(size.ny);
  std::vector<Match> matches;
  const auto add = [&](float dx, float dy, auto wanted) {
    for (const Candidate& c : found) {
      if (wanted(c)) matches.push_back(match(c, size, dx, dy));
    }
  };
  add(0, 0, [](const Candidate&) { return true; });
  add(0.5F, 0, [](const Candidate& c) { return near_low_side(c.x); });
  add(0, 0.5F, [](const Candidate& c) { return near_low_side(c.y); });
  add(-0.5F, 0, [&](const Candidate& c) { return near_low_side(nx - c.x); });
  add(0, -0.5F, [&](const Candidate& c) { return near_low_side(ny - c.y); });
  return matches;
}

}  // namespace evolve::trainer
