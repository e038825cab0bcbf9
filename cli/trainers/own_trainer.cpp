#include "cli/trainers/own_trainer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

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

/// python3.11, /bin/sh: a program whose first argument is its script. Another one may make what it
/// names, or look for it elsewhere.
bool is_interpreter(const fs::path& program) {
  constexpr std::array<std::string_view, 9> names = {"python", "sh",    "bash",    "dash", "perl",
                                                     "ruby",   "julia", "Rscript", "node"};
  auto name = program.filename().string();
  name.erase(std::min(name.size(), name.find_last_not_of("0123456789.") + 1));
  return std::ranges::find(names, name) != names.end();
}

/// -c, -lc, -m, -e: what follows is code, or a module.
bool takes_code(const std::string& option) {
  return !option.starts_with("--") && option.find_first_of("cemE") != std::string::npos;
}

bool is_in_path(const std::string& program) try {
  return program.find('/') == std::string::npos && !core::program_file(program).empty();
} catch (const std::system_error&) {
  return false;
}

/// The script of an interpreter, where there is none of that name.
std::optional<std::string> missing_script(const std::vector<std::string>& words) {
  if (!is_interpreter(words.front())) return {};
  const auto is_option = [](const auto& word) { return word.starts_with('-'); };
  const auto first = std::find_if_not(words.begin() + 1, words.end(), is_option);
  if (first == words.end() || std::any_of(words.begin() + 1, first, takes_code)) return {};
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

std::optional<std::size_t> place_of_program(const std::vector<std::string>& words) {
  const auto script = std::ranges::find_if(
      words, [](const auto& word) { return is_script_name(word) && is_file(word); });
  if (script != words.end()) return static_cast<std::size_t>(script - words.begin());
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
