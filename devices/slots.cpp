#include "devices/slots.hpp"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <stdexcept>

#include "devices/spec.hpp"
#include "hyp/error.hpp"

namespace evolve::devices {
namespace {

/// What a process on `threads` cores needs to be told.
std::vector<std::pair<std::string, std::string>> cpu_environment(const std::string& name,
                                                                 int threads) {
  const auto count = std::to_string(threads);
  return {
      {"EVOLVE_DEVICE", name},
      {"OMP_NUM_THREADS", count},
      {"MKL_NUM_THREADS", count},
      {"OPENBLAS_NUM_THREADS", count},
      // Waiting threads sleep: they would otherwise spin away what the training's other threads
      // need.
      {"OMP_WAIT_POLICY", "passive"},
      // A trainer told to use the CPU must not find a GPU on its own. An index of -1 hides all
      // devices (it is what YOLOv5 sets for --device cpu). Level Zero's own mask cannot hide all,
      // SYCL's selector can.
      {"CUDA_VISIBLE_DEVICES", "-1"},
      {"HIP_VISIBLE_DEVICES", "-1"},
      {"ONEAPI_DEVICE_SELECTOR", "*:cpu"},
  };
}

/// One slot per name, each with its share of the cores.
std::vector<hyp::Slot> cpu_slots(const std::vector<std::string>& names, const Machine& machine) {
  if (names.empty()) return {};
  const auto share = machine.cores.size() / names.size();
  const auto threads = machine.usable_cores / static_cast<int>(names.size());
  std::vector<hyp::Slot> slots;
  auto first = machine.cores.begin();
  for (const auto& name : names) {
    const auto last = first + static_cast<std::ptrdiff_t>(share);
    slots.push_back({.name = name,
                     .environment = cpu_environment(name, threads),
                     .cores = std::vector<int>(first, last)});
    first = last;
  }
  return slots;
}

std::vector<std::string> indexed_cpus(int count) {
  std::vector<std::string> names;
  for (int index = 0; index < count; ++index) names.push_back("cpu:" + std::to_string(index));
  return names;
}

/// The CPU slots that a request names; throws std::invalid_argument when it asks for anything else.
std::vector<std::string> names_asked_for(const Request& request, const Machine& machine) {
  if (std::holds_alternative<Automatic>(request))
    return indexed_cpus(std::min(machine.usable_cores, most_automatic_slots));
  if (std::holds_alternative<WholeCpu>(request)) return {"cpu"};
  if (request == Request(AllOf{"cpu"})) return indexed_cpus(machine.usable_cores);
  const auto* device = std::get_if<Device>(&request);
  if (!device || device->kind != "cpu" || device->index >= machine.usable_cores)
    throw std::invalid_argument("there is no " + name_of(request) + " here");
  if (device->trials > 1)
    throw std::invalid_argument("cpu:" + std::to_string(device->index) +
                                " runs one trial at a time, name more of them instead");
  return {name_of(request)};
}

}  // namespace

std::vector<std::string> device_names(const Machine& machine) {
  auto names = indexed_cpus(machine.usable_cores);
  names.insert(names.begin(), "cpu");
  return names;
}

std::vector<hyp::Slot> choose(const std::string& spec, const Machine& machine) {
  try {
    std::vector<std::string> names;
    for (const auto& request : parse_spec(spec)) {
      const auto more = names_asked_for(request, machine);
      names.insert(names.end(), more.begin(), more.end());
    }
    return cpu_slots(names, machine);
  } catch (const std::invalid_argument& wrong) {
    const auto shown = spec.empty() ? "''" : spec;
    throw bad_argument("--devices " + shown + ": " + wrong.what(),
                       "choose among " + boost::join(device_names(machine), ", "));
  }
}

hyp::Slot choose_one(const std::string& spec, const Machine& machine) {
  const bool automatic = boost::iequals(boost::trim_copy(spec), "auto");
  auto slots = choose(automatic ? "cpu" : spec, machine);
  if (slots.size() == 1) return std::move(slots.front());
  throw bad_argument("--devices " + spec + ": one training has one device",
                     "name one of them, such as " + slots.front().name);
}

}  // namespace evolve::devices
