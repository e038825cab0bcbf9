#include "cli/commands.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "core/shell_word.hpp"

namespace evolve::cli {
namespace {

TEST(Commands, AreNotTakenForTheNameOfARun) {
  CLI::App app;
  for (const auto& command : subcommands(app))
    EXPECT_EQ(core::shell_folder(command.app->get_name()), "./" + command.app->get_name());
}

}  // namespace
}  // namespace evolve::cli
