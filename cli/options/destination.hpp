// Where a command leaves its files.
#pragma once

#include <optional>
#include <string>

#include "cli/options/command_line.hpp"
#include "results/run_directory.hpp"

namespace CLI {
class App;
}

namespace evolve::cli {

struct Destination {
  std::string project;
  std::string name = "exp";
  bool exist_ok = false;
  /// Exactly this folder, instead of the others.
  std::string output = {};
};

/// --project --name --exist-ok --output. `replaced`: what becomes of results that are in the folder
/// already.
void declare(CLI::App& app, Destination& destination, const char* group,
             const std::string& replaced);

/// The folder that is named as it is and may be there already; nothing where the next free one is
/// taken.
std::optional<results::RunDirectory> given_folder(const Destination& destination);

/// Makes the folder. Throws `Error` when that cannot be done.
results::RunDirectory create(const Destination& destination);

/// Throws `Error` when a run that goes on is given another folder. `resumed`: what --resume names;
/// "" is the newest of a --project.
void check_stays(const Given& given, const std::string& resumed);

/// Throws `Error` when no file of this name can be made: it is a folder, or its folder is missing
/// or cannot be written to. "": none is to be made. `option` names another file.
void check_output(const std::string& file, const std::string& option = "-o");

}  // namespace evolve::cli
