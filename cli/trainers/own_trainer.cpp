#include "cli/trainers/own_trainer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "cli/options/command_line.hpp"
#include "core/spawn.hpp"

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

/// The short options of an interpreter, such as python3.11 or /bin/sh, after which no script of its
/// own follows, but code, a module, or another file; nothing for a program that is none. Another
/// one may make what it names, or look for it elsewhere.
std::optional<std::string_view> options_of_interpreter(const fs::path& program) {
  constexpr std::string_view of_shells = "c", of_python = "cm", of_others = "eEpr";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> interpreters = {
      {{"python", of_python},
       {"sh", of_shells},
       {"bash", of_shells},
       {"dash", of_shells},
       {"perl", of_others},
       {"ruby", of_others},
       {"julia", of_others},
       {"Rscript", of_others},
       {"node", of_others}}};
  auto name = program.filename().string();
  name.erase(std::min(name.size(), name.find_last_not_of("0123456789.") + 1));
  for (const auto& [interpreter, options] : interpreters)
    if (name == interpreter) return options;
  return {};
}

/// A shell looks there for a script, too, which need not be executable.
bool is_in_path(const std::string& script) try {
  return script.find('/') == std::string::npos && !core::program_file(script).empty();
} catch (const std::system_error& error) {
  return error.code() == std::errc::permission_denied;
}

/// The script of an interpreter, where there is none of that name.
std::optional<std::string> missing_script(const std::vector<std::string>& words) {
  const auto others = options_of_interpreter(words.front());
  if (!others) return {};
  const auto is_option = [](const auto& word) { return word.starts_with('-'); };
  const auto first = std::find_if_not(words.begin() + 1, words.end(), is_option);
  const auto is_other = [&](const std::string& option) {
    return !option.starts_with("--") && option.find_first_of(*others) != std::string::npos;
  };
  if (first == words.end() || std::any_of(words.begin() + 1, first, is_other)) return {};
  std::error_code unreadable;
  const bool may_be_there =
      fs::exists(*first, unreadable) || is_in_path(*first) || first->find('{') != std::string::npos;
  if (!is_script_name(*first) || may_be_there) return {};
  return *first;
}

}  // namespace

std::vector<std::string> own_words(const Trainer& trainer) {
  using Words = std::vector<std::string>;
  return match(
      trainer, [](const BuiltIn&) { return Words(); }, [](const PythonTrainer*) { return Words(); },
      [](const auto& command) { return command.words; });
}

std::optional<std::size_t> place_of_program(const std::vector<std::string>& words,
                                            const nlohmann::ordered_json& began_with) {
  const auto script = std::ranges::find_if(
      words, [](const auto& word) { return is_script_name(word) && is_file(word); });
  if (script != words.end()) return static_cast<std::size_t>(script - words.begin());
  const auto before = began_with.find("program");
  const bool is_known = before != began_with.end() && before->is_array() && !before->empty() &&
                        before->front().is_number_unsigned();
  if (is_known)
    if (const auto place = before->front().get<std::size_t>();
        place < words.size() && is_script_name(words[place]))
      return place;
  const bool by_path = words.front().find('/') != std::string::npos;
  return by_path && is_file(words.front()) ? std::optional<std::size_t>(0) : std::nullopt;
}

void check_script_found(const Trainer& trainer, bool begins) {
  const auto missing = missing_script(own_words(trainer));
  if (!missing) return;
  const std::string option =
      std::holds_alternative<TrialCommand>(trainer) ? "--trainer-exec" : "--trainer-command";
  throw bad_argument(*missing + ": No such file or directory",
                     begins ? "name a script that exists"
                            : "restore it, or say with " + option + " where it is now");
}

}  // namespace evolve::cli
