#include "devices/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>

#include "core/device_kind.hpp"
#include "core/number.hpp"
#include "core/slot_environment.hpp"
#include "core/spawn.hpp"
#include "core/split.hpp"
#include "devices/environment.hpp"
#include "devices/masks.hpp"
#include "devices/probe.hpp"

namespace evolve::devices {
namespace {

/// A step on a free node takes a second; the limit is for nodes that do not answer.
constexpr int step_seconds = 60;

constexpr std::string_view mark = "evolve-node";

/// "cuda:2", or "cuda:2 to cuda:3".
std::string range(const std::string& kind, int first, int count) {
  const auto name = fmt::format("{}:{}", kind, first);
  return count == 1 ? name : fmt::format("{} to {}:{}", name, kind, first + count - 1);
}

int whole(const std::string& text, int otherwise) {
  return core::parse_integer<int>(text).value_or(otherwise);
}

/// Of --gpus and --gpus-per-task: "2", "a100:2", "a100:1,h100:1".
int gpus_in(const std::string& text) {
  int gpus = 0;
  for (const auto& part : core::split(text, ','))
    gpus += whole(part.substr(part.rfind(':') + 1), 0);
  return gpus;
}

/// srun sets the masks of GPUs anew, or removes them: what hides these from a CPU slot is said
/// behind it.
void add_hiding(core::Slot& slot) {
  std::vector<std::string> words;
  for (const auto& kind : core::device_kinds()) {
    const auto* value = core::variable(slot, kind.hidden_by.first);
    if (value && *value == kind.hidden_by.second)
      words.push_back(kind.hidden_by.first + "=" + *value);
  }
  if (words.empty()) return;
  slot.launcher.push_back("env");
  slot.launcher.insert(slot.launcher.end(), words.begin(), words.end());
}

}  // namespace

core::Command step_on_all_nodes(const Environment& environment) {
  const auto number = [&](const char* name) { return whole(value_in(environment, name), 0); };
  const int nodes = std::max(1, number("SLURM_NNODES"));
  // GPUs that belong to tasks are seen by all tasks only; else one per node sees everything.
  const bool by_task =
      gpus_in(value_in(environment, "SLURM_GPUS_PER_TASK")) > 0 && number("SLURM_NTASKS") >= nodes;
  // It waits for no step that trains: one that has the cores or GPUs of the job would never end.
  // What else salloc was asked for would be asked for again; without it a step has all of the
  // job's.
  core::Command command{.words = {"timeout", std::to_string(step_seconds), "srun", "--overlap",
                                  "--input=none", fmt::format("-N{}", nodes)},
                        .unset = {"SLURM_GPUS", "SLURM_GPUS_PER_NODE"},
                        .errors = core::same_as_output};
  if (by_task) {
    command.words.push_back(fmt::format("-n{}", number("SLURM_NTASKS")));
  } else {
    command.words.insert(command.words.end(), {fmt::format("-n{}", nodes), "--ntasks-per-node=1"});
    command.unset.push_back("SLURM_GPUS_PER_TASK");
  }
  // The shell is the node's: only there the variables have what is asked for.
  auto line = fmt::format(
      "{}|$SLURM_NODEID|$SLURMD_NODENAME|$SLURM_CPUS_ON_NODE|$SLURM_CPUS_PER_TASK|"
      "$SLURM_THREADS_PER_CORE",
      mark);
  for (const auto& kind : core::kinds_with_driver()) line += "|$" + kind.mask;
  // Slurm sets the masks of all kinds where its configuration does not say which GPUs they are (no
  // AutoDetect and no Flags in gres.conf): NVIDIA's only where their driver is.
  const auto script =
      "test -z \"$ZE_AFFINITY_MASK\" || test -e /dev/nvidiactl || CUDA_VISIBLE_DEVICES=; "
      "echo \"" +
      line + "\"";
  command.words.insert(command.words.end(), {"--mem=0", "--export=ALL", "sh", "-c", script});
  return command;
}

core::Command threads_of(const std::vector<Node>& nodes) {
  std::vector<std::string> names;
  for (const auto& node : nodes) names.push_back(node.name);
  return {.words = {"timeout", std::to_string(step_seconds), "sinfo", "--all", "--Node",
                    "--noheader", "--nodes=" + boost::join(names, ","), "--format=%N %c %X %Y"}};
}

std::vector<Node> allocated_nodes(const Environment& environment) {
  const auto command = step_on_all_nodes(environment);
  try {
    core::program_file("srun");
  } catch (const std::system_error& error) {
    throw std::invalid_argument("srun: " + error.code().message());
  }
  const auto probed = in_a_probe([&] { return core::run(command).output; },
                                 std::chrono::seconds(step_seconds + 10));
  if (!probed.problem.empty()) throw std::invalid_argument("srun: " + probed.problem);
  auto nodes = nodes_in(probed.text);
  take_threads(nodes, core::run(threads_of(nodes)).output);
  return nodes;
}

std::vector<Node> nodes_in(std::string_view text) {
  const auto kinds = core::kinds_with_driver();
  std::map<int, Node> nodes;
  std::map<std::string, std::set<std::string>> gpus;
  std::string else_said;
  for (const auto& line : core::split(text, '\n')) {
    const auto cells = core::split(line, '|');
    constexpr std::size_t first_mask = 6;
    if (cells.size() != first_mask + kinds.size() || cells[0] != mark) {
      if (!line.empty()) else_said = line;
      continue;
    }
    auto& node = nodes[whole(cells[1], 0)];
    node.name = cells[2];
    node.cpus = std::max(1, whole(cells[3], 1));
    node.cpus_per_task = whole(cells[4], 0);
    node.used_threads = whole(cells[5], 0);
    // Each task of a node tells what it sees.
    auto& seen = gpus[node.name];
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const auto& mask = cells[first_mask + i];
      const auto devices = core::split_and_trim(mask, ',');
      if (is_empty_for_slurm(mask) || devices.empty() ||
          (node.gpus > 0 && node.kind != kinds[i].name))
        continue;
      seen.insert(devices.begin(), devices.end());
      node.kind = kinds[i].name;
      node.gpus = static_cast<int>(seen.size());
    }
  }
  if (nodes.empty())
    throw std::invalid_argument("srun reached no node" +
                                (else_said.empty() ? "" : " (" + else_said + ")"));
  std::vector<Node> in_order;
  for (auto& [number, node] : nodes) in_order.push_back(std::move(node));
  return in_order;
}

void take_threads(std::vector<Node>& nodes, std::string_view text) {
  for (const auto& line : core::split(text, '\n')) {
    const auto words = core::split_and_trim(line, ' ');
    if (words.size() != 4) continue;
    const auto node = std::ranges::find(nodes, words[0], &Node::name);
    const int cpus = whole(words[1], 1), cores = whole(words[2], 1) * whole(words[3], 1);
    if (node != nodes.end()) node->threads_per_core = std::max(1, cpus / std::max(1, cores));
  }
}

Choice steps_on(const std::vector<Node>& nodes) {
  Choice choice;
  std::map<std::string, int> numbers;
  for (const auto& node : nodes) {
    // A step without a core of its own would wait until it fails.
    const int cores = std::max(1, node.cpus / node.threads_per_core);
    const int count = std::min(cores, node.gpus > 0 ? node.gpus : most_automatic_slots);
    const int used = node.used_threads > 0 ? std::min(node.used_threads, node.threads_per_core)
                                           : node.threads_per_core;
    const int share = cores / count * used;
    const int threads = node.cpus_per_task > 0 ? std::min(share, node.cpus_per_task) : share;
    const int first = numbers[node.kind];
    for (int i = 0; i < count; ++i) {
      const auto name = fmt::format("{}:{}", node.kind, numbers[node.kind]++);
      choice.slots.push_back(as_step(
          {.name = name, .environment = environment_of(name, node.kind, {}, threads)}, node.name));
    }
    choice.notes.push_back(fmt::format(
        "slurm: {} on node {}, {} each: {} of {}", range(node.kind, first, count), node.name,
        node.threads_per_core > 1 ? "threads" : "cores", threads, node.cpus));
    if (count < node.gpus)
      choice.notes.push_back(
          fmt::format("slurm: node {} has {} of the job for {} GPUs: {} stay idle, ask for more "
                      "cores (--cpus-per-gpu{})",
                      node.name, core::counted(cores, "core"), node.gpus, node.gpus - count,
                      used > 1 ? fmt::format("; {} threads are a core", used) : ""));
  }
  return choice;
}

std::optional<std::string> note_on_fewer_gpus(const std::vector<Node>& nodes,
                                              const Environment& environment) {
  const int has = gpus_in(value_in(environment, "SLURM_GPUS"));
  int seen = 0;
  for (const auto& node : nodes) seen += node.gpus;
  if (has <= seen) return {};
  return fmt::format(
      "slurm: the job has {} GPUs, its steps see {}: ask for them with "
      "--gpus-per-node",
      has, seen);
}

core::Slot as_step(core::Slot slot, const std::string& node) {
  const auto* share = core::variable(slot, "OMP_NUM_THREADS");
  const auto threads = share ? *share : "1";
  const auto* kind = core::find_device_kind(core::kind_of(slot.name));
  const bool is_gpu = kind && kind->has_driver, is_cpu = core::is_cpu(slot.name);
  std::erase_if(slot.environment, [&](const auto& variable) {
    const auto& name = variable.first;
    return name == core::cores_variable ||
           (is_gpu && (name == kind->mask || name == kind->order || name == core::index_variable ||
                       name == core::unset_variable));
  });
  slot.job_step = true;
  slot.machine = node;
  slot.cores.clear();
  slot.identities.clear();
  // Without -N1 a step asks for as many nodes as the job has, without --mem=0 the first one may
  // take all memory.
  slot.launcher = {"srun", "--exact", "-N1", "-n1", "-c" + threads};
  if (!node.empty()) slot.launcher.push_back("--nodelist=" + node);
  // All of them: what salloc was asked for is in srun's environment.
  if (is_gpu) {
    for (const auto* gpus : {"--gpus=1", "--gpus-per-node=1", "--gpus-per-task=1"})
      slot.launcher.push_back(gpus);
  } else if (is_cpu) {
    // A step that takes the job's GPUs leaves the next one none, and it waits.
    for (const auto* none : {"--gpus=0", "--gpus-per-node=0"}) slot.launcher.push_back(none);
  }
  slot.launcher.push_back("--mem=0");
  slot.launcher.push_back(
      "--export=ALL");  // a job of --export=NONE has its steps start without PATH
  if (is_cpu) add_hiding(slot);
  return slot;
}

}  // namespace evolve::devices
