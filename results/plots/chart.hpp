// gnuplot scripts of charts with several panels, all in one style.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/plots/axis.hpp"

namespace evolve::results {

/// Where on a chart a panel is, in pixels from the left and the top, without its labels.
struct Rectangle {
  double left, right, top, bottom;
};

/// A script in the making: each panel is set up, then plotted.
class Chart {
 public:
  /// The width is 1600 pixels; `terminal` is "png" or "svg".
  Chart(const std::string& terminal, double height);
  static constexpr double width = 1600;
  /// Right of the last panel, and between panels that are beside each other.
  static constexpr double right_margin = 25, gap = 28;

  /// Commands as they are.
  void add(const std::string& commands) { script_ += commands + "\n"; }
  /// A data block, to be plotted as `$name`.
  void data(const std::string& name, const std::vector<std::vector<double>>& rows);
  void panel(const Rectangle& box, const std::string& title);
  /// `letter` is "x" or "y". Of panels that share an axis one is labelled.
  void axis(const std::string& letter, const Axis& axis, const std::string& name = "",
            bool labelled = true);
  /// A text anywhere, from its left end or centred.
  void text(const std::string& text, double x, double y, const std::string& alignment = "left",
            const std::string& colour = "#222222");
  void plot(const std::string& what) { add("plot " + what + "\nunset label"); }

  std::string script() const { return script_ + "unset multiplot\n"; }

 private:
  double height_;
  std::string script_;
};

/// "name = value" as the title of a gene's panel of so many pixels: of a long name its end tells it
/// from others, and where hardly any of it would be left, the value is left out.
std::string gene_title(const std::string& name, const std::string& value, double width);

/// What a plot command draws for a point that stands out.
std::string plus(double x, double y);

/// gnuplot's terminal for this file ("png" or "svg"); throws `Error` for another ending.
std::string terminal_of(const std::filesystem::path& image);

}  // namespace evolve::results
