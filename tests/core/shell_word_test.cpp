#include "core/shell_word.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace evolve::core {
namespace {

TEST(ShellWord, IsLeftAloneWhereItIsHarmless) {
  EXPECT_EQ(shell_word("runs/evolve/exp-2_a.csv"), "runs/evolve/exp-2_a.csv");
  EXPECT_EQ(shell_word("A=b"), "A=b");
}

TEST(ShellWord, IsReadBackByAShellAsItWas) {
  for (const std::string text : {"my runs", "it's", "$HOME;rm", "a\"b", "*", "", "x\\y"}) {
    const auto command = "printf %s " + shell_word(text);
    std::string read;
    auto* pipe = ::popen(command.c_str(), "r");
    for (int c; (c = std::fgetc(pipe)) != EOF;) read += static_cast<char>(c);
    ::pclose(pipe);
    EXPECT_EQ(read, text);
  }
}

}  // namespace
}  // namespace evolve::core
