#include <cmath>
#include <numbers>

#include "trainer/data/embedded/shapes_scene.hpp"

namespace evolve::data {
namespace {

using Contour = std::vector<cv::Point2d>;
constexpr double full_turn = 2 * std::numbers::pi;

cv::Point2d on_circle(double angle, double radius = 1) {
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Points on an arc from angle `begin` to `end`, both included.
Contour arc(double begin, double end, double radius, int points) {
  Contour contour;
  for (int i = 0; i < points; ++i)
    contour.push_back(on_circle(begin + (end - begin) * i / (points - 1), radius));
  return contour;
}

Contour rectangle(double half_width, double half_height) {
  return {{-half_width, -half_height},
          {half_width, -half_height},
          {half_width, half_height},
          {-half_width, half_height}};
}

/// Points at even angles whose radii alternate between 1 and `inner`.
Contour star(int points, double inner) {
  Contour contour;
  for (int i = 0; i < 2 * points; ++i) {
    contour.push_back(on_circle(full_turn * i / (2 * points), i % 2 == 0 ? 1 : inner));
  }
  return contour;
}

Contour squeezed(Contour contour, double factor) {
  for (cv::Point2d& point : contour) point.y *= factor;
  return contour;
}

Contour triangle(SceneRandom& random) {
  Contour contour;
  for (int i = 0; i < 3; ++i)
    contour.push_back(on_circle(full_turn * (i + random.between(-0.06, 0.06)) / 3));
  return contour;
}

Contour cross(double arm) {
  return {{-arm, -1}, {arm, -1}, {arm, -arm}, {1, -arm}, {1, arm},   {arm, arm},
          {arm, 1},   {-arm, 1}, {-arm, arm}, {-1, arm}, {-1, -arm}, {-arm, -arm}};
}

/// A disc without a second one that is shifted to the right.
Contour crescent(double inner_radius) {
  const double tip = std::numbers::pi / 3;
  Contour contour = arc(tip, full_turn - tip, 1, 28);
  const cv::Point2d tip_point = on_circle(tip);
  const double centre =
      tip_point.x + std::sqrt(inner_radius * inner_radius - tip_point.y * tip_point.y);
  const double angle = std::asin(tip_point.y / inner_radius);
  for (const cv::Point2d& point :
       arc(std::numbers::pi + angle, std::numbers::pi - angle, inner_radius, 20)) {
    contour.push_back({point.x + centre, point.y});
  }
  return contour;
}

Contour corner(double thickness) {
  return {{-0.7, -0.7},
          {0.7, -0.7},
          {0.7, -0.7 + thickness},
          {-0.7 + thickness, -0.7 + thickness},
          {-0.7 + thickness, 0.7},
          {-0.7, 0.7}};
}

}  // namespace

std::vector<Contour> outline_of(Shape shape, SceneRandom& random) {
  const double half = std::numbers::sqrt2 / 2;
  switch (shape) {
    case Shape::circle:
      return {squeezed(arc(0, full_turn, 1, 48), random.between(0.88, 1))};
    case Shape::square:
      return {rectangle(half, half * random.between(0.85, 1))};
    case Shape::triangle:
      return {triangle(random)};
    case Shape::star:
      return {star(5, random.between(0.35, 0.5))};
    case Shape::cross:
      return {cross(random.between(0.22, 0.36))};
    case Shape::ring:
      return {arc(0, full_turn, 1, 48), arc(0, full_turn, random.between(0.5, 0.7), 48)};
    case Shape::pentagon:
      return {squeezed(arc(0, full_turn * 4 / 5, 1, 5), random.between(0.9, 1))};
    case Shape::crescent:
      return {crescent(random.between(0.95, 1.15))};
    case Shape::bar:
      return {rectangle(1, random.between(0.1, 0.22))};
    case Shape::half_disc:
      return {arc(0, std::numbers::pi, 1, 24)};
    case Shape::corner:
      return {corner(random.between(0.3, 0.5))};
  }
  return {};
}

}  // namespace evolve::data
