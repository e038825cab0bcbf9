// Runs evolve with NVIDIA's library and Intel's driver replaced by those of tests/fake_drivers.
#pragma once

#include "process.hpp"

namespace evolve::test {

using Variables = std::vector<std::string>;

inline const std::string intel = "ZE_ENABLE_ALT_DRIVERS=" FAKE_LEVEL_ZERO;
inline const std::string nvidia = "LD_LIBRARY_PATH=" FAKE_NVML_FOLDER;
inline const std::string four_xpus =
    "FAKE_XPUS=name=Arc A770,bus=3;name=Arc A750,bus=4;name=Arc A580,bus=5;name=Arc A380,bus=6";
inline const std::string two_gpus =
    "FAKE_GPUS=name=RTX 4090,uuid=GPU-11aa,bus=1;name=RTX 3090,uuid=GPU-22bb,bus=2";

/// The command `evolve ARGUMENTS` in an environment with these variables ("NAME=VALUE") and no
/// other that matters.
std::vector<std::string> command_with(const Variables& variables,
                                      const std::vector<std::string>& arguments);

/// It, run to its end.
Ended evolve_with(const Folder& folder, const Variables& variables,
                  const std::vector<std::string>& arguments);

/// `evolve` on these devices with the fake trainer, which leaves what it sees in the file "seen".
Ended run_on(const Folder& folder, const Variables& variables, const std::string& devices,
             const std::vector<std::string>& more = {}, const std::string& trainer_options = "");

}  // namespace evolve::test
