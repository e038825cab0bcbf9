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

/// The first word that ends as the file `before` did, where there is none of that name. A command
/// of another program may be of any form.
std::optional<std::string> missing_one_like(const std::string& before,
                                            const std::vector<std::string>& words) {
  const auto ending = fs::path(before).extension();
  if (ending.empty()) return {};
  const auto named = std::ranges::find_if(
      words, [&](const auto& word) { return fs::path(word).extension() == ending; });
  // What a shell is told may name several.
  const bool is_told = named != words.end() && named != words.begin() && *(named - 1) == "-c";
  if (named == words.end() || is_told || is_file(*named)) return {};
  return *named;
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
  else if (words.front() == began_with.front())
    missing = missing_one_like(before, words);
  if (!missing) return;
  const std::string option =
      std::holds_alternative<TrialCommand>(trainer) ? "--trainer-exec" : "--trainer-command";
  throw bad_argument(*missing + ": No such file or directory",
                     "restore it, or say with " + option + " where it is now");
}

}  // namespace evolve::cli
