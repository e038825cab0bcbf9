#include "workers/protocol/text.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace evolve::workers {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view text) {
  return split_command(text, "--trainer-command");
}

std::string complaint(std::string_view text) {
  try {
    split(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
  return "none";
}

TEST(SplitCommand, SplitsAtBlanks) {
  EXPECT_EQ(split("python3 eval.py  --x\t1\n"), (Words{"python3", "eval.py", "--x", "1"}));
}

TEST(SplitCommand, KeepsWhatIsQuoted) {
  EXPECT_EQ(split(R"(sh -c 'echo "$1" \n')"), (Words{"sh", "-c", R"(echo "$1" \n)"}));
  EXPECT_EQ(split(R"(a "it's" 'say "hi"')"), (Words{"a", "it's", R"(say "hi")"}));
  EXPECT_EQ(split(R"(a"b c"'d e'f)"), (Words{"ab cd ef"}));
  EXPECT_EQ(split(R"(a '' "")"), (Words{"a", "", ""}));
}

TEST(SplitCommand, KnowsBackslashes) {
  EXPECT_EQ(split(R"(my\ file \'\"\\)"), (Words{"my file", R"('"\)"}));
  EXPECT_EQ(split(R"("\"\\\$\n")"), (Words{R"("\$\n)"}));
  EXPECT_EQ(split("a\\\nb"), (Words{"ab"}));
}

TEST(SplitCommand, ExpandsNothing) {
  EXPECT_EQ(split("$HOME *.py a;b {hyp} ~"), (Words{"$HOME", "*.py", "a;b", "{hyp}", "~"}));
}

TEST(SplitCommand, RefusesWhatIsNotClosedOrEmpty) {
  EXPECT_EQ(complaint("sh -c 'echo"),
            R"(--trainer-command: a ' is not closed; write a second ', or \')");
  EXPECT_EQ(complaint("sh \"a'"),
            R"(--trainer-command: a " is not closed; write a second ", or \")");
  EXPECT_EQ(complaint("sh \\"),
            R"(--trainer-command: nothing follows the last \; write \\ for a backslash)");
  EXPECT_EQ(complaint("  "), "--trainer-command: it is empty; write a program and its arguments");
}

TEST(Printable, RepairsTextAndCutsIt) {
  EXPECT_EQ(printable("loss 0.5 µ"), "loss 0.5 µ");
  EXPECT_EQ(printable("a\x1b[0m\tb\nc\x7f"), "a [0m b c ");
  EXPECT_EQ(printable("a\xff\xfe z"), "a\uFFFD\uFFFD z");
  EXPECT_EQ(printable("0123456789", 4), "0123…");
  EXPECT_EQ(printable("0123", 4), "0123");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a b");
}

TEST(LastLine, SkipsBlankLines) {
  EXPECT_EQ(last_line("one\ntwo\n \n\n"), "two");
  EXPECT_EQ(last_line("10%\r 20%\r\n"), "20%");
  EXPECT_EQ(last_line("only"), "only");
  EXPECT_EQ(last_line(" \n\n"), "");
  EXPECT_EQ(last_line(""), "");
}

TEST(QuotedNans, AreThoseThatStandForNumbers) {
  EXPECT_EQ(with_quoted_nans(R"({"a":NaN,"b":[-Infinity, Infinity],"c":1})"),
            R"({"a":"NaN","b":["-Infinity", "Infinity"],"c":1})");
  EXPECT_EQ(with_quoted_nans(R"({"NaN":"a \"NaN\" \\","b":NaN})"),
            R"({"NaN":"a \"NaN\" \\","b":"NaN"})");
  EXPECT_EQ(with_quoted_nans("\"\\"), "\"\\");
}

TEST(LastWords, TellAFullMemoryAndALostDevice) {
  using hyp::FailureKind;
  const auto kind = [](std::string_view words) { return kind_in(words, FailureKind::crash); };
  EXPECT_EQ(kind("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"),
            FailureKind::oom);
  EXPECT_EQ(kind("XPU out of memory. Tried to allocate"), FailureKind::oom);
  EXPECT_EQ(kind("DefaultCPUAllocator: can't allocate memory"), FailureKind::oom);
  EXPECT_EQ(kind("level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)"),
            FailureKind::oom);
  EXPECT_EQ(kind("error: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)\nmore"), FailureKind::oom);
  EXPECT_EQ(kind("error: 20 (UR_RESULT_ERROR_DEVICE_LOST)"), FailureKind::device_lost);
  EXPECT_EQ(kind("ZE_RESULT_ERROR_DEVICE_LOST after ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"),
            FailureKind::oom);
  EXPECT_EQ(kind("CUDA error: device-side assert triggered"), FailureKind::crash);
  EXPECT_EQ(kind_in("", FailureKind::other), FailureKind::other);
}

}  // namespace
}  // namespace evolve::workers
