#include "workers/protocol/jobs.hpp"

#include <stdexcept>
#include <type_traits>

#include "workers/protocol/text.hpp"

namespace evolve::workers {
namespace {

using Json = nlohmann::ordered_json;

// One list of keys per message, for reading and for writing.
template <class V>
void fields(V visit, std::conditional_t<V::reads, TrainRun, const TrainRun>& m) {
  visit("hyp", m.hyp), visit("seed", m.seed), visit("dir", m.dir), visit("resume", m.resume);
  visit("options", m.options);
}
template <class V>
void fields(V visit, std::conditional_t<V::reads, Validate, const Validate>& m) {
  visit("split", m.split), visit("dir", m.dir), visit("rect", m.rect), visit("options", m.options);
}
template <class V>
void fields(V visit, std::conditional_t<V::reads, Losses, const Losses>& m) {
  visit("box", m.box), visit("obj", m.obj), visit("cls", m.cls);
}
template <class V>
void fields(V visit, std::conditional_t<V::reads, BatchReport, const BatchReport>& m) {
  visit("epoch", m.epoch), visit("batch", m.batch), visit("batches", m.batches);
  visit("losses", m.losses), visit("labels", m.labels), visit("imgsz", m.imgsz);
  visit("memory_bytes", m.memory_bytes);
}
template <class V>
void fields(V visit, std::conditional_t<V::reads, EpochReport, const EpochReport>& m) {
  visit("training", m.training), visit("metrics", m.metrics);
  visit("learning_rates", m.learning_rates), visit("seconds", m.seconds);
  visit("best", m.best), visit("past", m.past);
}
template <class V>
void fields(V visit, std::conditional_t<V::reads, ClassReport, const ClassReport>& m) {
  visit("name", m.name), visit("labels", m.labels), visit("precision", m.precision);
  visit("recall", m.recall), visit("mAP_0.5", m.map50), visit("mAP_0.5:0.95", m.map50_95);
}
template <class V>
void fields(V visit, std::conditional_t<V::reads, ValidationReport, const ValidationReport>& m) {
  visit("metrics", m.metrics), visit("images", m.images), visit("labels", m.labels);
  visit("classes", m.classes), visit("inference_ms", m.inference_ms), visit("nms_ms", m.nms_ms);
}
template <class V>
void fields(V visit, std::conditional_t<V::reads, RunReport, const RunReport>& m) {
  visit("epochs", m.epochs), visit("best_epoch", m.best_epoch);
  visit("stopped_early", m.stopped_early), visit("validation", m.validation);
}

template <class T>
constexpr bool is_message = std::is_same_v<T, Losses> || std::is_same_v<T, BatchReport> ||
                            std::is_same_v<T, ClassReport> || std::is_same_v<T, ValidationReport>;

struct Writing {
  static constexpr bool reads = false;
  Json& json;

  template <class T>
  static Json json_of(const T& value) {
    if constexpr (is_message<T>) {
      Json object = Json::object();
      fields(Writing{object}, value);
      return object;
    } else if constexpr (std::is_same_v<T, hyp::Metrics> ||
                         std::is_same_v<T, hyp::Hyperparameters>) {
      return to_json(value);
    } else {
      return value;
    }
  }
  static Json json_of(const std::vector<ClassReport>& classes) {
    Json list = Json::array();
    for (const auto& one : classes) list.push_back(json_of(one));
    return list;
  }
  template <class T>
  void operator()(const char* key, const T& value) const {
    json[key] = json_of(value);
  }
};

struct Reading {
  static constexpr bool reads = true;
  const Json& json;

  template <class T>
  static void read(const Json& from, T& value) {
    if constexpr (is_message<T>) {
      fields(Reading{from}, value);
    } else if constexpr (std::is_same_v<T, hyp::Metrics>) {
      value = hyp::metrics_from_json(from);
    } else if constexpr (std::is_same_v<T, hyp::Hyperparameters>) {
      value = hyp::hyperparameters_from_json(from);
    } else {
      from.get_to(value);
    }
  }
  static void read(const Json& from, std::vector<ClassReport>& classes) {
    for (const auto& one : from) read(one, classes.emplace_back());
  }
  template <class T>
  void operator()(const char* key, T& value) const {
    read(json.at(key), value);
  }
};

template <class T>
std::string line(const char* type, const T& message) {
  Json json = {{"type", type}};
  fields(Writing{json}, message);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class T>
T read(const Json& json) {
  T message;
  try {
    fields(Reading{json}, message);
  } catch (const Json::exception& error) {
    throw std::invalid_argument(std::string("its message makes no sense: ") + error.what());
  }
  return message;
}

std::string line_of_one(const TrainRun& m) {
  return line("train_run", m);
}
std::string line_of_one(const Validate& m) {
  return line("validate", m);
}
std::string line_of_one(const Ready& m) {
  return line_of(FromWorker(m));
}
std::string line_of_one(const Failure& m) {
  return line_of(FromWorker(m));
}
std::string line_of_one(const Alive& m) {
  return line_of(FromWorker(m));
}
std::string line_of_one(const BatchReport& m) {
  return line("batch", m);
}
std::string line_of_one(const EpochReport& m) {
  return line("epoch_report", m);
}
std::string line_of_one(const RunReport& m) {
  return line("run", m);
}
std::string line_of_one(const ValidationReport& m) {
  return line("validation", m);
}

/// The JSON object in a line, and its "type"; null and "" for a blank line.
std::pair<Json, std::string> object_in(std::string_view line) {
  if (line.find_first_not_of(" \t\r\n") == line.npos) return {nullptr, ""};
  auto json = Json::parse(line, nullptr, false);
  if (!json.is_object())
    throw std::invalid_argument("it wrote a line that is no JSON object: " + printable(line));
  auto type = json.value("type", Json());
  return {std::move(json), type.is_string() ? type.get<std::string>() : ""};
}

}  // namespace

std::string line_of(const Job& job) {
  return std::visit([](const auto& m) { return line_of_one(m); }, job);
}

std::string line_of(const JobReport& report) {
  return std::visit([](const auto& m) { return line_of_one(m); }, report);
}

std::optional<Job> parse_job(std::string_view line) {
  const auto [json, type] = object_in(line);
  if (type == "train_run") return read<TrainRun>(json);
  if (type == "validate") return read<Validate>(json);
  return {};
}

std::optional<JobReport> parse_report(std::string_view line) {
  const auto [json, type] = object_in(line);
  if (type == "batch") return read<BatchReport>(json);
  if (type == "epoch_report") return read<EpochReport>(json);
  if (type == "run") return read<RunReport>(json);
  if (type == "validation") return read<ValidationReport>(json);
  if (type != "ready" && type != "error" && type != "alive") return {};
  const auto message = parse_from_worker(line);
  if (const auto* alive = std::get_if<Alive>(&*message)) return *alive;
  if (const auto* ready = std::get_if<Ready>(&*message)) return *ready;
  return std::get<Failure>(*message);
}

}  // namespace evolve::workers
