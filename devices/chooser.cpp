#include "devices/chooser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <tuple>

#include "core/device_kind.hpp"
#include "core/number.hpp"
#include "devices/masks.hpp"
#include "devices/numbering.hpp"

namespace evolve::devices {
namespace {

bool is_gpu_kind(const std::string& kind) {
  const auto* known = core::find_device_kind(kind);
  return known && known->has_driver;
}

bool is_of_unknown_kind(const Request& request) {
  const auto kind = kind_of(request);
  return !kind.empty() && !core::find_device_kind(kind);
}

std::vector<Place> places_of(const std::vector<Accelerator>& gpus) {
  std::vector<Place> places;
  for (const auto& gpu : gpus) places.push_back(place_of(gpu));
  return places;
}

/// Those that work.
std::vector<Accelerator> in_order(const Discovery& discovery) {
  std::vector<Accelerator> working;
  std::ranges::copy_if(discovery.devices, std::back_inserter(working), &Accelerator::ok);
  return working;
}

std::invalid_argument out_of_order(const Accelerator& gpu) {
  return std::invalid_argument(
      fmt::format("{} ({}) is out of order: {}", name_of(gpu), gpu.name, gpu.state));
}

std::optional<double> used_share(const Accelerator& gpu) {
  if (!gpu.memory_total_bytes || !gpu.memory_free_bytes || *gpu.memory_total_bytes <= 0) return {};
  return 1.0 -
         static_cast<double>(*gpu.memory_free_bytes) / static_cast<double>(*gpu.memory_total_bytes);
}

}  // namespace

Chooser::Chooser(const Machine& machine, const TrainerTraits& trainer, bool one, const Had& had)
    : machine_(machine), trainer_(trainer), one_(one), had_(had) {}

std::vector<Place> Chooser::places(const std::vector<Request>& requests) {
  std::vector<std::vector<Place>> by_request;
  std::vector<Place> taken;
  std::map<std::string, std::string> asked_as;
  driverless_.names_unknown_kind = std::ranges::any_of(requests, is_of_unknown_kind);
  for (const auto& request : requests) {
    by_request.push_back(std::visit([&](const auto& r) { return resolve(r); }, request));
    for (const auto& place : by_request.back()) {
      for (const auto& device : core::members_of(place.name)) {
        const auto [earlier, is_new] = asked_as.emplace(device, name_of(request));
        if (!is_new)
          throw std::invalid_argument(earlier->second + " and " + name_of(request) +
                                      " name the same device");
      }
      taken.push_back(place);
    }
  }
  const auto idle_wanted = std::ranges::count(requests, Request(IdleGpu{}));
  auto idle = idlest_gpus(taken, static_cast<std::size_t>(idle_wanted));
  std::vector<Place> all;
  auto next_idle = idle.begin();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (std::holds_alternative<IdleGpu>(requests[i])) all.push_back(*next_idle++);
    all.insert(all.end(), by_request[i].begin(), by_request[i].end());
  }
  return all;
}

std::vector<std::string> Chooser::names(const std::string& spec) {
  const auto mentions = [&](const std::string& kind) { return spec.find(kind) != spec.npos; };
  const auto kinds = core::kinds_with_driver();
  const bool mentions_none =
      !mentions("cpu") && std::ranges::none_of(kinds, mentions, &core::DeviceKind::name);
  std::vector<std::string> all = {"cpu"};
  const int cores = machine_.usable_cores;
  if (cores > 4) {
    all.push_back(fmt::format("cpu:0 to cpu:{}", cores - 1));
  } else {
    for (const auto& cpu : cpus(cores)) all.push_back(cpu.name);
  }
  for (const auto& kind : kinds) {
    if (!mentions_none && !mentions(kind.name)) continue;
    for (const auto& gpu : found(kind.name).devices)
      if (gpu.ok()) all.push_back(name_of(gpu));
  }
  return all;
}

const Discovery& Chooser::found(const std::string& kind) {
  const auto known = found_.find(kind);
  if (known != found_.end()) return known->second;
  auto discovery = machine_.discover(kind);
  if (kind == "cuda" && machine_.has_amd && discovery.devices.empty() && !discovery.failed)
    discovery.remark += (discovery.remark.empty() ? "" : "; ") + amd_hint;
  auto had = identities_of(had_.slots, kind);
  had.merge(identities_of(had_.earlier, kind));
  if (keep_numbers(discovery.devices, had)) discovery.remark = renumbered;
  return found_.emplace(kind, std::move(discovery)).first->second;
}

bool Chooser::shows_its_devices(const core::Slot& slot) {
  const auto& discovery = found(core::kind_of(slot.name));
  if (discovery.failed) return true;
  const auto shown = shown_to(slot, discovery.devices);
  const auto is_shown = [&](const auto& gpu) { return shows(slot, {gpu}); };
  if (shown == Shown::missing && std::ranges::any_of(discovery.devices, is_shown))
    throw absent(slot.name, discovery.remark);
  return shown != Shown::others;
}

std::optional<Place> Chooser::had_place(const std::string& name, int trials) {
  const auto slot = std::ranges::find(had_.slots, name, &core::Slot::name);
  if (slot == had_.slots.end() || (slot->identities.empty() && !slot->job_step)) return {};
  if (had_.renumbered && !slot->identities.empty() && !shows_its_devices(*slot)) return {};
  const auto kind = core::kind_of(name);
  Place place{.name = name,
              .kind = kind,
              .trials = trials,
              .devices = static_cast<int>(core::members_of(name).size()),
              .had = &*slot};
  for (const auto& [device, identity] : identities_of({*slot}, kind))
    place.gpus.push_back({.kind = kind,
                          .index = core::index_of(device),
                          .uuid = identity.uuid,
                          .pci = identity.pci});
  return place;
}

void Chooser::require_driven(const std::string& kind) const {
  if (!trainer_.drives(kind)) throw std::invalid_argument(not_driven(kind));
}

const Discovery& Chooser::found_gpus(const std::string& name) {
  std::vector<std::string> remarks;
  for (const auto& kind : core::kinds_with_driver()) {
    const auto& discovery = found(kind.name);
    if (!discovery.devices.empty()) return discovery;
    // A driver that fails may have devices: taking others would be a silent fallback.
    if (discovery.failed)
      throw std::invalid_argument("the " + kind.maker +
                                  " driver cannot be asked: " + discovery.remark);
    if (!discovery.remark.empty()) remarks.push_back(discovery.remark);
  }
  throw absent(name, fmt::format("{}", fmt::join(remarks, "; ")));
}

std::vector<Accelerator> Chooser::workable(const Discovery& discovery) const {
  auto working = in_order(discovery);
  // As libtorch does.
  if (std::ranges::any_of(working, [](const auto& gpu) { return !gpu.integrated; }))
    std::erase_if(working, [](const auto& gpu) { return gpu.integrated; });
  return working;
}

void Chooser::note_left_out(const Discovery& discovery, const std::vector<Accelerator>& taken) {
  for (const auto& gpu : discovery.devices) {
    if (std::ranges::find(taken, gpu) != taken.end()) continue;
    notes.push_back(fmt::format("left out: {}, {}, {}", name_of(gpu), gpu.name,
                                gpu.ok() ? "which shares the host's memory" : gpu.state));
  }
}

std::vector<Place> Chooser::resolve(const Automatic&) {
  bool found_any = false, failed = false;
  for (const auto& row : core::kinds_with_driver()) {
    const auto& kind = row.name;
    const auto& discovery = found(kind);
    // Somebody has chosen: to train on something else would be a silent fallback.
    if (discovery.not_followed && trainer_.drives(kind))
      throw std::invalid_argument(discovery.remark);
    failed = failed || discovery.failed;
    if (discovery.failed) notes.push_back("auto: no " + kind + " device: " + discovery.remark);
    auto gpus = workable(discovery);
    if (!gpus.empty() && one_) gpus.resize(1);
    found_any = found_any || !discovery.devices.empty();
    if (!one_ || gpus.empty()) note_left_out(discovery, gpus);
    if (gpus.empty()) continue;
    const auto what =
        "auto: found " + core::counted(std::ssize(discovery.devices), kind + " device") + ", ";
    if (!trainer_.drives(kind)) {
      notes.push_back(what + "which the built-in trainer's libtorch cannot use (docs/libtorch.md)");
      continue;
    }
    notes.push_back(what + (one_                            ? "using " + name_of(gpus.front())
                            : discovery.devices.size() == 1 ? "training on it"
                            : gpus.size() == 1              ? "training on " + name_of(gpus.front())
                                                            : "training on them"));
    return places_of(gpus);
  }
  if (!found_any && machine_.has_amd) notes.push_back("auto: " + amd_hint);
  const int count = std::min(machine_.usable_cores, most_automatic_slots);
  notes.push_back(
      std::string("auto: ") + (found_any || failed ? "" : "found no CUDA device and no XPU, ") +
      (one_ ? "using all cores" : fmt::format("training on the CPU, a slot per core ({})", count)));
  return one_ ? std::vector<Place>{{"cpu", "cpu"}} : cpus(count);
}

std::vector<Place> Chooser::resolve(const Allocation&) {
  const auto& environment = machine_.environment;
  if (!environment.contains("SLURM_JOB_ID")) throw std::invalid_argument("this is no Slurm job");
  std::vector<Place> places;
  std::optional<std::invalid_argument> none;
  // Slurm sets a kind's variable where the allocation has devices of the kind, or those of all
  // kinds, if its configuration does not say which (no AutoDetect and no Flags in gres.conf).
  for (const auto& kind : core::kinds_with_driver()) {
    const auto mask = value_in(environment, kind.mask);
    if (is_empty_for_slurm(mask)) continue;
    const auto& discovery = found(kind.name);
    if (discovery.devices.empty() && !none) none = absent(kind.name, discovery.remark);
    for (const auto& gpu : discovery.devices)
      places.push_back(gpu_at(discovery, kind.name, gpu.index, 1));
  }
  if (!places.empty()) return places;
  if (none) throw *none;
  if (!is_empty_for_slurm(value_in(environment, "ROCR_VISIBLE_DEVICES")))
    throw std::invalid_argument(
        "the allocation has AMD's GPUs, which are named one by one (hip:0,hip:1)");
  const int count = std::min(machine_.usable_cores, most_automatic_slots);
  notes.push_back(fmt::format("slurm: the allocation has no GPU, training on its {} cores", count));
  return cpus(count);
}

std::vector<Place> Chooser::resolve(const Gpu& gpu) {
  const auto& discovery = found_gpus(fmt::format("GPU {}", gpu.index));
  const auto& kind = discovery.devices.front().kind;
  if (const auto had = had_place(fmt::format("{}:{}", kind, gpu.index), 1)) return {*had};
  return {gpu_at(discovery, kind, gpu.index, 1)};
}

std::vector<Place> Chooser::resolve(const AllOf& all) {
  if (all.kind == "cpu") return cpus(machine_.usable_cores);
  if (is_gpu_kind(all.kind)) {
    const auto& discovery = found(all.kind);
    const auto working = in_order(discovery);
    if (working.empty())
      throw discovery.devices.empty() ? absent(all.kind, discovery.remark)
                                      : out_of_order(discovery.devices.front());
    require_driven(all.kind);
    note_left_out(discovery, working);
    return places_of(working);
  }
  return driverless_.all_of(all.kind);
}

std::vector<Place> Chooser::resolve(const Device& device) {
  const auto& [kind, index, trials] = device;
  const auto name = name_of(Request(device));
  if (kind == "cpu" && trials > 1)
    throw std::invalid_argument(name + " runs one trial at a time, name more of them instead");
  if (const auto had = had_place(name, trials)) return {*had};
  if (kind == "cpu") {
    if (index >= machine_.usable_cores) throw absent(name);
    return {{name, "cpu"}};
  }
  if (is_gpu_kind(kind)) return {gpu_at(found(kind), kind, index, trials)};
  return {driverless_.place_of(device)};
}

std::vector<Place> Chooser::resolve(const Group& group) {
  const auto name = name_of(Request(group));
  if (const auto had = had_place(name, 1)) return {*had};
  std::vector<Place> members;
  for (const int index : group.indices)
    // Each must be there, whatever the run has of it.
    members.push_back(is_gpu_kind(group.kind) ? gpu_at(found(group.kind), group.kind, index, 1)
                                              : resolve(Device{group.kind, index}).front());
  return {as_one(name, members)};
}

Place Chooser::gpu_at(const Discovery& discovery, const std::string& kind, int index, int trials) {
  const auto name = fmt::format("{}:{}", kind, index);
  if (discovery.failed)
    throw std::invalid_argument(name + " cannot be used, its driver fails: " + discovery.remark);
  const auto gpu = std::ranges::find(discovery.devices, index, &Accelerator::index);
  if (gpu == discovery.devices.end()) throw absent(name, discovery.remark);
  require_driven(kind);
  // Where numbers have changed one that the run has keeps its slot, as a missing one does: the
  // others need their new masks.
  if (!gpu->ok() && !had_.renumbered) throw out_of_order(*gpu);
  return place_of(*gpu, trials);
}

std::vector<Place> Chooser::idlest_gpus(const std::vector<Place>& taken, std::size_t count) {
  if (count == 0) return {};
  const auto& discovery = found_gpus("GPU");
  auto gpus = workable(discovery);
  const auto named = std::erase_if(gpus, [&](const Accelerator& gpu) {
    return std::ranges::any_of(taken, [&](const auto& place) {
      return std::ranges::count(core::members_of(place.name), name_of(gpu)) > 0;
    });
  });
  if (gpus.size() < count)
    throw std::invalid_argument(fmt::format(
        "there {} {} here{}, {} asked for", gpus.size() == 1 ? "is" : "are",
        core::counted(std::ssize(gpus), "working " + discovery.devices.front().kind + " device"),
        named > 0 ? " besides those named" : "", count));
  std::ranges::stable_sort(gpus, {}, [&](const Accelerator& gpu) {
    // One that the run has is busy with the run. Of what is not known nobody can say that it is
    // idle.
    const bool is_had = std::ranges::any_of(had_.slots, [&](const core::Slot& slot) {
      return std::ranges::count(core::members_of(slot.name), name_of(gpu)) > 0;
    });
    return std::tuple(!is_had, gpu.load_percent.value_or(100), used_share(gpu).value_or(1));
  });
  gpus.resize(count);
  require_driven(gpus.front().kind);
  for (const auto& gpu : gpus) {
    const auto used = used_share(gpu);
    notes.push_back(fmt::format("{} is {}: {}, {}", name_of(gpu),
                                count == 1 ? "the idlest GPU" : "among the idlest GPUs",
                                used ? fmt::format("{:.0f} % of its memory free", 100 * (1 - *used))
                                     : "its driver does not tell how much memory is free",
                                gpu.load_percent ? fmt::format("{:.0f} % load", *gpu.load_percent)
                                                 : "its load is not known"));
  }
  return places_of(gpus);
}

std::vector<Place> Chooser::cpus(int count) const {
  std::vector<Place> all;
  for (int i = 0; i < count; ++i) all.push_back({fmt::format("cpu:{}", i), "cpu"});
  return all;
}

}  // namespace evolve::devices
