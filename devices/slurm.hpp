// Job steps of Slurm: where `srun` can start processes within the allocation that evolve runs in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/slot.hpp"
#include "core/spawn.hpp"
#include "devices/slots.hpp"

namespace evolve::devices {

/// What the job has on a node.
struct Node {
  std::string name;
  /// What Slurm counts as its CPUs: the threads of cores that have several.
  int cpus = 1;
  /// How many of its CPUs are threads of one core, in Slurm's configuration: a step gets whole
  /// cores. 1 where Slurm counts cores, whatever threads they have.
  int threads_per_core = 1;
  /// How many of these the job asked for (--threads-per-core, --hint=nomultithread); 0: all.
  int used_threads = 0;
  /// The job's --cpus-per-task, beyond which some steps cannot be made; 0 without one.
  int cpus_per_task = 0;
  /// "cuda", "xpu" or "cpu".
  std::string kind = "cpu";
  /// GPUs of the kind; 0 for "cpu".
  int gpus = 0;
  bool operator==(const Node&) const = default;
};

/// The step that asks every node of the job for what Slurm sets there.
core::Command step_on_all_nodes(const Environment& environment);

/// What asks Slurm for the CPUs, sockets and cores of a socket of these nodes.
core::Command threads_of(const std::vector<Node>& nodes);

/// The nodes by what that step and that command say. Throws std::invalid_argument when srun fails,
/// in words that can follow "--launcher slurm: ".
std::vector<Node> allocated_nodes(const Environment& environment);

/// The nodes in what that step has printed, in the job's order. Throws std::invalid_argument with
/// what else it has printed when there is none.
std::vector<Node> nodes_in(std::string_view text);

/// Writes into the nodes what the command threads_of() has printed: a line for each, or several.
void take_threads(std::vector<Node>& nodes, std::string_view text);

/// A slot for each GPU of the nodes, numbered through ("cuda:0" …), or for each core, at most 16 a
/// node, where a node has none; each with its share of the node's cores. Notes say what is where.
Choice steps_on(const std::vector<Node>& nodes);

/// A note where the job has more GPUs (--gpus) than its steps see: Slurm shows a step on each node
/// those that it counts for that node.
std::optional<std::string> note_on_fewer_gpus(const std::vector<Node>& nodes,
                                              const Environment& environment);

/// The slot as a job step, started by `srun`: with as many cores as it has threads, and a GPU where
/// it has one. Which, Slurm decides: no mask, cores or identity of ours remain. "" for any node.
core::Slot as_step(core::Slot slot, const std::string& node);

}  // namespace evolve::devices
