#include "trainer/run/full_training.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/error.hpp"
#include "core/number.hpp"
#include "hyp/fitness.hpp"
#include "hyp/trial_folder.hpp"
#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/checkpoint/pretrained.hpp"
#include "trainer/device/torch_version.hpp"
#include "trainer/evaluation/evaluation.hpp"
#include "trainer/run/setup.hpp"
#include "trainer/run/training_state.hpp"
#include "trainer/stopwatch.hpp"

namespace evolve::trainer {
namespace {

using Json = nlohmann::ordered_json;

/// The epochs done.
struct EpochLog {
  std::vector<workers::EpochReport> epochs;
  /// AP50-95 of each class in the last validation.
  std::vector<double> class_ap;
  /// Once the training has ended.
  std::optional<workers::TrainingReport> final_report;
};

/// From 1: the last of greatest fitness, which best.pt holds, as YOLOv5's does.
int best_epoch(const std::vector<workers::EpochReport>& epochs) {
  for (auto it = epochs.rbegin(); it != epochs.rend(); ++it) {
    if (it->best) return it->training.epoch;
  }
  return 0;
}

/// AP50-95 of every class; one without labels has the mean.
std::vector<double> class_ap(const Validation& validation, int classes) {
  std::vector<double> ap(static_cast<std::size_t>(classes), validation.metrics.map50_95);
  for (const auto& score : validation.classes) {
    ap[static_cast<std::size_t>(score.cls)] = score.ap50_95();
  }
  return ap;
}

/// What of the options must not change when a training goes on. Where its data's relative paths are
/// looked for says nothing of what they lead to.
Json lasting(Json options) {
  for (const char* option : changeable_options) options.erase(option);
  options.erase("folder");
  return options;
}

/// What must not change when a training goes on.
Json identity(const workers::TrainingJob& job) {
  Json options = lasting(job.options);
  return {{"hyp", to_json(job.hyp)}, {"seed", job.seed}, {"options", options}};
}

/// The names of what differs between two identities: "lr0", "seed", "imgsz". An option that an
/// earlier version did not have was what it is by default.
std::set<std::string> differences(const Json& then, const Json& now) {
  std::set<std::string> names;
  const auto compare = [&](const Json& one, const Json& other) {
    for (const auto& [name, value] : one.items())
      if (other.value(name, Json()) != value) names.insert(name);
  };
  const auto options = [](const Json& identity) {
    return lasting(to_json(train_options_from_json(identity.at("options"))));
  };
  compare(then.at("hyp"), now.at("hyp"));
  compare(now.at("hyp"), then.at("hyp"));
  compare(options(then), options(now));
  if (then.at("seed") != now.at("seed")) names.insert("seed");
  return names;
}

/// A report as the object that its line holds, and back.
template <class Report>
Json json_of(const Report& report) {
  return Json::parse(line_of(workers::JobReport(report)));
}
template <class Report>
Report report_in(const Json& json) {
  return std::get<Report>(workers::parse_report(json.dump()).value());
}

class FullTraining {
 public:
  FullTraining(const workers::TrainingJob& job, const TrainOptions& options,
               const std::optional<Checkpoint>& weights, PreparedData& data,
               const ComputeContext& context)
      : job_(job),
        options_(options),
        weights_(weights),
        data_(data),
        context_(context),
        folder_(std::filesystem::path(last_weights(job)).parent_path()) {
    std::filesystem::create_directories(folder_);
  }

  workers::TrainingReport run(const OnReport& on_report) {
    if (job_.resume) load_log(*weights_);
    for (auto epoch : log_.epochs) {
      epoch.past = true;
      on_report(epoch);
    }
    if (log_.final_report) return *log_.final_report;
    if (job_.resume && context_.ranks->rank() == 0) bring_back_best();
    train(on_report);
    return context_.ranks->rank() == 0 ? finish() : workers::TrainingReport{};
  }

 private:
  std::string best() const { return (folder_ / hyp::best_weights).string(); }
  std::string last() const { return last_weights(job_); }

  Error cannot_resume(const std::string& what, const std::string& remedy) const {
    return bad_input({last()}, what, remedy);
  }

  void load_log(const Checkpoint& saved) {
    const auto training = saved.about.is_object() ? saved.about.value("training", Json()) : Json();
    if (!training.is_object()) {
      throw cannot_resume("this holds weights and no training", "start a new run with --weights");
    }
    if (const auto names = differences(training.at("run"), identity(job_)); !names.empty()) {
      throw cannot_resume(
          fmt::format("the training began with other values of {}", fmt::join(names, ", ")),
          "bring back its opt.yaml and hyp.yaml as they were, or start a new run");
    }
    for (const auto& epoch : training.at("epochs")) {
      log_.epochs.push_back(report_in<workers::EpochReport>(epoch));
    }
    training.at("class_ap").get_to(log_.class_ap);
    if (training.contains("ended")) {
      log_.final_report = report_in<workers::TrainingReport>(training.at("ended"));
    }
  }

  /// The weights know classes by their numbers alone; rates of learning follow the count of
  /// iterations.
  void check_data() const {
    const auto began = weights_->about.at("names").get<std::vector<std::string>>();
    const auto& now = data_.training().names;
    const auto refuse = [&](const std::string& what) {
      throw cannot_resume(what, "bring back the data set as it was, or start a new run");
    };
    if (began.size() != now.size())
      refuse(fmt::format("its training began with {}, {} has {} now",
                         core::counted(std::ssize(began), "class"), options_.data, now.size()));
    const auto [was, is] = std::ranges::mismatch(began, now);
    if (was != began.end())
      refuse(fmt::format("class {} was {} when its training began, in {} it is {} now",
                         was - began.begin(), *was, options_.data, *is));
    const auto then = weights_->about.at("training").value("inputs", Json::object());
    if (const auto different = data::difference(then, data_.counts(), "its training began with"))
      refuse(options_.data + " has " + *different);
  }

  std::unique_ptr<Detector> detector() const {
    if (!job_.resume)
      return make_detector(options_, job_.hyp, weights_, job_.seed, data_, context_.beat,
                           context_.note);
    check_data();
    auto detector = detector_of(*weights_, last());
    freeze(*detector, options_.freeze);
    return detector;
  }

  void train(const OnReport& on_report) {
    TrainingLoop loop(options_, job_.hyp, job_.seed, data_, detector(), context_);
    if (job_.resume) {
      loop.load_state(state_in(*weights_));
    } else {
      log_.class_ap.resize(static_cast<std::size_t>(data_.classes()));
    }
    if (context_.ranks->rank() > 0) return loop.follow();
    while (static_cast<int>(log_.epochs.size()) < options_.epochs &&
           !out_of_patience(fitness(), options_.patience)) {
      train_epoch(loop, on_report);
      on_report(log_.epochs.back());
    }
    loop.end();
  }

  /// Of each epoch done.
  std::vector<double> fitness() const {
    std::vector<double> fitness;
    for (const auto& epoch : log_.epochs) fitness.push_back(fitness_(epoch.metrics));
    return fitness;
  }

  void train_epoch(TrainingLoop& loop, const OnReport& on_report) {
    const int epoch = static_cast<int>(log_.epochs.size());
    const Stopwatch all;
    double reported = 0;
    const auto progress = loop.train_epoch(epoch, log_.class_ap, [&](const auto& now) {
      if (all.elapsed() - reported < 0.25) return;
      reported = all.elapsed();
      on_report(batch_report(epoch, now));
    });
    synchronize(context_.device);
    workers::EpochReport report{.training = batch_report(epoch, progress),
                                .learning_rates = loop.learning_rates(epoch)};
    const Validation validation = loop.validate();
    synchronize(context_.device);
    report.metrics = validation.metrics;
    report.seconds = all.elapsed();
    const int before = best_epoch(log_.epochs);
    report.best = before == 0 || fitness_(report.metrics) >=
                                     fitness_(log_.epochs[std::size_t(before - 1)].metrics);
    log_.epochs.push_back(report);
    log_.class_ap = class_ap(validation, data_.classes());
    save(loop, report.best);
  }

  workers::BatchReport batch_report(int epoch, const EpochProgress& progress) const {
    return {.epoch = epoch + 1,
            .batch = progress.batch,
            .batches = progress.batches,
            .losses = {progress.losses[0], progress.losses[1], progress.losses[2]},
            .labels = progress.labels,
            .imgsz = progress.imgsz,
            .memory_bytes = memory_bytes(context_.device)};
  }

  void save(const TrainingLoop& loop, bool is_best) const {
    Checkpoint checkpoint = checkpoint_of(*loop.average(), data_.training().names);
    checkpoint.about["epoch"] = log_.epochs.size() - 1;  // YOLOv5 counts from 0
    Checkpoint with_state = checkpoint;
    with_state.about["training"] = training();
    add_state(with_state, loop.state());
    write_checkpoint(last(), with_state);
    // Not before: of an epoch that last.pt does not know there is nothing.
    if (is_best) write_checkpoint(best(), checkpoint);
  }

  /// Where the last epoch is the best, a cut may have come before best.pt was written.
  void bring_back_best() const {
    if (best_epoch(log_.epochs) != static_cast<int>(log_.epochs.size())) {
      if (!std::filesystem::exists(best()))
        throw cannot_resume(
            fmt::format("the weights of its best epoch, {}, are gone", best_epoch(log_.epochs) - 1),
            "bring back best.pt, or start a new run with --weights");
      return;
    }
    Checkpoint checkpoint{.state = weights_->state, .about = weights_->about, .training = {}};
    checkpoint.about.erase("training");
    write_checkpoint(best(), checkpoint);
  }

  /// What a resume needs besides the tensors.
  Json training() const {
    Json json = {{"run", identity(job_)},
                 {"inputs", data_.counts()},
                 {"epochs", Json::array()},
                 {"class_ap", log_.class_ap}};
    for (const auto& epoch : log_.epochs) json["epochs"].push_back(json_of(epoch));
    if (log_.final_report) json["ended"] = json_of(*log_.final_report);
    return json;
  }

  /// Validates best.pt and takes the training out of last.pt.
  workers::TrainingReport finish() {
    const auto detector = detector_of(read_checkpoint(best()), best());
    detector->to(context_.device);
    const int done = static_cast<int>(log_.epochs.size());
    log_.final_report = workers::TrainingReport{
        .epochs = done,
        .best_epoch = best_epoch(log_.epochs),
        .stopped_early = done < options_.epochs,
        .validation =
            validation_report(*detector, data_.validation(),
                              validate_options(options_, context_, data_.on(context_)), job_.dir)};
    Checkpoint checkpoint = read_checkpoint(last());
    checkpoint.training.clear();
    checkpoint.about["training"] = training();
    write_checkpoint(last(), checkpoint);
    return *log_.final_report;
  }

  const workers::TrainingJob& job_;
  const TrainOptions& options_;
  const std::optional<Checkpoint>& weights_;
  PreparedData& data_;
  ComputeContext context_;
  std::filesystem::path folder_;
  hyp::Fitness fitness_;
  EpochLog log_;
};

}  // namespace

std::string last_weights(const workers::TrainingJob& job) {
  return (std::filesystem::path(job.dir) / hyp::weights_folder / hyp::last_weights).string();
}

bool out_of_patience(const std::vector<double>& fitness, int patience) {
  const auto last = std::max_element(fitness.rbegin(), fitness.rend());
  return patience > 0 && last - fitness.rbegin() >= patience;
}

workers::TrainingReport full_training(const workers::TrainingJob& job, const TrainOptions& options,
                                      const std::optional<Checkpoint>& weights, PreparedData& data,
                                      const ComputeContext& context, const OnReport& on_report) {
  return FullTraining(job, options, weights, data, context).run(on_report);
}

}  // namespace evolve::trainer
