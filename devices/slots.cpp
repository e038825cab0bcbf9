#include "devices/slots.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <stdexcept>

#include "core/device_kind.hpp"
#include "core/error.hpp"
#include "core/slot_environment.hpp"
#include "devices/chooser.hpp"
#include "devices/spec.hpp"

namespace evolve::devices {
namespace {

/// For a trainer that takes the machine's own number: without a mask, and without those variables
/// of evolve's own environment within which that number would count again.
Variables without_mask(const Place& place) {
  const auto* known = core::find_device_kind(place.kind);
  std::vector<std::string> masks;
  for (const auto& [name, value] : place.mask)
    if (!known || name != known->order) masks.push_back(name);
  Variables variables = {{core::unset_variable, boost::join(masks, ",")}};
  if (known && !known->order_value.empty())
    variables.emplace_back(known->order, known->order_value);
  return variables;
}

/// What tells a trainer its device: the mask, and the machine's number where there is one.
Variables variables_of(const Place& place, const TrainerTraits& trainer) {
  if (place.number.empty()) return place.mask;
  auto variables = trainer.by_number ? without_mask(place) : place.mask;
  variables.emplace_back(core::index_variable, place.number);
  return variables;
}

/// The slots of the places, each with its share of the cores.
std::vector<core::Slot> slots_at(const std::vector<Place>& places, const Machine& machine,
                                 const TrainerTraits& trainer) {
  int cpus = 0, all = 0;
  for (const auto& place : places) {
    if (place.kind == "cpu" && !place.had) cpus += place.devices;
    all += place.trials * place.devices;
  }
  const auto share = machine.cores.size() / static_cast<std::size_t>(std::max(cpus, 1));
  std::vector<core::Slot> slots;
  auto first = machine.cores.begin();
  for (const auto& place : places) {
    if (place.had) {
      slots.insert(slots.end(), static_cast<std::size_t>(place.trials), *place.had);
      continue;
    }
    if (place.kind == "cpu") {
      const auto last = first + place.devices * static_cast<std::ptrdiff_t>(share);
      const auto threads = machine.usable_cores / cpus;
      auto environment = environment_of(place.name, place.kind, {}, threads);
      // What a worker does while all of them wait may use them all.
      environment.emplace_back(core::cores_variable,
                               fmt::format("{}", fmt::join(machine.cores, ",")));
      slots.push_back({.name = place.name,
                       .environment = std::move(environment),
                       .cores = std::vector<int>(first, last)});
      first = last;
      continue;
    }
    const auto threads = std::max(1, machine.usable_cores / all);
    core::Slot slot{.name = place.name,
                    .environment = environment_of(place.name, place.kind,
                                                  variables_of(place, trainer), threads)};
    for (const auto& gpu : place.gpus) slot.identities.push_back({gpu.uuid, gpu.pci});
    slots.insert(slots.end(), static_cast<std::size_t>(place.trials), slot);
  }
  return slots;
}

Choice chosen(const std::string& spec, const Machine& machine, const TrainerTraits& trainer,
              bool one, const Had& had) {
  Chooser chooser(machine, trainer, one, had);
  try {
    const auto places = chooser.places(parse_spec(spec));
    auto notes = std::move(chooser.notes);
    std::vector<Accelerator> accelerators;
    for (const auto& place : places) {
      for (const auto& gpu : place.gpus) {
        accelerators.push_back(gpu);
        notes.push_back(name_of(gpu) + " is " + description(gpu));
      }
      // Such a kind may be mistyped, and its trainer sees no GPU.
      if (place.mask.empty() && !place.number.empty())
        notes.push_back(fmt::format(
            "{}: evolve does not know this kind; its trainer gets the number {} and no mask",
            place.name, place.number));
    }
    return {.slots = slots_at(places, machine, trainer),
            .accelerators = std::move(accelerators),
            .notes = std::move(notes)};
  } catch (const std::invalid_argument& wrong) {
    const auto shown = spec.empty() ? "''" : spec;
    throw bad_argument(
        "--devices " + shown + ": " + wrong.what(),
        "choose among " + boost::join(chooser.names(boost::to_lower_copy(spec)), ", "));
  }
}

}  // namespace

std::string not_driven(const std::string& kind) {
  return "the built-in trainer's libtorch has no " + kind + " devices (docs/libtorch.md)";
}

Choice choose(const std::string& spec, const Machine& machine, const TrainerTraits& trainer,
              const Had& had) {
  return chosen(spec, machine, trainer, /*one=*/false, had);
}

Choice choose_one(const std::string& spec, const Machine& machine, const TrainerTraits& trainer) {
  auto choice = chosen(spec, machine, trainer, /*one=*/true, {});
  if (choice.slots.size() == 1) return choice;
  throw bad_argument("--devices " + spec + ": one training has one device",
                     "name one of them, such as " + choice.slots.front().name +
                         ", or join those of a kind, as in cuda:0+cuda:1");
}

std::vector<std::string> names_of(const std::vector<core::Slot>& slots) {
  std::vector<std::string> names;
  for (const auto& slot : slots) names.push_back(slot.name);
  return names;
}

std::vector<std::string> items_of(const std::vector<core::Slot>& slots) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < slots.size();) {
    const auto& name = slots[i].name;
    const auto first = i;
    while (i < slots.size() && slots[i].name == name) ++i;
    items.push_back(i - first > 1 ? fmt::format("{}*{}", name, i - first) : name);
  }
  return items;
}

std::vector<std::string> identity_texts(const std::vector<core::Slot>& slots) {
  std::vector<std::string> identities;
  for (const auto& slot : slots) {
    std::vector<std::string> members;
    for (const auto& [uuid, pci] : slot.identities) members.push_back(uuid.empty() ? pci : uuid);
    identities.push_back(boost::join(members, "+"));
  }
  const bool known = std::ranges::any_of(identities, [](const auto& one) { return !one.empty(); });
  return known ? identities : std::vector<std::string>();
}

void check_no_fallback(const std::string& spec, const std::vector<std::string>& had,
                       const Choice& now) {
  const auto is_gpu = [](const std::string& slot) { return !core::is_cpu(slot); };
  // What names no kind may find another one.
  const auto names_none = [](const Request& request) { return kind_of(request).empty(); };
  if (std::ranges::none_of(had, is_gpu) || std::ranges::none_of(parse_spec(spec), names_none))
    return;
  const auto was_had = [&](const core::Slot& slot) {
    return is_gpu(slot.name) && std::ranges::any_of(had, [&](const std::string& one) {
             return core::kind_of(one) == core::kind_of(slot.name);
           });
  };
  if (std::ranges::any_of(now.slots, was_had)) return;
  throw bad_argument(
      fmt::format("--devices {0}: the run had {1}, and now {0} finds none of that kind{2}", spec,
                  fmt::join(had, ", "),
                  now.notes.empty() ? "" : " (" + boost::join(now.notes, "; ") + ")"),
      "mend the driver, or go on with --devices " +
          (is_gpu(now.slots.front().name) ? boost::join(items_of(now.slots), ",") : "cpu"));
}

}  // namespace evolve::devices
