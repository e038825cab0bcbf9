#include "core/shell_word.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/refusal.hpp"

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

TEST(ShellFolder, IsNeitherAnOptionNorACommandOfEvolve) {
  EXPECT_EQ(shell_folder("-x"), "./-x");
  EXPECT_EQ(shell_folder("report"), "./report");
  EXPECT_EQ(shell_folder("report/exp"), "report/exp");
  EXPECT_EQ(shell_folder("my run"), "'my run'");
}

using Words = std::vector<std::string>;

Words split(std::string_view text) {
  return shell_words(text, "--trainer-command");
}

std::string refused(std::string_view text) {
  return test::refusal([&] { split(text); });
}

TEST(ShellWords, SplitsAtBlanks) {
  EXPECT_EQ(split("python3 eval.py  --x\t1\n"), (Words{"python3", "eval.py", "--x", "1"}));
}

TEST(ShellWords, KeepsWhatIsQuoted) {
  EXPECT_EQ(split(R"(sh -c 'echo "$1" \n')"), (Words{"sh", "-c", R"(echo "$1" \n)"}));
  EXPECT_EQ(split(R"(a "it's" 'say "hi"')"), (Words{"a", "it's", R"(say "hi")"}));
  EXPECT_EQ(split(R"(a"b c"'d e'f)"), (Words{"ab cd ef"}));
  EXPECT_EQ(split(R"(a '' "")"), (Words{"a", "", ""}));
}

TEST(ShellWords, KnowsBackslashes) {
  EXPECT_EQ(split(R"(my\ file \'\"\\)"), (Words{"my file", R"('"\)"}));
  EXPECT_EQ(split(R"("\"\\\$\n")"), (Words{R"("\$\n)"}));
  EXPECT_EQ(split("a\\\nb \"c\\\nd\" 'e\\\nf'"), (Words{"ab", "cd", "e\\\nf"}));
  EXPECT_EQ(split("train.py \\\n  --hyp {hyp} \\\n  --epochs 3"),
            (Words{"train.py", "--hyp", "{hyp}", "--epochs", "3"}));
}

TEST(ShellWords, ExpandsNothing) {
  EXPECT_EQ(split("$HOME *.py a;b {hyp} ~"), (Words{"$HOME", "*.py", "a;b", "{hyp}", "~"}));
}

TEST(ShellWords, RefusesWhatOnlyAShellCanDo) {
  const auto is_a_shells = [](const std::string& character) {
    return "--trainer-command: " + character +
           " needs a shell, and there is none; write bash -c 'a | b', or quote it";
  };
  EXPECT_EQ(refused("cd x && train.py"), is_a_shells("&"));
  EXPECT_EQ(refused("train.py | tee log"), is_a_shells("|"));
  EXPECT_EQ(refused("train.py >log"), is_a_shells(">"));
  EXPECT_EQ(refused("train.py 2>&1"), is_a_shells(">"));
  EXPECT_EQ(refused("train.py ; b"), is_a_shells(";"));
  EXPECT_EQ(split(R"(a '|' "&&" \; x=1&y 3|4)"), (Words{"a", "|", "&&", ";", "x=1&y", "3|4"}));
}

TEST(ShellWords, RefusesWhatIsNotClosedOrEmpty) {
  EXPECT_EQ(refused("sh -c 'echo"),
            R"(--trainer-command: a ' is not closed; write a second ', or \')");
  EXPECT_EQ(refused("sh \"a'"), R"(--trainer-command: a " is not closed; write a second ", or \")");
  EXPECT_EQ(refused("sh \\"),
            R"(--trainer-command: nothing follows the last \; write \\ for a backslash)");
  EXPECT_EQ(refused("  "), "--trainer-command: it is empty; write a program and its arguments");
}

}  // namespace
}  // namespace evolve::core
