// gnuplot commands for pictures of several plots, all in one style.
#pragma once

#include <filesystem>
#include <string>

#include "results/ticks.hpp"

namespace evolve::results {

/// A picture, in pixels.
struct Canvas {
  int width = 1600;
  int height = 0;
};

/// Where on a canvas a plot goes, in pixels from the left and the top, without its labels.
struct Box {
  double left, right, top, bottom;
};

/// gnuplot's terminal for this file ("png" or "svg"); throws `Error` for another ending.
std::string terminal_of(const std::filesystem::path& image);

/// The beginning and the end of a script.
std::string begin(const Canvas& canvas, const std::string& terminal);
std::string end();

/// The next plot goes there.
std::string place_at(const Box& box, const Canvas& canvas);
/// `set` of one axis, "x" or "y".
std::string axis_commands(const std::string& name, const Axis& axis, bool labelled = true);
std::string title(const std::string& text);
/// What a plot command draws for a point that stands out.
std::string plus(double x, double y);

}  // namespace evolve::results
