#include "trainer/checkpoint/pickle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/refusal.hpp"

namespace evolve::pickle {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

std::string refused(const std::string& bytes) {
  return test::refusal<std::runtime_error>([&] { read(bytes); });
}

TEST(Pickle, ReadsADictOfAtoms) {
  // pickletools: {'a': 1, 'b': -2, 'c': 300, 'd': 1.5, 'e': None, 'f': True}
  const auto document = read(
      "\x80\x02}(X\1\0\0\0aK\1X\1\0\0\0bJ\xfe\xff\xff\xffX\1\0\0\0cM\x2c\x01"
      "X\1\0\0\0dG\x3f\xf8\0\0\0\0\0\0X\1\0\0\0eNX\1\0\0\0f\x88u."s);
  ASSERT_EQ(entries(document.root)->size(), 6u);
  EXPECT_EQ(*find(document.root, "a")->as<std::int64_t>(), 1);
  EXPECT_EQ(*find(document.root, "b")->as<std::int64_t>(), -2);
  EXPECT_EQ(*find(document.root, "c")->as<std::int64_t>(), 300);
  EXPECT_EQ(*find(document.root, "d")->as<double>(), 1.5);
  EXPECT_NE(find(document.root, "e")->as<None>(), nullptr);
  EXPECT_TRUE(*find(document.root, "f")->as<bool>());
  EXPECT_EQ(find(document.root, "g"), nullptr);
}

TEST(Pickle, ReadsWholeNumbersOfAnyWidth) {
  EXPECT_EQ(*read("\x80\x02\x8a\x00."s).root->as<std::int64_t>(), 0);
  EXPECT_EQ(*read("\x80\x02\x8a\x01\xff."s).root->as<std::int64_t>(), -1);
  EXPECT_EQ(*read("\x80\x02\x8a\x05\0\0\0\0\1."s).root->as<std::int64_t>(), 1LL << 32);
  EXPECT_THAT(refused("\x80\x02\x8a\x09\1\1\1\1\1\1\1\1\1."s), HasSubstr("64 bits"));
}

TEST(Pickle, KeepsAnUnknownClassAsARecord) {
  // A call of os.system("rm"): read, never made.
  const auto document = read(
      "\x80\x02"
      "cos\nsystem\nX\2\0\0\0rm\x85R."s);
  const auto* object = document.root->as<Object>();
  ASSERT_NE(object, nullptr);
  EXPECT_TRUE(is_global(object->callee, "os", "system"));
  EXPECT_EQ(*object->arguments->as<Tuple>()->items.at(0)->as<std::string>(), "rm");
}

TEST(Pickle, KeepsStateItemsAndElementsOfAnObject) {
  const auto document = read(
      "\x80\x02"
      "cm\nC\n)\x81}X\1\0\0\0kK\5sbK\1aX\1\0\0\0iK\2s."s);
  const auto* object = document.root->as<Object>();
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(*find(object->state, "k")->as<std::int64_t>(), 5);
  EXPECT_EQ(object->list.items.size(), 1u);
  EXPECT_EQ(*find(document.root, "i")->as<std::int64_t>(), 2);
}

TEST(Pickle, RecallsWhatItKept) {
  const auto document = read("\x80\x02(X\1\0\0\0aq\7h\7t."s);
  const auto& items = document.root->as<Tuple>()->items;
  EXPECT_EQ(items.at(0), items.at(1));
}

TEST(Pickle, ReadsProtocol4) {
  const auto document = read("\x80\x04\x95\x0a\0\0\0\0\0\0\0\x8c\1m\x94\x8c\1C\x94\x93\x94."s);
  EXPECT_TRUE(is_global(document.root, "m", "C"));
}

TEST(Pickle, RefusesWhatIsNoPickle) {
  EXPECT_THAT(refused(""), HasSubstr("ends early"));
  EXPECT_THAT(refused("\x80\x02}"s), HasSubstr("ends early"));
  EXPECT_THAT(refused("\x80\x09."s), HasSubstr("protocol 9"));
  EXPECT_THAT(refused("\x80\x02Z."s), HasSubstr("opcode 90 at byte 2"));
  EXPECT_THAT(refused("\x80\x02X\xff\xff\xff\xff."s), HasSubstr("ends early"));
  EXPECT_THAT(refused("\x80\x02."s), HasSubstr("empty stack"));
  EXPECT_THAT(refused("\x80\x02(0."s), HasSubstr("empty stack"));
  EXPECT_THAT(refused("\x80\x02t."s), HasSubstr("mark"));
  EXPECT_THAT(refused("\x80\x02h\1."s), HasSubstr("never kept"));
  EXPECT_THAT(refused("\x80\x02K\1K\2K\3s."s), HasSubstr("not a dict"));
  EXPECT_THAT(refused("\x80\x02K\1K\2R."s), HasSubstr("not a class"));
  const auto long_text = "X\xe9\3\0\0"s + std::string(1001, 'a');
  EXPECT_THAT(refused("\x80\x04"s + long_text + "\x8c\1C\x93."), HasSubstr("too long a name"));
}

TEST(Pickle, EndsEarlyWhereverItIsCut) {
  const std::string whole =
      "\x80\x02}(X\1\0\0\0aK\1X\1\0\0\0bcos\nsystem\n)RX\1\0\0\0c(K\1t\x85u."s;
  ASSERT_EQ(refused(whole), "accepted");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refused(whole.substr(0, length)), "accepted") << length;
  }
}

}  // namespace
}  // namespace evolve::pickle
