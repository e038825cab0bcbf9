#include "devices/spec.hpp"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <regex>
#include <stdexcept>

namespace evolve::devices {
namespace {

template <class... F>
struct Cases : F... {
  using F::operator()...;
};

Request parse_item(const std::string& item) {
  // Six digits are more than any machine has, and fit an int; std::regex wants bounded repetitions.
  static const std::regex bare(R"(0|[1-9]\d{0,5})");
  static const std::regex device(
      R"(([a-z][a-z0-9_]{0,30})(?::(?:(\*)|(0|[1-9]\d{0,5})(?:\*([1-9]\d{0,5}))?))?)");
  std::smatch part;
  if (item == "auto") return Automatic{};
  if (item == "slurm") return Allocation{};
  if (item == "-1") return IdleGpu{};
  if (item == "cpu") return WholeCpu{};
  if (std::regex_match(item, bare)) return Gpu{std::stoi(item)};
  const bool matches = std::regex_match(item, part, device);
  if (!matches || part[1] == "auto" || part[1] == "slurm")
    throw std::invalid_argument(item.empty() ? "a device is missing"
                                             : "'" + item + "' is no device");
  if (part[2].matched) return AllOf{part[1]};
  return Device{part[1], part[3].matched ? std::stoi(part[3]) : 0,
                part[4].matched ? std::stoi(part[4]) : 1};
}

/// The kind whose devices the request names one by one or as a whole, or "".
std::string kind_of(const Request& request) {
  return std::visit(Cases{[](const WholeCpu&) { return std::string("cpu"); },
                          [](const AllOf& all) { return all.kind; },
                          [](const Device& device) { return device.kind; },
                          [](const auto&) { return std::string(); }},
                    request);
}

/// Both name the same device.
bool overlap(const Request& a, const Request& b) {
  const auto* left = std::get_if<Device>(&a);
  const auto* right = std::get_if<Device>(&b);
  if (left && right) return left->kind == right->kind && left->index == right->index;
  if (std::holds_alternative<IdleGpu>(a)) return false;
  return a == b || (!kind_of(a).empty() && kind_of(a) == kind_of(b));
}

bool stands_alone(const Request& request) {
  return std::holds_alternative<Automatic>(request) || std::holds_alternative<Allocation>(request);
}

}  // namespace

std::vector<Request> parse_spec(std::string_view spec) {
  auto text = std::string(spec);
  boost::replace_all(text, "：", ":");
  boost::replace_all(text, "，", ",");
  boost::to_lower(text, std::locale::classic());
  boost::trim(text, std::locale::classic());
  if (text.empty()) throw std::invalid_argument("it is empty");

  std::vector<std::string> items;
  boost::split(items, text, boost::is_any_of(","));
  std::vector<Request> requests;
  for (auto& item : items) {
    boost::trim(item, std::locale::classic());
    const auto request = parse_item(item);
    for (const auto& earlier : requests)
      if (overlap(earlier, request))
        throw std::invalid_argument(name_of(earlier) == name_of(request)
                                        ? item + " is named twice"
                                        : item + " is part of what " + name_of(earlier) + " names");
    requests.push_back(request);
  }
  const auto alone = std::ranges::find_if(requests, stands_alone);
  if (requests.size() > 1 && alone != requests.end())
    throw std::invalid_argument(name_of(*alone) + " stands alone");
  return requests;
}

std::string name_of(const Request& request) {
  return std::visit(
      Cases{[](const Automatic&) { return std::string("auto"); },
            [](const Allocation&) { return std::string("slurm"); },
            [](const IdleGpu&) { return std::string("-1"); },
            [](const Gpu& gpu) { return std::to_string(gpu.index); },
            [](const WholeCpu&) { return std::string("cpu"); },
            [](const AllOf& all) { return all.kind + ":*"; },
            [](const Device& device) { return device.kind + ":" + std::to_string(device.index); }},
      request);
}

}  // namespace evolve::devices
