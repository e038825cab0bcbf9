#include "trainer/data/label_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>
#include <system_error>
#include <tuple>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text_file.hpp"
#include "core/utf8.hpp"
#include "trainer/data/data_yaml.hpp"

namespace evolve::data {
namespace {

/// How many bytes the blank takes with which a text begins; 0 where it begins with another letter.
std::size_t blank_before(std::string_view text) {
  constexpr std::string_view blanks = " \t\v\f", no_break_space = "\xc2\xa0";
  if (blanks.find(text.front()) != std::string_view::npos) return 1;
  return text.starts_with(no_break_space) ? no_break_space.size() : 0;
}

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  std::size_t begin = 0, end = 0;
  const auto end_column = [&] {
    if (end > begin) columns.push_back(line.substr(begin, end - begin));
  };
  while (end < line.size()) {
    if (const auto blank = blank_before(line.substr(end))) {
      end_column();
      begin = end += blank;
    } else {
      ++end;
    }
  }
  end_column();
  return columns;
}

/// Takes the first line from a text. It ends with LF, CR LF or CR, as Python's do.
std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find_first_of("\r\n"), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(end);
  if (!text.empty()) text.remove_prefix(text.starts_with("\r\n") ? 2 : 1);
  return line;
}

double number_of(std::string_view text, const Where& where) {
  const std::string_view digits = text.substr(text.starts_with('+') ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // What is too small for a double is 0, what is too large infinite: that is outside every range.
  if (error == std::errc::result_out_of_range && end == digits.data() + digits.size())
    return std::strtod(std::string(digits).c_str(), nullptr);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw bad_input(where, fmt::format("'{}' is no number", text.substr(0, 40)),
                    "write class and coordinates as numbers");
  }
  return value;
}

int class_of(std::string_view text, const Where& where, int classes, bool single_cls) {
  const double value = number_of(text, where);
  constexpr double most = std::numeric_limits<int>::max();
  if (single_cls && value >= 0) return static_cast<int>(std::min(value, most));
  if (!(value >= 0 && value < classes) || value != static_cast<int>(value)) {
    throw bad_input(where, fmt::format("'{}' is no class", text.substr(0, 40)),
                    fmt::format("write an integer from 0 to {}", classes - 1));
  }
  return static_cast<int>(value);
}

Error outside(std::string_view text, const Where& where) {
  return bad_input(
      where, fmt::format("coordinate {} is outside 0..1", text.substr(0, 40)),
      "write shares of the image's width and height, and cut the box off at its edges");
}

/// As YOLOv5 reads it: the nearest float is what counts.
float coordinate_of(std::string_view text, const Where& where) {
  const auto value = static_cast<float>(number_of(text, where));
  if (!std::isfinite(value)) throw outside(text, where);
  return value;
}

bool in_image(float coordinate) {
  return coordinate >= 0 && coordinate <= 1;
}

/// Of an outline single points may leave the image, as in YOLOv5, but not its box.
void check_box(const Label& box, const std::vector<std::string_view>& columns, const Where& where) {
  if (in_image(box.x) && in_image(box.y) && in_image(box.w) && in_image(box.h)) return;
  for (std::size_t i = 1; i < columns.size(); ++i)
    if (!in_image(coordinate_of(columns[i], where))) throw outside(columns[i], where);
}

/// The box around an outline.
Label box_around(int cls, const Segment& segment) {
  const auto [left, right] = std::minmax_element(segment.begin(), segment.end(),
                                                 [](auto& a, auto& b) { return a.x < b.x; });
  const auto [top, bottom] = std::minmax_element(segment.begin(), segment.end(),
                                                 [](auto& a, auto& b) { return a.y < b.y; });
  return {cls, (left->x + right->x) / 2, (top->y + bottom->y) / 2, right->x - left->x,
          bottom->y - top->y};
}

Segment rectangle_of(const Label& label) {
  const float left = label.x - label.w / 2, right = label.x + label.w / 2;
  const float top = label.y - label.h / 2, bottom = label.y + label.h / 2;
  return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
}

/// Adds the object that one line describes; its outline is empty when the line is a box.
void add_row(const std::vector<std::string_view>& columns, const Where& where, int classes,
             bool single_cls, LabelFile& file) {
  const auto count = columns.size();
  if (count != 5 && (count < 7 || count % 2 == 0)) {
    throw bad_input(
        where, core::counted(count, "column"),
        "write 'class x y width height', or 'class x1 y1 x2 y2 x3 y3 …' for an outline");
  }
  const int cls = class_of(columns[0], where, classes, single_cls);
  Segment points;
  for (std::size_t i = 1; i < count; i += 2) {
    points.emplace_back(coordinate_of(columns[i], where), coordinate_of(columns[i + 1], where));
  }
  const bool is_box = count == 5;
  file.labels.push_back(is_box ? Label{cls, points[0].x, points[0].y, points[1].x, points[1].y}
                               : box_around(cls, points));
  check_box(file.labels.back(), columns, where);
  file.segments.push_back(is_box ? Segment() : std::move(points));
}

/// Drops rows that occur twice. Only then are the others sorted: NumPy's unique does so.
void drop_duplicates(LabelFile& file) {
  std::vector<std::size_t> order(file.labels.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::size_t i) {
    const Label& label = file.labels[i];
    return std::tie(label.cls, label.x, label.y, label.w, label.h);
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  order.erase(
      std::unique(order.begin(), order.end(), [&](auto a, auto b) { return key(a) == key(b); }),
      order.end());
  if (order.size() == file.labels.size()) return;

  LabelFile kept{{}, {}, static_cast<int>(file.labels.size() - order.size())};
  for (const std::size_t i : order) {
    kept.labels.push_back(file.labels[i]);
    kept.segments.push_back(std::move(file.segments[i]));
  }
  file = std::move(kept);
}

}  // namespace

LabelFile parse_labels(std::string_view text, const std::string& file, int classes,
                       bool single_cls) {
  LabelFile result;
  text = core::without_byte_order_mark(text);
  std::string first_fault;
  int faults = 0;
  for (int line = 1; !text.empty(); ++line) try {
      const auto columns = columns_of(take_line(text));
      if (!columns.empty()) add_row(columns, {file, line}, classes, single_cls, result);
    } catch (const Error& fault) {
      if (faults++ == 0) first_fault = fault.what();
    }
  if (faults > 1) first_fault += fmt::format(" (and {} more of its lines)", faults - 1);
  if (faults > 0) throw Error(Error::Fault::input, first_fault);
  drop_duplicates(result);
  // Not before: two equal boxes of two classes stay two objects, as in YOLOv5.
  if (single_cls)
    for (Label& label : result.labels) label.cls = 0;

  const auto is_empty = [](const Segment& segment) { return segment.empty(); };
  if (std::all_of(result.segments.begin(), result.segments.end(), is_empty)) {
    result.segments.clear();
  }
  for (std::size_t i = 0; i < result.segments.size(); ++i) {
    if (result.segments[i].empty()) result.segments[i] = rectangle_of(result.labels[i]);
  }
  return result;
}

LabelFile read_labels(const std::string& image_file, int classes, bool single_cls) {
  const std::string file = label_file_of(image_file);
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::none)
    throw bad_input({file}, "cannot be read (" + error.message() + ")", "check its permissions");
  if (!std::filesystem::is_regular_file(status)) {
    const bool is_named = std::filesystem::exists(std::filesystem::symlink_status(file, error));
    if (!is_named) return {};
    throw bad_input({file}, std::filesystem::exists(status) ? "is no file" : "is a link to nothing",
                    "mend it, or remove it if the image has no objects");
  }
  return parse_labels(core::read_text_file(file), file, classes, single_cls);
}

std::string label_lines(const std::vector<Label>& labels) {
  std::string lines;
  for (const Label& label : labels) {
    lines += fmt::format("{} {} {} {} {}\n", label.cls, label.x, label.y, label.w, label.h);
  }
  return lines;
}

}  // namespace evolve::data
