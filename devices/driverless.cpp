#include "devices/driverless.hpp"

#include <set>
#include <stdexcept>

#include "core/device_kind.hpp"
#include "devices/masks.hpp"

namespace evolve::devices {
namespace {

const std::set<std::string> no_kinds = {"all", "any", "gpu", "gpus", "none"};

std::invalid_argument no_kind(const std::string& word) {
  return std::invalid_argument(word + " is no kind of device; auto takes what there is");
}

}  // namespace

Place Driverless::place_of(const Device& device) const {
  const auto name = name_of(Request(device));
  const auto variable = variable_of(device.kind);
  auto entry = std::to_string(device.index);
  // A mask that we have ourselves is what numbers count.
  if (const auto those = shown(device.kind, variable)) {
    if (device.index >= std::ssize(*those)) throw hidden(name, variable);
    entry = (*those)[static_cast<std::size_t>(device.index)];
  }
  return {.name = name,
          .kind = device.kind,
          .trials = device.trials,
          .mask = variable.empty() ? Variables{} : Variables{{variable, entry}},
          .number = entry};
}

std::vector<Place> Driverless::all_of(const std::string& kind) const {
  const auto variable = variable_of(kind);
  const auto those = shown(kind, variable);
  if (!those)
    throw std::invalid_argument("how many " + kind +
                                " devices there are is not known here: name each");
  if (those->empty()) throw hidden(kind, variable);
  std::vector<Place> places;
  for (int i = 0; i < std::ssize(*those); ++i) places.push_back(place_of({kind, i}));
  return places;
}

std::string Driverless::variable_of(const std::string& kind) const {
  const auto* known = core::find_device_kind(kind);
  if (known && known->mask.empty()) throw absent(kind);
  // AMD's: a libtorch for ROCm calls them "cuda", and no driver is asked for them.
  const bool built_in = known && !known->also_called.empty() && trainer.drives(kind);
  const auto hint = kind == "amd" || kind == "rocm" ? " (" + amd_hint + ")" : "";
  if (!trainer.external && !built_in && no_kinds.contains(kind)) throw no_kind(kind);
  if (!trainer.external && !built_in)
    throw std::invalid_argument("the built-in trainer knows no " + kind + hint +
                                ", an external one may (--trainer-command)");
  const auto usual = known ? known->mask : std::string();
  const bool is_named = !trainer.device_env.empty() && (!known || !names_unknown_kind);
  const auto& variable = is_named ? trainer.device_env : usual;
  if (variable.empty() && !trainer.by_number && no_kinds.contains(kind)) throw no_kind(kind);
  if (variable.empty() && !(trainer.by_number && hint.empty()))
    throw std::invalid_argument("the environment variable that lets a process see only one " +
                                kind + hint + " is not known, name it (--device-env)");
  return variable;
}

std::invalid_argument Driverless::hidden(const std::string& name,
                                         const std::string& variable) const {
  const auto value = value_in(machine.environment, variable);
  return absent(name, variable + "=" + (value.empty() ? "''" : value));
}

std::optional<std::vector<std::string>> Driverless::shown(const std::string& kind,
                                                          const std::string& variable) const {
  if (auto entries = shown_by(machine.environment, variable)) return entries;
  // ROCm obeys CUDA's mask where its own is not set.
  const auto* known = core::find_device_kind(kind);
  const auto* other = known ? core::find_device_kind(known->also_called) : nullptr;
  return other ? shown_by(machine.environment, other->mask) : std::nullopt;
}

}  // namespace evolve::devices
