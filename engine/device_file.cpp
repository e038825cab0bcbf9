#include "engine/device_file.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string.hpp>
#include <fstream>
#include <iterator>
#include <utility>

#include "results/durable.hpp"

namespace evolve::engine {
namespace {

constexpr std::chrono::seconds between_looks{1};
constexpr auto manual =
    "# The devices of this run, as in --devices. Edit this while evolve runs: what is added "
    "trains,\n"
    "# what is taken out gets no further trial. A line \"take cuda:0\" takes a device away at "
    "once:\n"
    "# what it trains is trained again on another.\n";

std::string list_of(const std::vector<core::Slot>& slots) {
  std::string text;
  for (std::size_t i = 0; i < slots.size();) {
    const auto& name = slots[i].name;
    const auto first = i;
    while (i < slots.size() && slots[i].name == name) ++i;
    text += i - first > 1 ? fmt::format("{}*{}\n", name, i - first) : name + "\n";
  }
  return text;
}

}  // namespace

DeviceRequest parse_device_file(const std::string& text) {
  DeviceRequest request;
  std::vector<std::string> lines, items;
  boost::split(lines, text, boost::is_any_of("\n"));
  for (auto line : lines) {
    line = boost::trim_copy(line.substr(0, line.find('#')));
    if (line.starts_with("take ")) {
      request.taken_at_once.push_back(boost::trim_copy(line.substr(5)));
    } else if (!line.empty()) {
      items.push_back(line);
    }
  }
  request.spec = boost::join(items, ",");
  return request;
}

DeviceFile::DeviceFile(std::filesystem::path file, const std::vector<core::Slot>& slots)
    : file_(std::move(file)), text_(manual + list_of(slots)) {
  results::write_atomically(file_, text_);
}

std::optional<DeviceRequest> DeviceFile::changed() {
  if (Clock::now() < look_again_) return {};
  look_again_ = Clock::now() + between_looks;
  std::ifstream file(file_);
  if (!file) return {};
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text == text_) return {};
  const auto before = parse_device_file(std::exchange(text_, std::move(text)));
  auto request = parse_device_file(text_);
  return request == before ? std::nullopt : std::optional(std::move(request));
}

}  // namespace evolve::engine
