#include "trainer/render/coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <vector>

namespace evolve::trainer {
namespace {

/// One layer's part of an array [coordinates][layers][length], backwards if it is flipped.
template <class Number>
class Line {
 public:
  Line(std::vector<Number>& all, std::int64_t coordinate, std::int64_t layers, std::int64_t l,
       std::int64_t length, bool flipped)
      : first_(&all[static_cast<std::size_t>((coordinate * layers + l) * length +
                                             (flipped ? length - 1 : 0))]),
        step_(flipped ? -1 : 1) {}
  Number& operator[](std::int64_t i) const { return first_[i * step_]; }

 private:
  Number* first_;
  std::int64_t step_;
};

/// As cv::warpAffine inverts it.
cv::Matx23d inverse_of(const cv::Matx33d& m) {
  double determinant = m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
  determinant = determinant != 0 ? 1 / determinant : 0;
  const double a = m(1, 1) * determinant, e = m(0, 0) * determinant;
  const double b = m(0, 1) * -determinant, d = m(1, 0) * -determinant;
  return {a, b, -a * m(0, 2) - b * m(1, 2), d, e, -d * m(0, 2) - e * m(1, 2)};
}

/// The nearest number of 1/1024 pixels. Beyond any canvas it need not be right, but must not
/// overflow.
std::int32_t fixed(double pixels) {
  constexpr double most = 1 << 29;
  return static_cast<std::int32_t>(std::nearbyint(std::clamp(pixels * 1024, -most, most)));
}

void add_affine(const data::Warp& warp, Flips flips, std::int64_t l, RenderTables& tables) {
  const cv::Matx23d m = inverse_of(warp.matrix);
  // cv::warpAffine rounds to 1/32 pixel by this.
  constexpr std::int32_t half = 1024 / 32 / 2;
  for (int c = 0; c < 2; ++c) {
    const Line columns(tables.columns, c, tables.layers, l, tables.width, flips.x);
    const Line rows(tables.rows, c, tables.layers, l, tables.height, flips.y);
    for (std::int64_t x = 0; x < tables.width; ++x)
      columns[x] = fixed(m(c, 0) * static_cast<double>(x));
    for (std::int64_t y = 0; y < tables.height; ++y)
      rows[y] = fixed(m(c, 1) * static_cast<double>(y) + m(c, 2)) + half + 1024;
  }
}

/// The power of two by which the numbers of a layer, x, y and w, use 61 of 64 bits.
int exponent_for(const cv::Matx33d& m, const RenderTables& tables) {
  double greatest = 0;
  for (int c = 0; c < 3; ++c) {
    greatest = std::max(greatest, std::abs(m(c, 0)) * static_cast<double>(tables.width) +
                                      std::abs(m(c, 1)) * static_cast<double>(tables.height) +
                                      std::abs(m(c, 2)));
  }
  return greatest > 0 ? 60 - std::ilogb(greatest) - 1 : 0;
}

void add_projective(const data::Warp& warp, Flips flips, std::int64_t l, RenderTables& tables) {
  cv::Mat inverse;
  cv::invert(cv::Mat(warp.matrix), inverse);  // as cv::warpPerspective does
  const cv::Matx33d m = inverse;
  const int exponent = exponent_for(m, tables);
  const auto whole = [&](double value) { return std::llround(std::ldexp(value, exponent)); };
  const auto line = [&](auto& all, int c, std::int64_t length, bool flipped) {
    return Line(all, c, tables.layers, l, length, flipped);
  };
  for (int c = 0; c < 3; ++c) {
    const auto columns = line(tables.fine_columns, c, tables.width, flips.x);
    for (std::int64_t x = 0; x < tables.width; ++x) {
      const auto at = static_cast<double>(x);
      // An odd w is never 0. One w more is one pixel further.
      const auto w = whole(m(2, 0) * at) / 2 * 2;
      columns[x] = c == 2 ? w : whole(m(c, 0) * at) + w;
    }
    const auto rows = line(tables.fine_rows, c, tables.height, flips.y);
    for (std::int64_t y = 0; y < tables.height; ++y) {
      const auto at = static_cast<double>(y);
      const auto w = whole(m(2, 1) * at + m(2, 2)) | 1;
      rows[y] = c == 2 ? w : whole(m(c, 1) * at + m(c, 2)) + w;
    }
  }
}

}  // namespace

void add_coordinates(const data::Warp& warp, Flips flips, std::int64_t l, RenderTables& tables) {
  warp.projective ? add_projective(warp, flips, l, tables) : add_affine(warp, flips, l, tables);
}

}  // namespace evolve::trainer
