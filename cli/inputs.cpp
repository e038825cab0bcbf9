#include "cli/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/error.hpp"
#include "core/spawn.hpp"
#include "trainer/checkpoint/weights_file.hpp"
#include "trainer/data/cache_file.hpp"
#include "trainer/data/image_file.hpp"
#include "trainer/model/model_config.hpp"
#include "workers/supervise/kinds.hpp"

namespace evolve::cli {

namespace fs = std::filesystem;

namespace {

fs::path worker_path() {
  return core::this_program().parent_path() / "evolve-worker";
}

/// `--freeze 10` is the first ten layers, `--freeze 0 1 2` are these.
void check_freeze(const std::vector<int>& freeze, const trainer::ModelConfig& model) {
  if (freeze.empty()) return;
  const auto layers = std::ssize(model.layers);
  const bool single = freeze.size() == 1;
  const int last = *std::ranges::max_element(freeze);
  const auto option = fmt::format("--freeze {}", fmt::join(freeze, " "));
  if (!single && last >= layers)
    throw bad_argument(option + ": the model has no such layer",
                       fmt::format("its layers are 0 to {}", layers - 1));
  const std::set<int> chosen(freeze.begin(), freeze.end());
  if (single ? last >= layers : std::ssize(chosen) == layers)
    throw bad_argument(option + ": nothing would be left to train",
                       fmt::format("the model has {} layers", layers));
}

/// The check reads an image's header and end; a worker that decoded it knows more.
bool undecodable(const std::string& said) {
  std::error_code ignored;
  // "FILE: what is wrong", and a file's name may have a colon too.
  for (auto end = said.find(": "); end != said.npos; end = said.find(": ", end + 1)) {
    const auto file = said.substr(0, end);
    if (std::filesystem::is_regular_file(file, ignored) && data::is_image_name(file))
      return data::decode(file).empty();
  }
  return false;
}

}  // namespace

std::optional<std::uint32_t> check_model(const trainer::TrainOptions& options) {
  const bool embedded = options.weights == trainer::embedded_weights;
  std::optional<trainer::WeightsSummary> weights;
  if (!options.weights.empty() && !embedded) weights = trainer::read_summary(options.weights);
  if (!options.cfg.empty()) {
    check_freeze(options.freeze, trainer::resolve(trainer::read_model_table(options.cfg)));
  } else if (!embedded) {
    const auto about = weights ? weights->about : nlohmann::ordered_json();
    check_freeze(options.freeze, trainer::resolve(trainer::model_table_in(about, options.weights)));
  }
  return weights ? std::optional(weights->checksum) : std::nullopt;
}

Inspection inspect(const trainer::TrainOptions& options, const std::vector<data::Split>& splits) {
  const auto config =
      data::with_fraction(data::read_data_yaml(options.data, splits), options.fraction);
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
  for (std::size_t i = 0; i < splits.size(); ++i)
    data::check_labels(found.splits[i], config, splits[i]);
  return found;
}

nlohmann::ordered_json trained_on(const Inspection& found, std::optional<std::uint32_t> weights) {
  auto inputs = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < training_splits.size(); ++i)
    inputs[data::name_of(training_splits[i])] = {{"images", found.splits[i].images},
                                                 {"labels", found.splits[i].labels}};
  if (weights) inputs["weights"] = *weights;
  return inputs;
}

void check_same(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                const trainer::TrainOptions& options) {
  if (before.is_null() || before == now) return;
  const auto remedy =
      "bring them back, or begin a new run that learns from this one: evolve --from RUN";
  for (const auto training_split : training_splits)
    if (const auto& split = data::name_of(training_split); before.at(split) != now.at(split))
      throw bad_input(
          {options.data},
          fmt::format("{} {} images with {} labels, the run began with {} with {}",
                      now[split].at("images").dump(), split, now[split].at("labels").dump(),
                      before[split].at("images").dump(), before[split].at("labels").dump()),
          remedy);
  throw bad_input({options.weights}, "these are other weights than the run began with", remedy);
}

std::optional<std::string> missing_input(const trainer::TrainOptions& train) {
  for (const auto& path : {train.data, train.weights}) {
    std::error_code error;
    if (!path.starts_with('/') || std::filesystem::exists(path, error)) continue;
    return path + ": " + (error ? error.message() : "No such file or directory");
  }
  return {};
}

std::function<std::optional<std::string>(const std::string&)> fault_finder(const Options& options) {
  const auto& train = options.train;
  // It looks at all of its data, and says so; here, nothing but a file's existence could be seen.
  if (options.trainer != "built-in") return {};
  if (options.has_external_trainer()) {
    // A path that existed at the start is absolute.
    if (!train.data.starts_with('/') && !train.weights.starts_with('/')) return {};
    return [train](const std::string&) { return missing_input(train); };
  }
  return [train](const std::string& said) -> std::optional<std::string> {
    try {
      check_model(train);
      inspect(train, training_splits);
      return undecodable(said) ? std::optional(said) : std::nullopt;
    } catch (const Error& error) {
      return error.what();
    }
  };
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
