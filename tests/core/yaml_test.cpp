#include "core/yaml.hpp"

#include <gtest/gtest.h>

#include "tests/refusal.hpp"

namespace evolve::core {
namespace {

std::string refused(const std::string& text) {
  return test::refusal([&] { parse_yaml(text, "f.yaml"); });
}

TEST(Yaml, KnowsItsLines) {
  const Yaml root = parse_yaml("# comment\na: 1\n\nb:\n  c: [x,\n   'y']\n", "f.yaml");
  ASSERT_EQ(root.keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(root.items[0].line, 2);
  EXPECT_EQ(root.items[1].line, 4);
  const Yaml& list = root.items[1].items[0];
  EXPECT_EQ(list.line, 5);
  EXPECT_EQ(list.items[1].line, 6);
  EXPECT_EQ(list.items[1].text, "y");
  EXPECT_FALSE(list.items[1].plain);
}

TEST(Yaml, RefusesAKeyThatAppearsTwice) {
  EXPECT_EQ(refused("a: 1\nb: 2\na: 3\n"),
            "f.yaml:3: a appears twice, first in line 1; keep one of them");
}

TEST(Yaml, SaysTheLineWhereItIsBroken) {
  EXPECT_EQ(refused("a: 1\nb: [1, 2\nc: 3\n"),
            "f.yaml:3: broken YAML (end of sequence flow not found); check the indentation, the "
            "colons and the brackets");
  EXPECT_EQ(refused("a: 1\n\tb: 2\n").substr(0, 23), "f.yaml:2: broken YAML (");
}

TEST(Yaml, RefusesWhatAHypFileNeverNeeds) {
  EXPECT_EQ(refused("a: &x 1\nb: *x\n"), "f.yaml:2: an alias (*name); write the value out");
  EXPECT_EQ(refused("a: 1\n---\nb: 2\n"), "f.yaml:3: a second document starts here; keep one");
  EXPECT_EQ(refused("[a, b]: 2\n"), "f.yaml:1: a key is a list or a map; write name: value");
  EXPECT_EQ(refused("~: 2\n"), "f.yaml:1: a key is empty; name it");
  EXPECT_EQ(refused("a: " + std::string(9, '[') + std::string(9, ']')),
            "f.yaml:1: nested deeper than 8; write it flat");
}

TEST(Yaml, RefusesHostileNestingWithoutFollowingIt) {
  for (const char open : {'[', '{'}) EXPECT_NE(refused(std::string(1 << 20, open)), "accepted");
}

TEST(Yaml, RefusesAnEmptyDocument) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "~\n"}) {
    EXPECT_EQ(refused(text), "f.yaml: this is empty; write name: value lines") << text;
  }
}

TEST(Yaml, ToleratesAByteOrderMarkAndWindowsLineEnds) {
  const Yaml root = parse_yaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 2\r\n",
      "f.yaml");
  EXPECT_EQ(root.keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(yaml_number(root.items[1]), 2);
}

TEST(Yaml, ReadsNumbersAndTruthFromPlainScalarsOnly) {
  const Yaml root = parse_yaml("[1e-05, '1', .5, yes, 'yes', False, nan, 0x1]", "f.yaml");
  EXPECT_EQ(yaml_number(root.items[0]), 1e-5);
  EXPECT_EQ(yaml_number(root.items[1]), std::nullopt);
  EXPECT_EQ(yaml_number(root.items[2]), 0.5);
  EXPECT_EQ(yaml_bool(root.items[3]), true);
  EXPECT_EQ(yaml_bool(root.items[4]), std::nullopt);
  EXPECT_EQ(yaml_bool(root.items[5]), false);
  EXPECT_EQ(yaml_number(root.items[7]), std::nullopt);
}

TEST(Yaml, QuotesATextOnlyWhereItHasTo) {
  EXPECT_EQ(yaml_text("AdamW"), "AdamW");
  EXPECT_EQ(yaml_text("yolov5s.yaml"), "yolov5s.yaml");
  for (const char* text : {"", "yes", "No", "y", "N", "null", "nan", "1e5", "a b", "a: b", "#a",
                           "-", "~", "a\"b\\c", "é", "a\nb"}) {
    const std::string quoted = yaml_text(text);
    EXPECT_EQ(quoted[0], '"') << text;
    const Yaml back = parse_yaml("k: " + quoted, "f.yaml").items[0];
    EXPECT_EQ(back.text, text);
    EXPECT_FALSE(back.plain);
  }
}

}  // namespace
}  // namespace evolve::core
