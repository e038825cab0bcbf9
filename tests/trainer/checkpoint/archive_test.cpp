#include "trainer/checkpoint/archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/refusal.hpp"
#include "tests/trainer/checkpoint/pickle_text.hpp"

namespace evolve::trainer {
namespace {

using test::zip;
using test::ZipRecord;
using ::testing::HasSubstr;

/// Why a record of an archive cannot be read.
std::string refused(const std::string& bytes, const std::string& name = "data.pkl") {
  return test::refusal<std::runtime_error>([&] { Archive(bytes).record(name); });
}

TEST(Archive, FindsRecordsWithoutTheirFolder) {
  const std::string bytes = zip({{.name = "best/data.pkl", .bytes = "abc"},
                                 {.name = "best/data/0", .bytes = ""},
                                 {.name = "version", .bytes = "3\n"}});
  const Archive archive(bytes);
  EXPECT_EQ(archive.record("data.pkl"), "abc");
  EXPECT_EQ(archive.record("data/0"), "");
  EXPECT_EQ(archive.record("version"), "3\n");
  EXPECT_FALSE(archive.has("data/1"));
}

TEST(Archive, IgnoresAComment) {
  std::string bytes = zip({{.name = "a/data.pkl", .bytes = "abc"}});
  bytes.replace(bytes.size() - 2, 2, test::little_endian(7, 2) + "PK\5\6 no");
  EXPECT_EQ(Archive(bytes).record("data.pkl"), "abc");
}

/// As torch writes the end of every archive.
TEST(Archive, BelievesTheZip64EndWhereThereIsOne) {
  std::string bytes = zip({{.name = "a/data.pkl", .bytes = "abc"}});
  std::string end = bytes.substr(bytes.size() - 22);
  bytes.resize(bytes.size() - 22);
  const auto long_number = [](const std::string& number) { return number + std::string(4, '\0'); };
  const std::string zip64_end = "PK\6\6" + test::little_endian(44, 8) + std::string(12, '\0') +
                                test::little_endian(1, 8) + test::little_endian(1, 8) +
                                long_number(end.substr(12, 4)) + long_number(end.substr(16, 4));
  const std::string locator =
      "PK\6\7" + std::string(4, '\0') + test::little_endian(bytes.size(), 8) + std::string(4, '\1');
  end.replace(8, 12, std::string(12, '\xff'));
  bytes += zip64_end + locator + end;
  EXPECT_EQ(Archive(bytes).record("data.pkl"), "abc");
}

TEST(Archive, RefusesWhatIsNoArchive) {
  EXPECT_THAT(refused(""), HasSubstr("not a zip archive"));
  EXPECT_THAT(refused("hello"), HasSubstr("not a zip archive"));
  EXPECT_THAT(refused(std::string(100000, 'P')), HasSubstr("not a zip archive"));
}

TEST(Archive, RefusesAnArchiveWhereverItIsCut) {
  const std::string whole =
      zip({{.name = "a/data.pkl", .bytes = "abc"}, {.name = "a/data/0", .bytes = "0123"}});
  ASSERT_EQ(refused(whole), "accepted");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refused(whole.substr(0, length)), "accepted") << length;
    EXPECT_NE(refused(whole.substr(whole.size() - length)), "accepted") << length;
  }
}

TEST(Archive, NoticesDamageInARecord) {
  std::string bytes = zip({{.name = "a/data.pkl", .bytes = "abc"}});
  bytes[bytes.find("abc")] = 'x';
  EXPECT_THAT(refused(bytes), HasSubstr("record data.pkl is damaged"));
}

TEST(Archive, RefusesCompressedAndEncryptedRecords) {
  EXPECT_THAT(refused(zip({{.name = "a/b", .bytes = "abc", .method = 8}})),
              HasSubstr("record a/b is compressed"));
  EXPECT_THAT(refused(zip({{.name = "a/b", .bytes = "abc", .flags = 1}})),
              HasSubstr("record a/b is compressed or encrypted"));
}

TEST(Archive, RefusesSizesAndPlacesThatLie) {
  EXPECT_THAT(refused(zip({{.name = "a/b", .bytes = "abc", .claimed_size = 0x7fffffff}})),
              HasSubstr("ends early"));
  EXPECT_THAT(refused(zip({{.name = "a/b", .bytes = "abc", .claimed_place = 0x7fffffff}})),
              HasSubstr("ends early"));
  EXPECT_THAT(refused(zip({{.name = "a/b", .bytes = "abc", .claimed_place = 1}})),
              HasSubstr("not where the directory says"));
}

TEST(Archive, RefusesRecordsThatShareBytes) {
  const ZipRecord first{.name = "a/0", .bytes = std::string(1000, 'x')};
  std::vector<ZipRecord> records{first};
  for (int i = 1; i < 5; ++i) {
    records.push_back(
        {.name = "a/" + std::to_string(i), .bytes = "", .claimed_size = 1000, .claimed_place = 0});
  }
  EXPECT_THAT(refused(zip(records)), HasSubstr("overlap"));
}

TEST(Archive, RefusesTwoRecordsOfOneName) {
  EXPECT_THAT(refused(zip({{.name = "a/b", .bytes = "1"}, {.name = "c/b", .bytes = "2"}})),
              HasSubstr("two records b"));
}

/// Every byte of a small archive in turn, replaced by every value.
TEST(Archive, GivesTheTrueBytesOrNoneUnderDamage) {
  const std::string whole = zip({{.name = "a/data.pkl", .bytes = "abc"}});
  int refused = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = whole;
      damaged[place] = static_cast<char>(value);
      try {
        EXPECT_EQ(Archive(damaged).record("data.pkl"), "abc") << place << " " << value;
      } catch (const std::runtime_error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace evolve::trainer
