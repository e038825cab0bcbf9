// --launcher: what is put before a worker's command.
#pragma once

#include <string>

#include "devices/slots.hpp"

namespace evolve::engine {

/// Throws `Error` for a launcher that cannot be split or has an unknown placeholder.
void check_launcher(const std::string& launcher);

/// The slots of `--devices spec` on this machine, or of the Slurm job, each with its `launcher`:
/// nothing for "local"; `srun …` for "slurm", where "auto" and "slurm" mean all that the job has;
/// else the words of a command, {device} and {index} replaced, and `env NAME=VALUE …` for where it
/// does not hand on an environment (for ssh, whose words a shell reads again, in quotes). `had` are
/// the slots of a run that goes on, for devices::choose(). Throws `Error` as that does, and when
/// the launcher cannot be used.
devices::Choice launched_slots(const std::string& launcher, const std::string& spec,
                               const devices::TrainerTraits& trainer, const devices::Had& had = {});

}  // namespace evolve::engine
