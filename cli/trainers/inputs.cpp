#include "cli/trainers/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "cli/options/command_line.hpp"
#include "cli/trainers/own_trainer.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text_file.hpp"
#include "core/utf8.hpp"
#include "core/yaml.hpp"
#include "trainer/checkpoint/weights_file.hpp"
#include "trainer/checksum.hpp"
#include "trainer/data/cache_file.hpp"
#include "trainer/data/counts.hpp"
#include "trainer/model/model_config.hpp"

namespace evolve::cli {

namespace fs = std::filesystem;

namespace {

/// The model has these layers, and others are left to train.
void check_freeze(const std::vector<int>& freeze, const trainer::ModelConfig& model) {
  const int layers = static_cast<int>(model.layers.size());
  const auto option = fmt::format("--freeze {}", fmt::join(freeze, " "));
  if (freeze.size() > 1 && *std::ranges::max_element(freeze) >= layers)
    throw bad_argument(option + ": the model has no such layer",
                       fmt::format("its layers are 0 to {}", layers - 1));
  const auto frozen = [&](int layer) { return trainer::is_frozen(freeze, layer); };
  if (std::ranges::all_of(std::views::iota(0, layers), frozen))
    throw bad_argument(option + ": nothing would be left to train",
                       fmt::format("the model has {} layers", layers));
}

/// Models with a level P6 have a greater stride than others.
void check_image_size(int imgsz, int stride, int least_strides) {
  if (imgsz % stride == 0 && imgsz >= least_strides * stride) return;
  throw bad_argument(
      fmt::format("--imgsz {}: this model's image sizes are multiples of {} pixels, {} at least",
                  imgsz, stride, least_strides * stride),
      fmt::format("write {}", trainer::whole_strides(imgsz, stride, least_strides)));
}

/// Where --cfg names another model than the weights are of: YOLOv5 takes from them what fits.
std::optional<std::string> note_on_transfer(const trainer::TrainOptions& options,
                                            const trainer::ModelConfig& model,
                                            const nlohmann::ordered_json& about) try {
  const auto table = trainer::model_table_in(about, options.weights);
  const auto [alike, all] = trainer::layers_alike(model, trainer::resolve(table));
  if (2 * alike >= all) return {};
  return fmt::format(
      "{} is of another model than --cfg {}: {} of {} layers are the same; the others begin anew",
      options.weights, options.cfg, alike, all);
} catch (const Error&) {
  return {};  // the weights bring no table that can be built: their layers are not known
}

/// The check reads an image's header and end; a worker that decoded it, or had looked at it before,
/// knows more. Whether the image that it names, as messages name it, cannot be trained on.
bool is_of_bad_image(const std::string& said, const trainer::TrainOptions& options) {
  const auto config = data::read_data_yaml(options.data, training_splits, options.folder);
  for (const auto split : training_splits) {
    for (const auto& file : config.images(split)) {
      const auto named = core::printable(file) + ": ";
      if (!said.starts_with(named)) continue;
      if (said.substr(named.size()).starts_with(data::was_resized)) return true;
      const data::DataConfig alone{
          .file = config.file, .names = config.names, .train = {file}, .val = {}, .test = {}};
      const data::ScanOptions check{.single_cls = options.single_cls, .decode = true};
      return !data::check(alone, data::Split::train, check).faults.empty();
    }
  }
  return false;
}

constexpr const char* bring_back =
    "bring them back, or begin a new run that learns from this one: evolve --from RUN";

/// What it says, however it is written.
std::string text_of(const core::Yaml& node) {
  std::string text = node.text;
  for (std::size_t i = 0; i < node.items.size(); ++i)
    text += "\n" + (node.keys.empty() ? "-" : node.keys[i]) + ": (" + text_of(node.items[i]) + ")";
  return text;
}

std::uint32_t readable_checksum(const std::string& path) {
  if (const auto checksum = checksum_of_file(path)) return *checksum;
  throw bad_input({path}, "cannot be read", "check its permissions and its disk");
}

std::uint32_t checksum_of_data(const std::string& path) try {
  auto root = core::parse_yaml(core::read_text_file(path), path);
  for (std::size_t i = root.keys.size(); i-- > 0;) {
    if (root.keys[i] != "path" && root.keys[i] != "download") continue;
    root.keys.erase(root.keys.begin() + static_cast<std::ptrdiff_t>(i));
    root.items.erase(root.items.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return trainer::checksum_of(text_of(root));
} catch (const Error&) {
  return readable_checksum(path);  // what its trainer makes of it is not known
}

/// What is wrong where there is nothing at this path.
std::optional<std::string> missing(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return {};
  return path + ": " + (error ? error.message() : "No such file or directory");
}

}  // namespace

std::optional<std::uint32_t> checksum_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint32_t checksum = 0;
  std::string piece(std::size_t{1} << 20, '\0');
  while (file.read(piece.data(), std::ssize(piece)) || file.gcount() > 0) {
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(file.gcount()));
    checksum = trainer::checksum_of(bytes, checksum);
  }
  if (!file.eof()) return {};
  return checksum;
}

ModelInspection check_model(const trainer::TrainOptions& options, int least_strides) {
  std::optional<trainer::WeightsSummary> weights;
  if (!options.weights.empty() && options.weights != trainer::embedded_weights)
    weights = trainer::read_summary(options.weights);
  const auto about = weights ? weights->about : nlohmann::ordered_json();
  ModelInspection found;
  found.has_table = about.contains("yaml");
  const auto model =
      trainer::resolve(options.cfg.empty() ? trainer::model_table_in(about, options.weights)
                                           : trainer::read_model_table(options.cfg));
  check_freeze(options.freeze, model);
  found.stride = trainer::image_stride(model);
  check_image_size(options.imgsz, found.stride, least_strides);
  const auto fits = [&](const auto& name) { return trainer::names_layer(model, name); };
  if (weights && std::ranges::none_of(weights->tensors, fits))
    throw trainer::none_fits(options.weights, weights->tensors.size());
  if (weights && !options.cfg.empty()) found.note = note_on_transfer(options, model, about);
  return found;
}

namespace {

/// Tells a screen how far the look over a data set is, once that takes longer than a moment.
class CheckProgress {
 public:
  explicit CheckProgress(Screen* screen) : screen_(screen) {}
  ~CheckProgress() {
    if (screen_) screen_->clear();
  }

  /// See data::Beat.
  void operator()(int done, int all) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !screen_) return;
    if (all == 0)
      return screen_->clear();  // another process is waited for, which is said elsewhere
    if (Clock::now() < next_) return;
    next_ = Clock::now() + std::chrono::milliseconds(200);
    screen_->show(fmt::format("checking images: {} of {}", done, all));
  }

 private:
  using Clock = std::chrono::steady_clock;

  Screen* screen_;
  std::mutex mutex_;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};

}  // namespace

Inspection inspect(const trainer::TrainOptions& options, const std::vector<data::Split>& splits,
                   bool began, Screen* screen) {
  const auto config = data::with_fraction(
      data::read_data_yaml(options.data, splits, options.folder), options.fraction);
  Inspection found;
  CheckProgress progress(screen);
  const data::ScanOptions check{.single_cls = options.single_cls,
                                .decode = options.skip_bad,
                                .cache_folder = data::cache_folder(),
                                .beat = std::ref(progress),
                                .note = [&](const std::string& line) {
                                  if (std::ranges::find(found.notes, line) == found.notes.end())
                                    found.notes.push_back(line);
                                }};
  std::vector<std::string> faults;
  std::set<std::string> said;
  for (const auto split : splits) {
    const auto& name = data::name_of(split);
    if (config.images(split).empty())
      throw bad_input({options.data}, "there is no " + name,
                      "write " + name + ": and a folder of images");
    const auto stats = data::check(config, split, check);
    // Splits may share images.
    std::ranges::copy_if(stats.faults, std::back_inserter(faults),
                         [&](const auto& fault) { return said.insert(fault).second; });
    if (options.skip_bad && stats.images == 0)
      throw bad_input({options.data}, "no " + name + " image can be used", "mend them");
    for (auto& note : data::notes(stats, config, split)) found.notes.push_back(std::move(note));
    found.splits.push_back(stats);
  }
  if (!faults.empty() && !options.skip_bad) {
    const bool any = std::ranges::all_of(found.splits, &data::DatasetStats::images);
    throw data::bad_images(faults, began ? data::Without::another_run
                                   : any ? data::Without::this_run
                                         : data::Without::no_image);
  }
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const auto& stats = found.splits[i];
    // A run that has begun had labels, and keeps its share.
    if (!began && options.fraction < 1 && splits[i] == data::Split::train && stats.labels == 0)
      throw bad_argument(fmt::format("--fraction {}: none of the first {} has a label",
                                     options.fraction, core::counted(stats.images, "train image")),
                         "take a larger share, or leave it out");
    data::check_labels(stats, config, splits[i]);
  }
  return found;
}

nlohmann::ordered_json model_trained_on(const trainer::TrainOptions& options) {
  auto files = nlohmann::ordered_json::object();
  std::error_code ignored;  // a name is no file's, and a folder has no checksum
  for (const auto& [name, path] : {std::pair("weights", options.weights), {"cfg", options.cfg}})
    if (path.starts_with('/') && fs::is_regular_file(path, ignored))
      files[name] = readable_checksum(path);
  return files;
}

nlohmann::ordered_json trained_on(const Inspection& found, const trainer::TrainOptions& options) {
  auto inputs = model_trained_on(options);
  for (std::size_t i = 0; i < training_splits.size(); ++i)
    inputs[data::name_of(training_splits[i])] = data::counts_of(found.splits[i]);
  return inputs;
}

void check_same(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                const trainer::TrainOptions& options) {
  if (const auto different = data::difference(before, now, trainer::run_began_with))
    throw bad_input({options.data}, *different, bring_back);
  check_same_files(before, now, options);
}

nlohmann::ordered_json files_trained_on(const trainer::TrainOptions& options) {
  auto files = model_trained_on(options);
  std::error_code ignored;
  if (options.data.starts_with('/') && fs::is_regular_file(options.data, ignored))
    files["data"] = checksum_of_data(options.data);
  return files;
}

void check_same_files(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                      const trainer::TrainOptions& options) {
  const auto check = [&](const char* name, const std::string& path, const char* fault) {
    if (before.contains(name) && before[name] != now.value(name, nlohmann::ordered_json()))
      throw bad_input({path}, fault, bring_back);
  };
  check("weights", options.weights, trainer::other_weights);
  check("cfg", options.cfg, trainer::other_model);
  check("data", options.data, "its images or classes are not those that the run began with");
}

std::optional<MissingInput> missing_input(const trainer::TrainOptions& train) {
  for (const auto& [option, path] :
       {std::pair("data", train.data), {"weights", train.weights}, {"cfg", train.cfg}})
    if (path.starts_with('/'))
      if (auto what = missing(path)) return MissingInput{option, *std::move(what)};
  return {};
}

std::function<std::optional<std::string>()> change_finder(const trainer::TrainOptions& options,
                                                          const nlohmann::ordered_json& inputs) {
  std::vector<std::string> files;
  for (const auto& [name, path] :
       {std::pair("weights", options.weights), {"cfg", options.cfg}, {"data", options.data}})
    if (inputs.contains(name)) files.push_back(path);
  if (files.empty()) return {};
  const auto stamps = [files] {
    std::vector<data::FileStamp> found;
    for (const auto& file : files) found.push_back(data::stamp_of(file));
    return found;
  };
  struct Seen {
    /// In the last look, and when they were looked into. Nothing at first: they may have changed
    /// between the start's look into them and this one.
    std::vector<data::FileStamp> last, known;
    std::optional<std::string> change;
  };
  return [=, seen = Seen{stamps(), {}, {}}]() mutable {
    const auto now = stamps();
    const bool settled = std::exchange(seen.last, now) == now;
    const bool all = std::ranges::none_of(now, [](const auto& stamp) { return stamp.bytes < 0; });
    if (!settled || !all || now == seen.known) return seen.change;
    nlohmann::ordered_json found;
    try {
      found = files_trained_on(options);
    } catch (const Error&) {
      return seen.change;  // what cannot be read says nothing, like half of a file
    }
    seen.change.reset();
    try {
      check_same_files(inputs, found, options);
    } catch (const Error& error) {
      seen.change = error.what();
    }
    seen.known = now;
    return seen.change;
  };
}

using FaultFinder = std::function<std::optional<std::string>(const std::string& said)>;

FaultFinder fault_finder(const Trainer& trainer, const trainer::TrainOptions& train,
                         const nlohmann::ordered_json& inputs) {
  if (is_built_in(trainer)) {
    return [train, inputs](const std::string& said) -> std::optional<std::string> {
      try {
        check_model(train, 1);  // what a run of an earlier version has may be less than two
        const auto found = inspect(train, training_splits, /*began=*/true);
        check_same(inputs, trained_on(found, train), train);
        const auto says = [&](const char* what) { return said.find(what) != said.npos; };
        const bool found_others = says(trainer::run_began_with) || says(trainer::holds_nan);
        return found_others || is_of_bad_image(said, train) ? std::optional(said) : std::nullopt;
      } catch (const Error& error) {
        return boost::replace_all_copy(std::string(error.what()), "\n", "; ");
      } catch (const std::filesystem::filesystem_error& error) {  // as of a folder shut meanwhile
        return error.what();
      }
    };
  }
  const bool compares = python_trainer(trainer) != nullptr;
  std::vector<std::string> files;
  if (const auto* command = std::get_if<TrialCommand>(&trainer)) {
    if (command->words[0].find('/') != std::string::npos) files.push_back(command->words[0]);
    if (const auto place = place_of_program(command->words, inputs))
      files.push_back(command->words[*place]);
    for (auto& file : files) make_absolute(file);
  }
  // A path that existed at the start is absolute.
  for (const auto& path : {train.data, train.weights, train.cfg})
    if (path.starts_with('/')) files.push_back(path);
  if (files.empty() && !compares) return {};
  return [=](const std::string& said) -> std::optional<std::string> {
    for (const auto& file : files)
      if (auto what = missing(file)) return what;
    const bool found_others = compares && said.find(trainer::run_began_with) != said.npos;
    return found_others ? std::optional(said) : std::nullopt;
  };
}

}  // namespace evolve::cli
