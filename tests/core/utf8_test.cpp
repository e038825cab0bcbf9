#include "core/utf8.hpp"

#include <gtest/gtest.h>

namespace evolve::core {
namespace {

TEST(Utf8, IsLeftAlone) {
  for (const std::string text : {"", "cat", "Kätzchen 猫", "a \"b\" \\\n"})
    EXPECT_EQ(valid_utf8(text), text);
}

TEST(Utf8, HasAMarkWhereBytesAreAnything) {
  EXPECT_EQ(valid_utf8("caf\xe9"), "caf\ufffd");
  EXPECT_EQ(valid_utf8("\xe9t\xe9"), "\ufffdt\ufffd");
}

TEST(Utf8, IsOneLineWithoutControlCharacters) {
  EXPECT_EQ(one_line("a\nb\x1b[2Jc\x7f"), "a b [2Jc ");
  EXPECT_EQ(one_line("a\u009b2J\u0085b"), "a 2J b");
  EXPECT_EQ(one_line("Kätzchen 猫 \u00a0"), "Kätzchen 猫 \u00a0");
  EXPECT_EQ(one_line("cut\xc2"), "cut\xc2");
}

TEST(Utf8, IsOneLineWithoutWhatTurnsItsDirectionOrEndsALineOrAParagraph) {
  EXPECT_EQ(one_line("a\u202Eb\u2066c\u2028d\u2029e\u2030\u2065"), "a b c d e\u2030\u2065");
}

TEST(Utf8, IsShortenedByWholeCharacters) {
  EXPECT_EQ(characters("größe"), 5U);
  EXPECT_EQ(without_end("größe", 5), "größe");
  EXPECT_EQ(without_end("größe", 4), "grö…");
  EXPECT_EQ(without_beginning("größe", 5), "größe");
  EXPECT_EQ(without_beginning("größe", 3), "…ße");
}

TEST(Utf8, OfAFileMayBeginWithAByteOrderMark) {
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBF"
                                    "a"),
            "a");
  EXPECT_EQ(without_byte_order_mark("a"), "a");
}

TEST(Excerpt, RepairsTextAndCutsIt) {
  EXPECT_EQ(excerpt("loss 0.5 µ"), "loss 0.5 µ");
  EXPECT_EQ(excerpt("a\x1b[0m\tb\nc\x7f"), "a [0m b c ");
  EXPECT_EQ(excerpt("a\xff\xfe z"), "a\uFFFD\uFFFD z");
  EXPECT_EQ(excerpt("0123456789", 4), "0123…");
  EXPECT_EQ(excerpt("0123", 4), "0123");
  EXPECT_EQ(excerpt("012é5", 4), "012…");
  EXPECT_EQ(excerpt(std::string_view("a\0b", 3)), "a b");
}

}  // namespace
}  // namespace evolve::core
