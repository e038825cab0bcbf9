#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "core/error.hpp"
#include "trainer/data/embedded/shapes.hpp"

namespace evolve::cli {
namespace {

int write_dataset(const std::string& name, const std::string& directory) {
  if (name != "shapes") {
    throw bad_argument("dataset " + name + ": there is no such embedded data set", "write shapes");
  }
  data::write_embedded(name, directory);
  fmt::print("{}\n", (std::filesystem::path(directory) / "shapes.yaml").string());
  return 0;
}

}  // namespace

Command dataset_command(CLI::App& app) {
  struct Arguments {
    std::string name, folder;
  };
  const auto given = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("dataset", "Write an embedded data set in YOLO format");
  command->add_option("NAME", given->name, "shapes")->required();
  command->add_option("DIR", given->folder, "Folder to write")->required();
  return {command, [given] { return printed(write_dataset(given->name, given->folder)); }};
}

}  // namespace evolve::cli
