#include "cli/options/option_json.hpp"

#include "core/error.hpp"

namespace evolve::cli {
namespace {

/// What --model says: weights or a model table.
nlohmann::ordered_json model_of(const nlohmann::ordered_json& options) {
  const auto& cfg = options.value("cfg", nlohmann::ordered_json(""));
  return cfg == "" ? options.value("weights", nlohmann::ordered_json("")) : cfg;
}

}  // namespace

nlohmann::ordered_json options_to_resume(const nlohmann::ordered_json& run,
                                         const nlohmann::ordered_json& now, const Given& given,
                                         std::set<std::string> changeable) {
  changeable.insert(trainer::changeable_options.begin(), trainer::changeable_options.end());
  auto merged = run;
  for (const auto& [key, option] : given) {
    if (!now.contains(key) || now[key] == run.value(key, nlohmann::ordered_json())) continue;
    const bool is_model = option == "--model";
    if (is_model && now[key] == "") continue;  // it was the other of the two
    if (!changeable.contains(key)) {
      const auto before = is_model ? model_of(run) : run.value(key, nlohmann::ordered_json());
      const auto differs = now[key].is_boolean()
                               ? option + ": the run to resume began otherwise"
                               : option + " " + now[key].dump() + ": the run to resume has " +
                                     (before.is_null() || before == "" ? "none" : before.dump());
      throw bad_argument(differs, "leave the option out, or start a new run");
    }
    merged[key] = now[key];
  }
  return merged;
}

}  // namespace evolve::cli
