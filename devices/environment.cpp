#include "devices/environment.hpp"

#include <cstdlib>
#include <string_view>

#include "core/device_kind.hpp"
#include "core/slot_environment.hpp"

namespace evolve::devices {
namespace {

/// How many threads the process' own libraries start, and its slot's name.
Variables host_environment(const std::string& slot, int threads) {
  Variables all = {{core::device_variable, slot}};
  for (const auto* variable : thread_variables) all.emplace_back(variable, std::to_string(threads));
  // Waiting threads sleep: they would otherwise spin away what the training's other threads need.
  // But not at once: small operators wait for microseconds, and to be woken takes longer.
  all.emplace_back("OMP_WAIT_POLICY", "passive");
  all.emplace_back("GOMP_SPINCOUNT", "1000");
  return all;
}

/// A trainer told to use one kind must not find another on its own.
Variables without_all_but(std::string_view name) {
  Variables all;
  for (const auto& kind : core::device_kinds()) {
    const auto& [variable, value] = kind.hidden_by;
    if (variable.empty() || kind.name == name || kind.also_called == name) continue;
    all.emplace_back(variable, value);
  }
  return all;
}

void add(Variables& to, const Variables& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Environment device_environment(const std::string& also) {
  Environment found;
  const auto note = [&](const std::string& variable) {
    if (const char* value = std::getenv(variable.c_str())) found[variable] = value;
  };
  for (const auto& kind : core::device_kinds())
    for (const auto& variable : {kind.mask, kind.order, kind.hidden_by.first})
      if (!variable.empty()) note(variable);
  if (!also.empty()) note(also);
  for (const auto* variable : {"SLURM_JOB_ID", "SLURM_NNODES", "SLURM_NTASKS", "SLURM_GPUS",
                               "SLURM_GPUS_PER_TASK", "ROCR_VISIBLE_DEVICES"})
    note(variable);
  return found;
}

std::string value_in(const Environment& environment, const std::string& variable) {
  const auto found = environment.find(variable);
  return found == environment.end() ? "" : found->second;
}

Variables environment_of(const std::string& slot, const std::string& kind, const Variables& mask,
                         int threads) {
  auto all = host_environment(slot, threads);
  add(all, without_all_but(kind));
  add(all, mask);
  return all;
}

}  // namespace evolve::devices
