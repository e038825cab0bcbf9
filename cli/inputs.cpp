#include "cli/inputs.hpp"

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "trainer/checkpoint/weights_file.hpp"
#include "trainer/data/cache_file.hpp"
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

Inspection inspect(const trainer::TrainOptions& options, const std::vector<data::Split>& splits) {
  const auto config = data::with_fraction(data::read_data_yaml(options.data), options.fraction);
  Inspection found;
  const data::CheckOptions check{.single_cls = options.single_cls,
                                 .decode = options.skip_bad,
                                 .cache_folder = data::cache_folder(),
                                 .note = [&](const std::string& line) {
                                   if (std::ranges::find(found.notes, line) == found.notes.end())
                                     found.notes.push_back(line);
                                 }};
  std::vector<std::string> faults;
  for (const auto split : splits) {
    const auto& name = data::name_of(split);
    if (config.images(split).empty())
      throw bad_input({options.data}, "there is no " + name,
                      "write " + name + ": and a folder of images");
    const auto stats = data::check(config, split, check);
    faults.insert(faults.end(), stats.faults.begin(), stats.faults.end());
    if (options.skip_bad && stats.images == 0)
      throw bad_input({options.data}, "no " + name + " image can be used", "mend them");
    for (auto& note : data::notes(stats, config, split)) found.notes.push_back(std::move(note));
    found.splits.push_back(stats);
  }
  if (!faults.empty() && !options.skip_bad) throw data::bad_images(faults);
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
    if (known.empty()) known = workers::trainable_kinds(worker_path().string());
    return std::ranges::find(known, kind) != known.end();
  };
}

}  // namespace evolve::cli
