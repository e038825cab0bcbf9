#include "engine/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>

#include "core/device_kind.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/placeholders.hpp"
#include "core/shell_word.hpp"
#include "core/slot_environment.hpp"
#include "core/split.hpp"
#include "devices/devices.hpp"
#include "devices/environment.hpp"

namespace evolve::engine {
namespace {

std::vector<std::string> words_of(const std::string& launcher) {
  return core::command_words(launcher, "--launcher", {"{device}", "{index}"});
}

/// The machine's number of the slot's device; that of its name where it has none.
std::string number_of(const core::Slot& slot) {
  if (const auto* number = core::variable(slot, core::index_variable)) return *number;
  std::vector<std::string> indices;
  for (const auto& device : core::members_of(slot.name))
    indices.push_back(std::to_string(core::index_of(device)));
  return boost::join(indices, ",");
}

/// How many threads: a share of this machine's cores.
bool is_share(const std::string& variable) {
  return std::ranges::count(devices::thread_variables, variable) > 0;
}

devices::Choice job_steps(const std::string& spec, const devices::TrainerTraits& trainer,
                          const devices::Had& had) {
  const auto machine = devices::this_machine();
  if (!machine.environment.contains("SLURM_JOB_ID"))
    throw bad_argument("--launcher slurm: this is no Slurm job",
                       "start evolve in salloc or sbatch");
  ::unsetenv("SLURM_NTASKS_PER_GPU");  // each srun, ours and the workers', would refuse its -n
  const auto asked = boost::to_lower_copy(std::string(core::trimmed(spec)));
  if (asked != "auto" && asked != "slurm") {
    auto choice = devices::choose(spec, machine, trainer, had);
    std::set<std::string> gpus;
    for (auto& slot : choice.slots) {
      const auto* kind = core::find_device_kind(core::kind_of(slot.name));
      if (kind && kind->has_driver && !gpus.insert(slot.name).second)
        throw bad_argument("--launcher slurm: each job step has a GPU of its own, " + slot.name +
                               " cannot be for several trials",
                           "name each device once, or leave out --launcher");
      if (slot.job_step) continue;  // the run has it
      if (core::members_of(slot.name).size() > 1)
        throw bad_argument("--launcher slurm: a job step has one device, not " + slot.name,
                           "name each device by itself, or leave out --launcher");
      slot = devices::as_step(std::move(slot), "");
    }
    if (!choice.accelerators.empty()) choice.notes.clear();  // Slurm may take others
    choice.accelerators.clear();
    return choice;
  }
  try {
    const auto nodes = devices::allocated_nodes(machine.environment);
    for (const auto& node : nodes)
      if (node.gpus > 0 && !trainer.drives(node.kind))
        throw bad_argument("--launcher slurm: " + devices::not_driven(node.kind),
                           "name other devices, or use another libtorch");
    auto choice = devices::steps_on(nodes);
    if (auto note = devices::note_on_fewer_gpus(nodes, machine.environment))
      choice.notes.push_back(*std::move(note));
    return choice;
  } catch (const std::invalid_argument& wrong) {
    throw bad_argument(std::string("--launcher slurm: ") + wrong.what(),
                       "try srun by hand, or leave out --launcher");
  }
}

/// Where this process is a step of the job itself, as in `srun --pty bash`.
std::optional<std::string> note_on_own_step() {
  // Slurm's numbers of what is no such step: the batch script, an interactive salloc.
  constexpr std::uint32_t special = 0xfffffff0;
  const auto step = core::parse_integer<std::uint32_t>(core::environment_variable("SLURM_STEP_ID"));
  if (!step || *step >= special) return {};
  return fmt::format(
      "slurm: this is step {} of the job, and its own steps wait for the cores and GPUs that it "
      "holds; start evolve by itself, without srun, if no worker gets ready",
      *step);
}

/// Where this process is on one node of a job that has several.
std::optional<std::string> note_on_other_nodes() {
  const auto nodes = core::parse_integer<int>(core::environment_variable("SLURM_NNODES"));
  if (!nodes || *nodes < 2 || note_on_own_step()) return {};  // each step may have a run of its own
  return fmt::format(
      "slurm: the job has {} nodes, and this run is on one of them; --launcher slurm takes all",
      *nodes);
}

}  // namespace

void check_launcher(const std::string& launcher) {
  if (launcher != "local" && launcher != "slurm") words_of(launcher);
}

devices::Choice launched_slots(const std::string& launcher, const std::string& spec,
                               const devices::TrainerTraits& trainer, const devices::Had& had) {
  if (launcher == "slurm") {
    auto choice = job_steps(spec, trainer, had);
    if (auto note = note_on_own_step()) choice.notes.push_back(*std::move(note));
    return choice;
  }
  auto choice = devices::choose(spec, devices::this_machine(trainer.device_env), trainer, had);
  if (launcher == "local") {
    if (auto note = note_on_other_nodes()) choice.notes.push_back(*std::move(note));
    return choice;
  }
  const auto words = words_of(launcher);
  for (auto& slot : choice.slots) {
    if (!slot.launcher.empty()) continue;  // the run has it
    const core::Replacements replacements = {{"{device}", slot.name}, {"{index}", number_of(slot)}};
    for (const auto& word : words) slot.launcher.push_back(core::filled(word, replacements));
    slot.remote_shell = std::filesystem::path(slot.launcher.front()).filename() == "ssh";
    if (slot.remote_shell && !slot.identities.empty())
      throw bad_argument(
          fmt::format("--launcher {}: {} is a GPU of this machine, not of another", launcher,
                      slot.name),
          "name CPU slots, or use --launcher slurm for the GPUs of several machines");
    slot.launcher.push_back("env");
    // A slot that has a host to itself has that host's cores.
    const bool has_host = slot.remote_shell && (core::mentions(launcher, "{index}") ||
                                                core::mentions(launcher, "{device}"));
    for (const auto& [name, value] : slot.environment) {
      // The numbers of cores are this machine's.
      if (slot.remote_shell && name == core::cores_variable) continue;
      if (has_host && is_share(name)) continue;
      const auto variable = name + "=" + value;
      slot.launcher.push_back(slot.remote_shell ? core::shell_word(variable) : variable);
    }
  }
  return choice;
}

}  // namespace evolve::engine
