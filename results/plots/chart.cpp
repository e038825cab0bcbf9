#include "results/plots/chart.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/case_conv.hpp>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/utf8.hpp"
#include "results/plots/gnuplot.hpp"

namespace evolve::results {

using core::shortest;

Chart::Chart(const std::string& terminal, double height) : height_(height) {
  add(fmt::format("set terminal {} noenhanced size {},{} font 'Sans,14' background rgb 'white'",
                  terminal == "png" ? "pngcairo" : "svg", width, height));
  add("set encoding utf8\n"
      "unset key\n"
      "unset colorbox\n"
      "set border 3 lc rgb '#9a9a9a'\n"
      "set tics nomirror out scale 0.5 textcolor rgb '#555555' font ',12'\n"
      "set format '%g'\n"
      "set xlabel offset 0,0.4\n"
      "set grid lc rgb '#ececec' lt 1 lw 1\n"
      "set multiplot");
}

void Chart::data(const std::string& name, const std::vector<std::vector<double>>& rows) {
  script_ += "$" + name + " << EOD\n";
  for (const auto& row : rows) {
    for (const double number : row) script_ += shortest(number) + " ";
    script_.back() = '\n';
  }
  script_ += "EOD\n";
}

void Chart::panel(const Rectangle& box, const std::string& title) {
  add(
      fmt::format("set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
                  "set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n"
                  "set title {} offset 0,-0.6 textcolor rgb '#222222'",
                  box.left / width, box.right / width, 1 - box.top / height_,
                  1 - box.bottom / height_, gnuplot_quoted(title)));
}

void Chart::axis(const std::string& letter, const Axis& axis, const std::string& name,
                 bool labelled) {
  std::string ticks;
  for (const auto& [value, text] : axis.ticks) {
    std::string label;
    for (const char c : text) label += c == '%' ? "%%" : std::string(1, c);  // it is a format
    ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ",
                         labelled && text.empty() ? "" : gnuplot_quoted(labelled ? label : ""),
                         shortest(value));
  }
  add(
      fmt::format("{0} logscale {1}\nset {1}range [{2}:{3}]\nset {1}tics ({4})\n"
                  "set {1}label {5} textcolor rgb '#555555'",
                  axis.log ? "set" : "unset", letter, shortest(axis.low), shortest(axis.high),
                  ticks, gnuplot_quoted(labelled ? name : "")));
}

void Chart::text(const std::string& text, double x, double y, const std::string& alignment,
                 const std::string& colour) {
  add(fmt::format("set label {} at screen {:.5f},{:.5f} {} textcolor rgb '{}'",
                  gnuplot_quoted(text), x / width, 1 - y / height_, alignment, colour));
}

std::string gene_title(const std::string& name, const std::string& value, double width) {
  constexpr double character = 11;
  constexpr std::size_t least_name = 12, least_value = 4;
  const auto room = static_cast<std::size_t>((width + Chart::gap) / character) - 1;
  const auto rest = value.empty() ? "" : " = " + value;
  const auto all = core::characters(name) + core::characters(rest);
  if (all > room && room < core::characters(rest) + least_name) {
    const auto kept = std::min(core::characters(name), least_name) + 3;
    if (value.empty() || room < kept + least_value) return core::without_beginning(name, room);
    return core::without_beginning(name, kept - 3) + " = " + core::without_end(value, room - kept);
  }
  return core::without_beginning(name, room - core::characters(rest)) + rest;
}

std::string plus(double x, double y) {
  const std::string point =
      fmt::format("'+' using ({}):({}) every ::0::0 with points pt 1", shortest(x), shortest(y));
  // A white rim sets it off from the points beneath.
  return point + " ps 3.1 lw 7 lc rgb 'white', " + point + " ps 2.8 lw 3 lc rgb '#111111'";
}

std::string terminal_of(const std::filesystem::path& image) {
  const auto ending = boost::to_lower_copy(image.extension().string());
  if (ending == ".png" || ending == ".svg") return ending.substr(1);
  throw bad_argument(image.string() + ": neither a PNG nor an SVG file",
                     "end its name in .png or .svg");
}

}  // namespace evolve::results
