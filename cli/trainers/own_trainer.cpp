#include "cli/trainers/own_trainer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "cli/options/command_line.hpp"

namespace evolve::cli {

namespace fs = std::filesystem;

namespace {

bool is_file(const std::string& path) {
  std::error_code unreadable;
  return fs::is_regular_file(path, unreadable);
}

bool is_script_name(const fs::path& file) {
  constexpr std::array<std::string_view, 8> endings = {".py", ".sh", ".bash", ".pl",
                                                       ".rb", ".jl", ".R",    ".js"};
  return std::ranges::find(endings, file.extension().string()) != endings.end();
}

/// The first word that is named as a script, where there is no such file.
std::optional<std::string> missing_script(const std::vector<std::string>& words) {
  const auto named = std::ranges::find_if(words, is_script_name);
  // What a shell is told may name several.
  const bool is_told = named != words.end() && named != words.begin() && *(named - 1) == "-c";
  if (named == words.end() || is_told || is_file(*named)) return {};
  return *named;
}

/// python3.11, /bin/sh: a program whose first argument is its script. Another one may make what it
/// names.
bool is_interpreter(const fs::path& program) {
  constexpr std::array<std::string_view, 9> names = {"python", "sh",    "bash",    "dash", "perl",
                                                     "ruby",   "julia", "Rscript", "node"};
  auto name = program.filename().string();
  name.erase(std::min(name.size(), name.find_last_not_of("0123456789.") + 1));
  return std::ranges::find(names, name) != names.end();
}

Error not_found(const std::string& script, const std::string& remedy) {
  return bad_argument(script + ": No such file or directory", remedy);
}

}  // namespace

std::vector<std::string> own_words(const Trainer& trainer) {
  using Words = std::vector<std::string>;
  return match(
      trainer, [](const BuiltIn&) { return Words(); }, [](const PythonTrainer*) { return Words(); },
      [](const auto& command) { return command.words; });
}

std::optional<std::size_t> place_of_program(const std::vector<std::string>& words) {
  const auto script = std::ranges::find_if(
      words, [](const auto& word) { return is_script_name(word) && is_file(word); });
  if (script != words.end()) return static_cast<std::size_t>(script - words.begin());
  const bool by_path = words.front().find('/') != std::string::npos;
  return by_path && is_file(words.front()) ? std::optional<std::size_t>(0) : std::nullopt;
}

void check_script_found(const Trainer& trainer) {
  const auto words = own_words(trainer);
  if (!is_interpreter(words.front())) return;
  const auto is_option = [](const auto& word) { return word.starts_with('-'); };
  const auto first = std::find_if_not(words.begin() + 1, words.end(), is_option);
  const auto missing = missing_script(words);
  if (missing && first != words.end() && *missing == *first)
    throw not_found(*missing, "name a script that exists");
}

void check_program_found(const results::RunSettings& run, const Trainer& trainer) {
  const auto program = run.inputs.find("program");
  if (program == run.inputs.end() || !program->is_array() || program->empty()) return;
  if (!program->front().is_number_unsigned()) return;
  const auto began_with = own_words(trainer_of({.command = run.options.value("trainer_command", ""),
                                                .exec = run.options.value("trainer_exec", "")}));
  const auto place = program->front().get<std::size_t>();
  if (place >= began_with.size()) return;
  const auto& before = began_with[place];
  const auto words = own_words(trainer);
  std::optional<std::string> missing;
  if (words == began_with)
    missing = is_file(before) ? std::nullopt : std::optional(before);
  else if (words.front() == began_with.front() && is_script_name(before))
    missing = missing_script(words);
  if (!missing) return;
  const std::string option =
      std::holds_alternative<TrialCommand>(trainer) ? "--trainer-exec" : "--trainer-command";
  throw not_found(*missing, "restore it, or say with " + option + " where it is now");
}

}  // namespace evolve::cli
