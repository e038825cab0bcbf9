#include "fake_cards.hpp"

namespace evolve::test {

std::vector<std::string> command_with(const Variables& variables,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"/usr/bin/env"};
  for (const auto* unset : {"CUDA_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY",
                            "ONEAPI_DEVICE_SELECTOR", "SLURM_JOB_ID", "LD_LIBRARY_PATH"})
    command.insert(command.end(), {"-u", unset});
  command.insert(command.end(), variables.begin(), variables.end());
  for (const auto& word : evolve_command(arguments)) command.push_back(word);
  return command;
}

Ended evolve_with(const Folder& folder, const Variables& variables,
                  const std::vector<std::string>& arguments) {
  return Process(command_with(variables, arguments), folder.path()).wait();
}

Ended run_on(const Folder& folder, const Variables& variables, const std::string& devices,
             const std::vector<std::string>& more, const std::string& trainer_options) {
  std::vector<std::string> arguments = {
      "--trainer-command", fake_trainer("--seen " + (folder / "seen").string() + trainer_options),
      "--devices",         devices,
      "--population",      "4",
      "--generations",     "2",
      "--output",          "run"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return evolve_with(folder, variables, arguments);
}

}  // namespace evolve::test
