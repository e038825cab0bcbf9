#include "results/canvas.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/number.hpp"
#include "results/gnuplot.hpp"

namespace evolve::results {

std::string terminal_of(const std::filesystem::path& image) {
  const std::string ending = image.extension().string();
  if (ending == ".png" || ending == ".svg") return ending.substr(1);
  throw bad_argument(image.string() + ": this is no picture file", "end its name in .png or .svg");
}

std::string begin(const Canvas& canvas, const std::string& terminal) {
  const std::string name = terminal == "png" ? "pngcairo" : "svg";
  return fmt::format(
      "set terminal {} noenhanced size {},{} font 'Sans,14' background rgb 'white'\n"
      "set encoding utf8\n"
      "unset key\n"
      "set border 3 lc rgb '#9a9a9a'\n"
      "set tics nomirror out scale 0.5 textcolor rgb '#555555'\n"
      "set grid lc rgb '#ececec' lt 1 lw 1\n"
      "set multiplot\n",
      name, canvas.width, canvas.height);
}

std::string end() {
  return "unset multiplot\n";
}

std::string place_at(const Box& box, const Canvas& canvas) {
  return fmt::format(
      "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
      "set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n",
      box.left / canvas.width, box.right / canvas.width, 1 - box.top / canvas.height,
      1 - box.bottom / canvas.height);
}

std::string axis_commands(const std::string& name, const Axis& axis, bool labelled) {
  std::string ticks;
  for (const auto& [value, label] : axis.ticks) {
    ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ",
                         gnuplot_quoted(labelled ? label : ""), core::shortest(value));
  }
  return fmt::format("{} logscale {}\nset {}range [{}:{}]\nset {}tics ({})\n",
                     axis.log ? "set" : "unset", name, name, core::shortest(axis.low),
                     core::shortest(axis.high), name, ticks);
}

std::string plus(double x, double y) {
  const std::string point = fmt::format("'+' using ({}):({}) every ::0::0 with points pt 1",
                                        core::shortest(x), core::shortest(y));
  // A white rim sets it off from the points beneath.
  return point + " ps 3.1 lw 7 lc rgb 'white', " + point + " ps 2.8 lw 3 lc rgb '#111111'";
}

std::string title(const std::string& text) {
  return "set title " + gnuplot_quoted(text) + " offset 0,-0.6 textcolor rgb '#222222'\n";
}

}  // namespace evolve::results
