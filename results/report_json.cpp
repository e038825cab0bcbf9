// What a report has of a run. Many trials: a column is an array, so that no name is repeated.
#include <algorithm>

#include "core/json.hpp"
#include "results/report.hpp"

namespace evolve::results {
namespace {

using Json = nlohmann::ordered_json;

double seconds(std::chrono::milliseconds duration) {
  return static_cast<double>(duration.count()) / 1000;
}

/// Seconds since the run began; null: not known.
Json moment(core::Time time, core::Time begin) {
  return time == core::Time{} ? Json() : Json(seconds(time - begin));
}

/// {"trial": [], "seconds": []}, to be filled.
Json columns(std::initializer_list<const char*> names) {
  Json table = Json::object();
  for (const auto* name : names) table[name] = Json::array();
  return table;
}

/// A row of a table of columns, in their order.
void add_row(Json& table, std::initializer_list<Json> cells) {
  auto column = table.begin();
  for (const auto& cell : cells) (column++)->push_back(cell);
}

/// How good its set is, as far as it is known. What failed has no such figure, whatever it had at a
/// rung: that is in its curve.
Json fitness_of(const Timeline::Trial& trial) {
  if (trial.state == Timeline::State::failed || trial.curve.empty()) return {};
  return trial.curve.back().second;
}

Json metrics_of(const Timeline::Trial& trial, std::size_t i) {
  if (trial.state == Timeline::State::failed || !trial.metrics) return {};
  return trial.metrics->values()[i];
}

Json curve_of(const Timeline::Trial& trial) {
  Json curve = Json::array();
  for (const auto& [epoch, fitness] : trial.curve) curve.push_back({epoch, fitness});
  return curve;
}

Json trials_of(const RunReport& report) {
  Json table =
      columns({"trial", "generation", "state", "device", "epoch", "seconds", "fitness", "curve"});
  Json metrics = Json::object(), genes = Json::object();
  for (const auto& name : hyp::Metrics::names()) metrics[name] = Json::array();
  const auto evolved = hyp::evolved_genes(report.settings.space);
  for (const auto& gene : evolved) genes[gene.name] = Json::array();
  std::size_t row = 0;
  for (const auto& [number, trial] : report.timeline.trials) {
    add_row(table, {number, trial.generation, name_of(trial.state), trial.device, trial.epoch,
                    trial.seconds, fitness_of(trial), curve_of(trial)});
    for (std::size_t i = 0; i < hyp::Metrics::count; ++i)
      metrics[hyp::Metrics::names()[i]].push_back(metrics_of(trial, i));
    for (std::size_t i = 0; i < evolved.size(); ++i)
      genes[evolved[i].name].push_back(report.genes[row][i]);
    ++row;
  }
  table["metrics"] = std::move(metrics);
  table["genes"] = std::move(genes);
  return table;
}

Json trainings_of(const Timeline& timeline) {
  Json table = columns({"trial", "repeat", "device", "state", "start_epoch", "end_epoch", "begin",
                        "end", "seconds"});
  for (const auto& one : timeline.trainings)
    add_row(table,
            {one.trial, one.repeat, one.device, name_of(one.state), one.start_epoch, one.end_epoch,
             moment(one.begin, timeline.begin), moment(one.end, timeline.begin), one.seconds});
  return table;
}

Json probes_of(const Timeline& timeline) {
  Json list = Json::array();
  for (const auto& [begin, end] : timeline.probes)
    list.push_back(
        {{"begin", moment(begin, timeline.begin)}, {"end", moment(end, timeline.begin)}});
  return list;
}

Json failures_of(const Timeline& timeline) {
  Json list = Json::array();
  for (const auto& [time, outcome] : timeline.failures) {
    const auto& failed = std::get<hyp::Failed>(outcome.result);
    list.push_back({{"trial", outcome.trial},
                    {"repeat", outcome.repeat},
                    {"attempt", outcome.attempt},
                    {"device", outcome.device},
                    {"kind", hyp::name_of(failed.kind)},
                    {"message", failed.message},
                    {"log", failed.log},
                    {"final", failed.final},
                    {"surroundings", failed.of_surroundings},
                    {"epoch", failed.epoch},
                    {"time", moment(time, timeline.begin)}});
  }
  return list;
}

/// By device: when, and what its driver said.
Json devices_of(const Timeline& timeline) {
  std::map<std::string, std::vector<const std::pair<core::Time, DeviceStats>*>> by_device;
  for (const auto& sample : timeline.samples) by_device[sample.second.device].push_back(&sample);
  Json devices = Json::object();
  for (const auto& [device, samples] : by_device) {
    Json table = columns({"time", "state", "memory_total_bytes", "memory_free_bytes",
                          "load_percent", "temperature_celsius", "power_watts"});
    const auto kept = std::min(samples.size(), most_samples);
    for (std::size_t i = 0; i < kept; ++i) {
      const auto& [time, stats] = *samples[(i + 1) * samples.size() / kept - 1];
      add_row(
          table,
          {moment(time, timeline.begin), stats.state, core::json_or_null(stats.memory_total_bytes),
           core::json_or_null(stats.memory_free_bytes), core::json_or_null(stats.load_percent),
           core::json_or_null(stats.temperature_celsius), core::json_or_null(stats.power_watts)});
    }
    devices[device] = std::move(table);
  }
  return devices;
}

Json device_events_of(const Timeline& timeline) {
  Json list = Json::array();
  for (const auto& [time, event] : timeline.device_events) {
    list.push_back(to_json(event));
    list.back()["time"] = moment(time, timeline.begin);
  }
  return list;
}

Json json_of(const std::optional<RunReport::Expectation>& expected) {
  if (!expected) return {};
  return {{"mean", expected->mean}, {"low", expected->low}, {"high", expected->high}};
}

Json json_of(const std::optional<RunReport::Recommended>& recommended) {
  if (!recommended) return {};
  Json rival;
  if (recommended->rival)
    rival = {{"trial", recommended->rival->first}, {"better", recommended->rival->second}};
  return {{"trial", recommended->trial},
          {"trainings", recommended->trainings},
          {"collapsed", recommended->collapsed},
          {"failed", recommended->failed},
          {"rival", rival},
          {"is_start", recommended->is_start},
          {"expected", json_of(recommended->expected)},
          {"median", recommended->median},
          {"noise", recommended->noise},
          {"luck_seen", recommended->luck_seen},
          {"start", json_of(recommended->start)},
          {"better", recommended->better},
          {"enough", recommended->enough}};
}

Json json_of(const std::optional<Explanation>& explanation) {
  if (!explanation) return {};
  Json genes = Json::array();
  for (const auto& gene : explanation->genes)
    genes.push_back({{"name", gene.gene.name},
                     {"alone", gene.alone},
                     {"total", gene.total},
                     {"loss", gene.loss}});
  Json unvaried = Json::array();
  for (const auto& [gene, value] : explanation->unvaried) unvaried.push_back(gene.name);
  return {{"known", explanation->known},
          {"r2", explanation->r2},
          {"verdict", verdict(*explanation)},
          {"genes", genes},
          {"unvaried", unvaried}};
}

Json repeats_of(const RunReport& report) {
  Json list = Json::array();
  for (const auto& repeat : report.repeats)
    list.push_back({{"trial", repeat.trial}, {"first", repeat.first}, {"again", repeat.again}});
  return list;
}

}  // namespace

nlohmann::ordered_json to_json(const RunReport& report) {
  const auto& settings = report.settings;
  const auto& timeline = report.timeline;
  return {{"name", report.name},
          {"seed", settings.seed},
          {"search", settings.search},
          {"fitness", settings.fitness},
          {"epochs", settings.epochs},
          {"slots", timeline.slots.value_or(settings.slots)},
          {"options", settings.options},
          {"space", hyp::to_json(settings.space)},
          {"finished", report.finished},
          {"going_on", report.going_on},
          {"epochs_trained", report.epochs_trained},
          {"began", timeline.begin == core::Time{} ? Json() : Json(core::text_of(timeline.begin))},
          {"duration", seconds(timeline.end - timeline.begin)},
          {"recommended", json_of(report.recommended)},
          {"repeats", repeats_of(report)},
          {"importance", json_of(report.explanation)},
          {"trials", trials_of(report)},
          {"trainings", trainings_of(timeline)},
          {"ended", timeline.ended},
          {"probes", probes_of(timeline)},
          {"failures", failures_of(timeline)},
          {"devices", devices_of(timeline)},
          {"device_events", device_events_of(timeline)}};
}

}  // namespace evolve::results
