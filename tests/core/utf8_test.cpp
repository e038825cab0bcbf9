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

TEST(Utf8, OfAFileMayBeginWithAByteOrderMark) {
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBF"
                                    "a"),
            "a");
  EXPECT_EQ(without_byte_order_mark("a"), "a");
}

}  // namespace
}  // namespace evolve::core
