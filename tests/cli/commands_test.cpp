#include "cli/commands.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "core/shell_word.hpp"

namespace evolve::cli {
namespace {

TEST(Commands, AreNotTakenForTheNameOfARun) {
  CLI::App app;
  const Command commands[] = {train_command(app),   val_command(app),    plot_command(app),
                              explain_command(app), report_command(app), export_command(app),
                              devices_command(app), dataset_command(app)};
  const auto all = app.get_subcommands({});
  EXPECT_EQ(all.size(), std::size(commands));
  for (const auto* command : all)
    EXPECT_EQ(core::shell_folder(command->get_name()), "./" + command->get_name());
}

}  // namespace
}  // namespace evolve::cli
