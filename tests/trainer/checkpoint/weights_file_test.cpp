#include "trainer/checkpoint/weights_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/trainer/checkpoint/pickle_text.hpp"

namespace evolve::trainer {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const ZipRecord weights{.name = "a/data.pkl",
                        .bytes = pickled(dict({{text("w"), tensor("0", 1)}}))};

std::string refused(const std::string& bytes) {
  return test::refusal<std::runtime_error>([&] { open_weights(bytes); });
}

std::string refused_about(const std::string& json) {
  return refused(zip({weights, {.name = "a/evolve/about.json", .bytes = json}}));
}

TEST(WeightsFile, HasWeightsATrainingAndADescription) {
  const std::string bytes = zip({weights,
                                 {.name = "a/evolve/about.json", .bytes = R"({"nc":3})"},
                                 {.name = "a/evolve/training.pkl", .bytes = weights.bytes}});
  const WeightsFile file = open_weights(bytes);
  EXPECT_THAT(file.weights.model.tensors, SizeIs(1));
  EXPECT_THAT(file.training.model.tensors, SizeIs(1));
  EXPECT_EQ(file.about.dump(), R"({"nc":3})");
}

TEST(WeightsFile, TellsWhatItsPickleSaysWhereThereIsNoDescription) {
  const auto checkpoint = dict({{text("epoch"), number(4)}, {text("model"), module({}, {}, {})}});
  const std::string bytes = zip({{.name = "a/data.pkl", .bytes = pickled(checkpoint)}});
  EXPECT_EQ(open_weights(bytes).about.dump(), R"({"epoch":4})");
}

TEST(WeightsFile, OfTorchBefore16IsRefused) {
  EXPECT_THAT(refused("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."),
              HasSubstr("torch before 1.6"));
}

TEST(WeightsFile, OfABigEndianMachineIsRefused) {
  EXPECT_EQ(refused(zip({weights, {.name = "a/byteorder", .bytes = "little"}})), "accepted");
  EXPECT_THAT(refused(zip({weights, {.name = "a/byteorder", .bytes = "big"}})),
              HasSubstr("big-endian"));
}

TEST(WeightsFile, WithoutAPickleIsRefused) {
  EXPECT_THAT(refused(zip({{.name = "a/code.py", .bytes = ""}})), HasSubstr("no record data.pkl"));
}

TEST(WeightsFile, WithAHugePickleIsRefused) {
  const std::string nones(std::size_t{5} << 20, 'N');
  EXPECT_THAT(refused(zip({{.name = "a/data.pkl", .bytes = "\x80\x02" + nones}})),
              HasSubstr("data.pkl has 5242882 bytes, more than weights need"));
}

TEST(WeightsFile, WithABrokenDescriptionIsRefused) {
  EXPECT_THAT(refused_about("{"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refused_about("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refused_about("{\"names\":[\"\xff\"]}"), HasSubstr("not a JSON object"));
}

TEST(WeightsFile, WithAnEndlessDescriptionIsRefused) {
  EXPECT_THAT(refused_about("{\"a\":" + std::string(1000000, '[')), HasSubstr("nested too deeply"));
  std::string keys = "{\"0\":0";
  for (int i = 1; i <= 4000; ++i) keys += ",\"" + std::to_string(i) + "\":0";
  EXPECT_THAT(refused_about(keys + "}"), HasSubstr("too many keys"));
}

TEST(WeightsFile, IsNoFolder) {
  const TemporaryFolder folder;
  const auto refused = folder.path().string() + ": this is a folder; name a .pt file";
  EXPECT_EQ(test::refusal([&] { read_summary(folder.path()); }), refused);
  std::filesystem::create_directory(folder / "weights");
  std::ofstream(folder / "weights/best.pt") << zip({weights});
  EXPECT_EQ(test::refusal([&] { read_summary(folder.path()); }),
            refused + ", such as its weights/best.pt");
}

TEST(WeightsFile, IsNamedByItsErrorsInOneLine) {
  const TemporaryFolder folder;
  const auto path = folder / "weights.pt";
  std::ofstream(path) << zip({{.name = "a/b\nc\x1b[31m", .bytes = "", .method = 8}});
  EXPECT_EQ(test::refusal([&] { read_summary(path); }),
            path.string() +
                ": record a/b c [31m is compressed or encrypted; give a .pt file "
                "of YOLOv5, or a state dict");
}

TEST(WeightsFile, IsNamedByItsErrorsInUtf8AlsoWhereTheyAreCut) {
  const TemporaryFolder folder;
  const auto path = folder / "weights.pt";
  std::string name = "a/";
  for (int i = 0; i < 200; ++i) name += "\xc3\xa9";
  std::ofstream(path) << zip({{.name = name + "x", .bytes = "", .method = 8}});
  const auto said = test::refusal([&] { read_summary(path); });
  EXPECT_THAT(said, HasSubstr("\xc3\xa9\xef\xbf\xbd; give a .pt"));
}

}  // namespace
}  // namespace evolve::trainer
