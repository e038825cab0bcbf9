// Job steps of Slurm: where `srun` can start processes within the allocation that evolve runs in.
#pragma once

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
  int cores = 1;
  /// The job's --cpus-per-task, beyond which some steps cannot be made; 0 without one.
  int cores_per_task = 0;
  /// "cuda", "xpu" or "cpu".
  std::string kind = "cpu";
  /// GPUs of the kind; 0 for "cpu".
  int gpus = 0;
  bool operator==(const Node&) const = default;
};

/// The step that asks every node of the job for what Slurm sets there.
core::Command step_on_all_nodes(const Environment& environment);

/// The nodes by what that step says. Throws std::invalid_argument when srun fails, in words that
/// can follow "--launcher slurm: ".
std::vector<Node> allocated_nodes(const Environment& environment);

/// The nodes in what that step has printed, in the job's order. Throws std::invalid_argument with
/// what else it has printed when there is none.
std::vector<Node> nodes_in(std::string_view text);

/// A slot for each GPU of the nodes, numbered through ("cuda:0" …), or for each core, at most 16 a
/// node, where a node has none; each with its share of the node's cores. Notes say what is where.
Choice steps_on(const std::vector<Node>& nodes);

/// The slot as a job step, started by `srun`: with as many cores as it has threads, and a GPU where
/// it has one. Which, Slurm decides: no mask, cores or identity of ours remain. "" for any node.
core::Slot as_step(core::Slot slot, const std::string& node);

}  // namespace evolve::devices
