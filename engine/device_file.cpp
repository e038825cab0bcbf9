#include "engine/device_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "core/device_kind.hpp"
#include "core/error.hpp"
#include "core/split.hpp"
#include "core/utf8.hpp"
#include "devices/slots.hpp"
#include "devices/spec.hpp"
#include "results/run_file.hpp"

namespace evolve::engine {
namespace {

constexpr std::chrono::seconds between_looks{1};
constexpr auto manual =
    "# The devices of this run, as in --devices. Edit this while evolve runs: what is added "
    "trains,\n"
    "# what is taken out gets no further trial. A line \"take cuda:0\" takes a device away at "
    "once:\n"
    "# what it trains is trained again on another.\n";

/// Nothing where it is gone for a moment, cannot be read, or is no file (a pipe would never end).
std::optional<std::string> text_in(const std::filesystem::path& path) try {
  std::error_code ignored;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, ignored)) file.open(path);
  if (!file.is_open()) return {};
  return std::string{std::istreambuf_iterator<char>(file), {}};
} catch (const std::ios_base::failure&) {
  return {};
}

/// What follows `take` in a line that begins with it.
std::optional<std::string> taken_in(const std::string& line) {
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  if (!boost::iequals(line.substr(0, end), "take")) return {};
  return std::string(core::trimmed(std::string_view(line).substr(end)));
}

/// The kind of the run's GPUs that a number alone means.
std::string kind_of_numbers(const std::set<std::string>& devices) {
  for (const auto& kind : core::kinds_with_driver())
    for (const auto& device : devices)
      if (core::kind_of(device) == kind.name) return kind.name;
  return {};
}

bool names(const devices::Request& request, const std::string& device,
           const std::set<std::string>& all) {
  if (const auto* every = std::get_if<devices::AllOf>(&request))
    return core::kind_of(device) == every->kind;
  if (const auto* gpu = std::get_if<devices::Gpu>(&request))
    return device == fmt::format("{}:{}", kind_of_numbers(all), gpu->index);
  return device == devices::name_of(request);
}

}  // namespace

std::vector<std::string> devices_named(const std::string& text,
                                       const std::set<std::string>& devices) {
  const auto refusal = [&](const std::string& what) {
    return bad_argument(fmt::format("take {}: {}", text.empty() ? "''" : text, what),
                        fmt::format("name one of {}", fmt::join(devices, ", ")));
  };
  try {
    std::vector<std::string> named;
    for (const auto& request : devices::parse_spec(text)) {
      const auto before = named.size();
      for (const auto& device : devices)
        if (names(request, device, devices)) named.push_back(device);
      if (named.size() == before)
        throw refusal(devices::name_of(request) + " is no device of the run");
    }
    return named;
  } catch (const std::invalid_argument& wrong) {
    throw refusal(wrong.what());
  }
}

DeviceRequest parse_device_file(const std::string& text) {
  DeviceRequest request;
  std::vector<std::string> items;
  for (const auto& whole : core::split(core::without_byte_order_mark(text), '\n')) {
    const std::string line(core::trimmed(whole.substr(0, whole.find('#'))));
    if (const auto taken = taken_in(line)) {
      request.taken_at_once.push_back(*taken);
    } else if (!line.empty()) {
      items.push_back(line);
    }
  }
  request.spec = boost::join(items, ",");
  return request;
}

DeviceFile::DeviceFile(std::filesystem::path file, const std::vector<core::Slot>& slots)
    : file_(std::move(file)),
      text_(fmt::format("{}{}\n", manual, fmt::join(devices::items_of(slots), "\n"))) {
  results::write_atomically(file_, text_);
}

std::optional<DeviceRequest> DeviceFile::changed() {
  if (Clock::now() < look_again_) return {};
  look_again_ = Clock::now() + between_looks;
  std::error_code ignored;
  const auto time = std::filesystem::last_write_time(file_, ignored);
  auto text = text_in(file_);
  if (!text) return {};
  const bool again = std::exchange(time_, time) != time && refused_;
  if (*text == text_ && !again) return {};
  const auto before = parse_device_file(std::exchange(text_, *std::move(text)));
  auto request = parse_device_file(text_);
  if (request == before && !again) return {};
  refused_ = false;
  return request;
}

}  // namespace evolve::engine
