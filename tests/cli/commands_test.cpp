#include "cli/commands.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "core/shell_word.hpp"

namespace evolve::cli {
namespace {

TEST(Commands, AreNotTakenForTheNameOfARun) {
  CLI::App app;
  const auto commands = subcommands(app);
  EXPECT_EQ(app.get_subcommands({}).size(), commands.size());
  for (const auto& command : commands)
    EXPECT_EQ(core::shell_folder(command.app->get_name()), "./" + command.app->get_name());
}

}  // namespace
}  // namespace evolve::cli
