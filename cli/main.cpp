// The program `evolve`: reads the command line, runs one command, turns errors into exit codes.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/commands.hpp"
#include "cli/options/command_line.hpp"
#include "cli/options/help.hpp"
#include "cli/screen/screen.hpp"
#include "core/child.hpp"
#include "core/error.hpp"
#include "core/utf8.hpp"
#include "workers/exec/exec_worker.hpp"

namespace evolve::cli {
namespace {

/// An option that stands before a command is read as one of plain evolve: the command would not get
/// it.
void refuse_lost_options(const CLI::App& app) {
  if (app.get_subcommands().empty()) return;
  const auto& command = app.get_subcommands().front()->get_name();
  const auto given = given_on(app);
  if (given.empty()) return;
  const auto& option = given.begin()->second;
  throw bad_argument(option + " stands before the command " + command,
                     "write evolve " + command + " " + option + " …");
}

/// Options and paths go into JSON, which has no other encoding.
void refuse_other_encodings(std::span<char*> arguments) {
  for (const char* argument : arguments)
    if (core::valid_utf8(argument) != argument)
      throw bad_argument(core::excerpt(argument) + ": this is not UTF-8", "rename what it names");
}

/// The option of this name of the command that the words name, where it takes a value.
const CLI::Option* with_value(const CLI::App& app, std::span<char*> words,
                              const std::string& name) {
  const CLI::App* command = &app;
  for (const auto* one : app.get_subcommands({}))
    if (!words.empty() && one->get_name() == words.front()) command = one;
  const auto* option = command->get_option_no_throw(name);
  return option && option->get_items_expected_max() > 0 ? option : nullptr;
}

/// As CLI11 wants them, the last one first. A script makes "--devices=" and --resume "" of an empty
/// variable: CLI11 would take what follows the first for the value, and the second for a --resume
/// without one.
std::vector<std::string> words_of(std::span<char*> arguments, const CLI::App& app) {
  std::vector<std::string> words;
  bool are_options = true;
  for (std::string word : arguments) {
    if (word == "--") are_options = false;
    if (!are_options) {
      words.push_back(word);
      continue;
    }
    const bool ends_empty = word.starts_with("--") && word.find('=') == word.size() - 1;
    const auto name = ends_empty                       ? word.substr(0, word.size() - 1)
                      : word.empty() && !words.empty() ? words.back()
                                                       : "";
    const auto* option = with_value(app, arguments, name);
    if (option && option->get_items_expected_min() == 0) throw empty_value(name);
    if (option && ends_empty) {
      words.push_back(name);
      word.clear();
    }
    words.push_back(word);
  }
  std::ranges::reverse(words);
  return words;
}

/// Paths that are relative to it go there as absolute ones.
void refuse_a_folder_of_another_encoding() {
  std::error_code gone;
  const auto folder = std::filesystem::current_path(gone).string();
  if (core::valid_utf8(folder) != folder)
    throw bad_argument("the current folder " + core::excerpt(folder) + " is not UTF-8",
                       "rename it, or work in another one");
}

int run(int argc, char** argv) {
  // Started by evolve itself for --trainer-exec: no option of it is ours.
  if (argc > 2 && std::string_view(argv[1]) == workers::exec_worker_command)
    return workers::exec_worker({argv + 2, argv + argc});
  refuse_other_encodings({argv + 1, argv + argc});
  CLI::App app{"Evolves the hyperparameters of object detectors over a pool of devices.", "evolve"};
  app.set_version_flag("--version", "evolve " EVOLVE_VERSION);
  app.require_subcommand(0, 1);
  app.formatter(help_format());
  // Of an option that stands twice the last one counts, as in YOLOv5.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);

  const auto evolve = evolve_command(app);
  const auto commands = subcommands(app);
  app.footer(
      "Examples:\n"
      "  evolve --data my.yaml --weights yolov5n.pt --epochs 10 --trials 100\n"
      "  evolve --resume\n"
      "  evolve train --data my.yaml --weights yolov5n.pt --hyp hyp_evolved.yaml");
  try {
    app.parse(words_of({argv + 1, argv + argc}, app));
  } catch (const CLI::Success& success) {
    return printed(app.exit(success));
  } catch (const CLI::ExtrasError&) {
    const auto named = app.get_subcommands();
    check_values(named.empty() ? app : *named.front());
    throw unknown_arguments(app, argv[1]);
  } catch (const CLI::ConversionError& error) {
    throw bad_conversion(app, error.what());
  } catch (const CLI::ParseError& error) {
    throw bad_argument(error.what(), see_help(app));
  }
  refuse_lost_options(app);
  refuse_a_folder_of_another_encoding();
  const auto chosen =
      std::ranges::find_if(commands, [](const auto& one) { return bool(*one.app); });
  const auto& command = chosen == commands.end() ? evolve : *chosen;
  check_values(*command.app);
  return command.run();
}

/// Whether it can be written does not matter: the exit code says the same. So its reader may have
/// gone, and one that takes nothing is not waited for for long.
void say(const std::string& what) {
  std::signal(SIGPIPE, SIG_IGN);
  pollfd reader{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&reader, 1, static_cast<int>(longest_hurried_wait.count())) == 0) return;
  std::fputs(("evolve: " + what + "\n").c_str(), stderr);
}

/// A file of a run must not get the number of a standard stream that is closed.
void open_standard_streams() {
  int descriptor = 0;
  do descriptor = ::open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  ::close(descriptor);
}

}  // namespace
}  // namespace evolve::cli

int main(int argc, char** argv) {
  evolve::cli::open_standard_streams();
  // Who started evolve may have blocked signals; then it could not be stopped.
  evolve::core::unblock_signals();
  // Before a run has begun nothing has to be saved.
  for (const int number : {SIGINT, SIGTERM}) {
    const auto leave = [](int signal) { std::_Exit(128 + signal); };
    if (std::signal(number, leave) == SIG_IGN) std::signal(number, SIG_IGN);
  }
  // Who started evolve may have ignored it; then no child's end could be told.
  std::signal(SIGCHLD, SIG_DFL);
  // A file at its size limit is an error of write(), like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return evolve::cli::run(argc, argv);
  } catch (const evolve::Error& error) {
    evolve::cli::say(error.what());
    return error.exit_code();
  } catch (const std::filesystem::filesystem_error& error) {
    // What is asked of the current folder names no path.
    const auto path = error.path1().empty() ? "the current folder" : error.path1().string();
    evolve::cli::say(path + ": " + error.code().message() + "; check the path and its permissions");
    return 2;
  } catch (const std::exception& error) {
    evolve::cli::say(error.what());
    return 1;
  }
}
