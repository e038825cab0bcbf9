#include "trainer/data/embedded/shapes_scene.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <opencv2/imgproc.hpp>
#include <optional>

namespace evolve::data {
namespace {

constexpr int side = 128;
using Contours = std::vector<std::vector<cv::Point2d>>;

/// A turned outline somewhere on the canvas, and how much each pixel is covered by it (0..255).
struct Figure {
  Contours contours;
  cv::Mat cover;
};

cv::Scalar any_colour(SceneRandom& random) {
  return {random.between(20, 235), random.between(20, 235), random.between(20, 235)};
}

/// A point anywhere on the canvas. Numbers are drawn one by one, here and below: compilers differ
/// in the order in which they evaluate arguments.
cv::Point any_pixel(SceneRandom& random) {
  const int y = random.below(side), x = random.below(side);
  return {x, y};
}

/// Smooth noise of `cells` x `cells` random values, -1..1 before scaling by `strength`.
cv::Mat smooth_noise(int cells, double strength, SceneRandom& random) {
  cv::Mat coarse(cells, cells, CV_8UC3), fine, signed_noise;
  for (auto& value : cv::Mat_<cv::Vec3b>(coarse)) {
    for (int i = 0; i < 3; ++i)
      value[i] = static_cast<std::uint8_t>(128 + strength * random.between(-1, 1));
  }
  cv::resize(coarse, fine, {side, side}, 0, 0, cv::INTER_LINEAR_EXACT);
  fine.convertTo(signed_noise, CV_16S, 1, -128);
  return signed_noise;
}

/// A gradient between two colours with smooth noise of two sizes.
cv::Mat background(SceneRandom& random) {
  const cv::Scalar from = any_colour(random), to = from * 0.5 + any_colour(random) * 0.5;
  const double angle = random.between(0, 2 * std::numbers::pi);
  const double across = std::cos(angle) / side, down = std::sin(angle) / side;
  cv::Mat image(side, side, CV_16SC3);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const double part =
          std::clamp(0.5 + (x - side / 2) * across + (y - side / 2) * down, 0.0, 1.0);
      auto& pixel = image.at<cv::Vec3s>(y, x);
      for (int i = 0; i < 3; ++i) pixel[i] = static_cast<short>(from[i] + (to[i] - from[i]) * part);
    }
  }
  const double large = random.between(10, 50);
  image += smooth_noise(3 + random.below(5), large, random);
  const double small = random.between(5, 30);
  image += smooth_noise(16 + random.below(30), small, random);
  cv::Mat result;
  image.convertTo(result, CV_8U);
  return result;
}

Figure place(Shape shape, double radius, SceneRandom& random) {
  const double angle = random.between(0, 2 * std::numbers::pi);
  const double margin = 0.4 * radius;
  const double y = random.between(margin, side - margin);
  const cv::Point2d centre(random.between(margin, side - margin), y);
  Figure figure{outline_of(shape, random), cv::Mat::zeros(side, side, CV_8U)};
  std::vector<std::vector<cv::Point>> fixed_point;
  for (auto& contour : figure.contours) {
    auto& points = fixed_point.emplace_back();
    for (cv::Point2d& point : contour) {
      point = centre + radius * cv::Point2d(point.x * std::cos(angle) - point.y * std::sin(angle),
                                            point.x * std::sin(angle) + point.y * std::cos(angle));
      points.emplace_back(cvRound((point.x - 0.5) * 16), cvRound((point.y - 0.5) * 16));
    }
  }
  cv::fillPoly(figure.cover, fixed_point, 255, cv::LINE_AA, 4);
  return figure;
}

/// Paint of one or two colours: plain, striped or a gradient; far enough from what it covers to be
/// seen.
cv::Mat paint(cv::Size size, const cv::Scalar& beneath, SceneRandom& random) {
  cv::Scalar colour = any_colour(random);
  const auto contrast = [&] {
    return std::abs(colour[0] - beneath[0]) + std::abs(colour[1] - beneath[1]) +
           std::abs(colour[2] - beneath[2]);
  };
  while (contrast() < 90) colour = any_colour(random);
  const cv::Scalar second = colour * 0.6 + any_colour(random) * 0.4;
  const int style = random.below(4);
  const double angle = random.between(0, 2 * std::numbers::pi), period = random.between(4, 12);
  cv::Mat result(size, CV_8UC3, colour);
  if (style < 2) return result;  // plain

  const double across = std::cos(angle), down = std::sin(angle);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const double along = x * across + y * down;
      const double part = style == 2 ? std::fmod(along + 4 * side, period) < period / 2
                                     : 0.5 + 0.5 * std::sin(along / (2 * period));
      auto& pixel = result.at<cv::Vec3b>(y, x);
      for (int i = 0; i < 3; ++i)
        pixel[i] = static_cast<std::uint8_t>(colour[i] + (second[i] - colour[i]) * part);
    }
  }
  return result;
}

/// Lays paint over the image: image += (paint - image) * cover / 255.
void cover_with(cv::Mat image, const cv::Mat& colours, const cv::Mat& cover) {
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x) {
      const int part = cover.at<std::uint8_t>(y, x);
      if (part == 0) continue;
      auto& to = image.at<cv::Vec3b>(y, x);
      const auto& from = colours.at<cv::Vec3b>(y, x);
      for (int i = 0; i < 3; ++i)
        to[i] = static_cast<std::uint8_t>((to[i] * (255 - part) + from[i] * part + 127) / 255);
    }
  }
}

void draw(cv::Mat& image, const Figure& figure, SceneRandom& random) {
  const cv::Rect area = cv::boundingRect(figure.cover);
  const cv::Mat cover = figure.cover(area);
  cover_with(image(area), paint(area.size(), cv::mean(image(area), cover), random), cover);
}

/// Things of no class: shapes of other kinds, lines, arcs and specks.
void draw_clutter(cv::Mat& image, SceneRandom& random) {
  constexpr Shape kinds[] = {Shape::bar, Shape::half_disc, Shape::corner};
  for (int i = random.below(4); i > 0; --i) {
    const Shape kind = kinds[random.below(3)];
    draw(image, place(kind, random.between(6, 26), random), random);
  }
  for (int i = random.below(6); i > 0; --i) {
    cv::Mat cover = cv::Mat::zeros(side, side, CV_8U);
    const cv::Point from = any_pixel(random), to = any_pixel(random);
    const int thickness = 1 + random.below(2);
    if (random.chance(0.6)) {
      cv::line(cover, from, to, 255, thickness, cv::LINE_AA);
    } else {
      const double begin = random.between(0, 360), end = begin + random.between(40, 160);
      const cv::Size axes{8 + random.below(40), 8 + random.below(40)};
      cv::ellipse(cover, from, axes, 0, begin, end, 255, thickness, cv::LINE_AA);
    }
    cover_with(image, cv::Mat(cover.size(), CV_8UC3, any_colour(random)), cover);
  }
  for (int i = random.below(20); i > 0; --i) {
    const cv::Point at = any_pixel(random);
    const cv::Scalar colour = any_colour(random);
    cv::circle(image, at, 1 + random.below(2), colour, cv::FILLED, cv::LINE_8);
  }
}

/// Around the contours, clipped to the canvas and rounded to the six decimals that label files
/// show.
Label label_of(int cls, const Contours& contours) {
  double left = side, top = side, right = 0, bottom = 0;
  for (const cv::Point2d& point : contours.front()) {
    left = std::max(0.0, std::min(left, point.x));
    top = std::max(0.0, std::min(top, point.y));
    right = std::min<double>(side, std::max(right, point.x));
    bottom = std::min<double>(side, std::max(bottom, point.y));
  }
  const auto rounded = [](double pixels) {
    return static_cast<float>(std::round(pixels / side * 1e6) / 1e6);
  };
  return {cls, rounded((left + right) / 2), rounded((top + bottom) / 2), rounded(right - left),
          rounded(bottom - top)};
}

/// Who is seen at each pixel (0: nobody), and how many pixels each object has in all.
struct Visibility {
  cv::Mat owner = cv::Mat::zeros(side, side, CV_8U);
  std::vector<int> areas = {0};

  /// Lets a new object in front of the others, unless one of them would then show less than 45 %.
  bool admit(const cv::Mat& cover) {
    const cv::Mat solid = cover > 127;
    cv::Mat after = owner.clone();
    after.setTo(static_cast<double>(areas.size()), solid);
    for (std::size_t i = 1; i < areas.size(); ++i) {
      if (cv::countNonZero(after == static_cast<double>(i)) < 0.45 * areas[i]) return false;
    }
    owner = after;
    areas.push_back(cv::countNonZero(solid));
    return true;
  }
};

/// An object of that radius where it may be; none when there is no room.
std::optional<Figure> find_room(Shape shape, double radius, Visibility& visibility,
                                SceneRandom& random) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    Figure figure = place(shape, radius, random);
    if (visibility.admit(figure.cover)) return figure;
  }
  return std::nullopt;
}

/// Noise on every pixel: one part for all channels, half as much for each alone.
void add_grain(cv::Mat& image, SceneRandom& random) {
  const double strength = random.between(2, 18);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const auto noise = random.four();
      auto& pixel = image.at<cv::Vec3b>(y, x);
      for (int i = 0; i < 3; ++i) {
        pixel[i] = cv::saturate_cast<std::uint8_t>(pixel[i] + strength * (noise[3] + noise[i] / 2));
      }
    }
  }
}

}  // namespace

Scene draw_scene(const std::vector<Shape>& classes, SceneRandom& random) {
  Scene scene{background(random), {}};
  draw_clutter(scene.pixels, random);
  Visibility visibility;
  for (int i = 1 + random.below(8); i > 0; --i) {
    const int cls = random.below(static_cast<int>(classes.size()));
    const double radius = 7 * std::pow(34.0 / 7, random.between(0, 1));
    const auto figure =
        find_room(classes[static_cast<std::size_t>(cls)], radius, visibility, random);
    if (!figure) continue;
    draw(scene.pixels, *figure, random);
    scene.labels.push_back(label_of(cls, figure->contours));
  }
  if (random.chance(0.3)) cv::GaussianBlur(scene.pixels, scene.pixels, {3, 3}, 0);
  add_grain(scene.pixels, random);
  return scene;
}

}  // namespace evolve::data
