// The options of a command as JSON (opt.yaml, the journal's first line), and back.
//
// Each command has one list of those that are kept: a function `list(options, visit)` that calls
// `visit(name, member)` for each. Those of the trainer, `options.train`, are kept beside them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "cli/options/command_line.hpp"
#include "core/json.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

/// An absent value is null.
template <class T>
nlohmann::ordered_json json_of(const T& value) {
  return value;
}
template <class T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return core::json_or_null(value);
}

template <class T>
void assign(const nlohmann::ordered_json& json, T& value) {
  json.get_to(value);
}
template <class T>
void assign(const nlohmann::ordered_json& json, std::optional<T>& value) {
  value = core::value_or_nothing<T>(json);
}

template <class Options, class List>
nlohmann::ordered_json options_to_json(const Options& options, List list) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  list(options, [&](const char* name, const auto& value) { json[name] = json_of(value); });
  json.update(trainer::to_json(options.train));
  return json;
}

/// Options that `json` does not have stay as they are, but for the trainer's, which get their
/// defaults. Throws nlohmann's exceptions for values of another type.
template <class Options, class List>
void options_from_json(const nlohmann::ordered_json& json, Options& options, List list) {
  list(options, [&](const char* name, auto& value) {
    if (const auto it = json.find(name); it != json.end()) assign(*it, value);
  });
  options.train = trainer::train_options_from_json(json);
}

/// The options to go on with: those of the run (`run`), with what the command line (`now`, as far
/// as it is `given`) changes. Throws `Error` when it gives another value to an option that is
/// neither `changeable` nor one of `trainer::changeable_options`.
nlohmann::ordered_json options_to_resume(const nlohmann::ordered_json& run,
                                         const nlohmann::ordered_json& now, const Given& given,
                                         std::set<std::string> changeable);

}  // namespace evolve::cli
