#include "devices/spec.hpp"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <optional>
#include <stdexcept>

#include "core/cases.hpp"
#include "core/number.hpp"
#include "core/split.hpp"

namespace evolve::devices {
namespace {

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}
bool is_letter(char c) {
  return 'a' <= c && c <= 'z';
}

/// A whole number from `least` up, written the usual way. Six digits are more than any machine has.
std::optional<int> number_in(std::string_view text, int least) {
  const auto number = core::parse_integer<int>(text);
  const bool usual = number && text.size() <= 6 && std::to_string(*number) == text;
  return usual && *number >= least ? number : std::nullopt;
}

bool is_kind(std::string_view text) {
  const auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, fits) && text != "auto" &&
         text != "slurm";
}

std::optional<Request> parse_item(std::string_view item) {
  if (item == "auto") return Automatic{};
  if (item == "slurm") return Allocation{};
  if (item == "-1") return IdleGpu{};
  if (item == "cpu") return WholeCpu{};
  if (const auto index = number_in(item, 0)) return Gpu{*index};

  const auto colon = item.find(':');
  const std::string kind(item.substr(0, colon));
  if (!is_kind(kind)) return {};
  if (colon == item.npos) return Device{kind};
  const auto rest = item.substr(colon + 1);
  if (rest == "*") return AllOf{kind};
  const auto star = rest.find('*');
  const auto index = number_in(rest.substr(0, star), 0);
  const auto trials = star == rest.npos ? 1 : number_in(rest.substr(star + 1), 1);
  constexpr int most_trials = 1000;
  if (!index || !trials || *trials > most_trials) return {};
  return Device{kind, *index, *trials};
}

/// Of an item with a "+".
Group parse_group(const std::string& item) {
  Group group;
  for (const auto& name : core::split_and_trim(item, '+')) {
    const auto parsed = parse_item(name);
    if (!parsed) throw std::invalid_argument("'" + item + "' is no device");
    const auto* device = std::get_if<Device>(&*parsed);
    if (!device)
      throw std::invalid_argument("'" + item +
                                  "' is no group: each of its devices has a kind and a number");
    if (device->trials > 1)
      throw std::invalid_argument(item + ": a group trains one trial at a time");
    if (group.kind.empty()) group.kind = device->kind;
    if (device->kind != group.kind)
      throw std::invalid_argument(item + ": the devices of a group are of one kind");
    if (std::ranges::count(group.indices, device->index) > 0)
      throw std::invalid_argument(item + ": " + name + " is named twice");
    group.indices.push_back(device->index);
  }
  return group;
}

/// The numbers of the devices that the request names one by one.
std::vector<int> indices_of(const Request& request) {
  if (const auto* group = std::get_if<Group>(&request)) return group->indices;
  if (const auto* device = std::get_if<Device>(&request)) return {device->index};
  return {};
}

/// Both name the same device.
bool overlap(const Request& a, const Request& b) {
  const auto left = indices_of(a), right = indices_of(b);
  if (!left.empty() && !right.empty())
    return kind_of(a) == kind_of(b) && std::ranges::find_first_of(left, right) != left.end();
  if (std::holds_alternative<IdleGpu>(a)) return false;
  return a == b || (!kind_of(a).empty() && kind_of(a) == kind_of(b));
}

bool stands_alone(const Request& request) {
  return std::holds_alternative<Automatic>(request) || std::holds_alternative<Allocation>(request);
}

}  // namespace

std::vector<Request> parse_spec(std::string_view spec) {
  std::string text(core::trimmed(spec));
  boost::replace_all(text, "：", ":");
  boost::replace_all(text, "，", ",");
  boost::to_lower(text, std::locale::classic());
  if (text.empty()) throw std::invalid_argument("it is empty");
  std::vector<Request> requests;
  for (const auto& item : core::split_and_trim(text, ',')) {
    if (item.empty()) throw std::invalid_argument("a device is missing");
    const auto parsed =
        item.find('+') == item.npos ? parse_item(item) : std::optional<Request>(parse_group(item));
    if (!parsed) throw std::invalid_argument("'" + item + "' is no device");
    const auto& request = *parsed;
    for (const auto& earlier : requests)
      if (overlap(earlier, request))
        throw std::invalid_argument(name_of(earlier) == name_of(request)
                                        ? item + " is named twice"
                                        : name_of(earlier) + " and " + item +
                                              " name the same device");
    requests.push_back(request);
  }
  const auto alone = std::ranges::find_if(requests, stands_alone);
  if (requests.size() > 1 && alone != requests.end())
    throw std::invalid_argument(name_of(*alone) + " stands alone");
  return requests;
}

std::string kind_of(const Request& request) {
  return std::visit(core::Cases{[](const WholeCpu&) { return std::string("cpu"); },
                                [](const AllOf& all) { return all.kind; },
                                [](const Device& device) { return device.kind; },
                                [](const Group& group) { return group.kind; },
                                [](const auto&) { return std::string(); }},
                    request);
}

std::string name_of(const Request& request) {
  return std::visit(core::Cases{[](const Automatic&) { return std::string("auto"); },
                                [](const Allocation&) { return std::string("slurm"); },
                                [](const IdleGpu&) { return std::string("-1"); },
                                [](const Gpu& gpu) { return std::to_string(gpu.index); },
                                [](const WholeCpu&) { return std::string("cpu"); },
                                [](const AllOf& all) { return all.kind + ":*"; },
                                [](const Device& device) {
                                  return device.kind + ":" + std::to_string(device.index);
                                },
                                [](const Group& group) {
                                  std::vector<std::string> names;
                                  for (const int index : group.indices)
                                    names.push_back(group.kind + ":" + std::to_string(index));
                                  return boost::join(names, "+");
                                }},
                    request);
}

}  // namespace evolve::devices
