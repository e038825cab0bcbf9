// The variables that hide devices from a process, by kind of device.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/accelerator.hpp"
#include "devices/environment.hpp"

namespace evolve::devices {

/// Whether CUDA takes an entry of CUDA_VISIBLE_DEVICES for the beginning of a UUID; any other is a
/// number to it.
bool is_uuid_for_cuda(std::string_view entry);

/// What a variable that lists devices shows a process, in its order; nothing when it is not set. An
/// entry of -1 ends the list, so that this alone hides all, as an empty list does.
std::optional<std::vector<std::string>> shown_by(const Environment& environment,
                                                 const std::string& variable);

/// Whether Slurm says with this mask that the job has no device of the kind.
bool is_empty_for_slurm(const std::string& mask);

/// The number of each of NVIDIA's devices' GPU, as nvidia-smi counts: several MIG instances of a
/// GPU, at its PCI address, follow one another.
std::vector<std::size_t> gpu_numbers(const std::vector<Accelerator>& all);

/// The devices out of `all` that CUDA shows under CUDA_VISIBLE_DEVICES=`list`, in its order:
/// numbers of GPUs, beginnings of UUIDs that only one has. As CUDA does, the first entry that names
/// nothing, or a device again, ends the list. A number counts GPUs in the order of `all`: CUDA's
/// own when they are alike, or when CUDA_DEVICE_ORDER is PCI_BUS_ID.
std::vector<Accelerator> seen_by_cuda(const std::vector<Accelerator>& all, std::string_view list);

}  // namespace evolve::devices
