#include "cli/inputs.hpp"

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "trainer/checkpoint/weights_file.hpp"
#include "trainer/model/model_config.hpp"
#include "workers/supervise/kinds.hpp"

namespace evolve::cli {

namespace fs = std::filesystem;

namespace {

fs::path worker_path() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "evolve-worker";
}

}  // namespace

void check_model(const trainer::TrainOptions& options) {
  const bool embedded = options.weights == trainer::embedded_weights;
  nlohmann::ordered_json about;
  if (!options.weights.empty() && !embedded) about = trainer::read_about(options.weights);
  if (!options.cfg.empty()) {
    trainer::resolve(trainer::read_model_table(options.cfg));
  } else if (!embedded) {
    trainer::resolve(trainer::model_table_in(about, options.weights));
  }
}

Inspection inspect(const std::string& data, const std::vector<data::Split>& splits,
                   bool single_cls) {
  const auto config = data::read_data_yaml(data);
  Inspection found;
  for (const auto split : splits) {
    if (config.images(split).empty()) {
      const auto& name = data::name_of(split);
      throw bad_input({data}, "there is no " + name, "write " + name + ": and a folder of images");
    }
    found.splits.push_back(data::check(config, split, single_cls));
    for (auto& note : data::notes(found.splits.back(), config, split))
      found.notes.push_back(std::move(note));
  }
  return found;
}

std::string built_in_worker() {
  const auto worker = worker_path();
  if (!fs::exists(worker)) {
    throw bad_input(
        {worker.string()}, "the built-in trainer is not there",
        "build it (cmake --preset release) or install the package evolve-worker, or name "
        "your own with --trainer-command");
  }
  return worker.string();
}

std::function<bool(const std::string&)> built_in_drives() {
  return [known = std::vector<std::string>()](const std::string& kind) mutable {
    if (!fs::exists(worker_path())) return true;
    if (known.empty()) known = workers::device_kinds(worker_path().string());
    return std::ranges::find(known, kind) != known.end();
  };
}

}  // namespace evolve::cli
