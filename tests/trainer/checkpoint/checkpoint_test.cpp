#include "trainer/checkpoint/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/trainer/formula.hpp"
#include "tests/trainer/golden.hpp"
#include "tests/trainer/state_dict.hpp"
#include "trainer/checkpoint/tensor_pickle.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;
using test::expect_equal;
using ::testing::HasSubstr;

std::string refused(const std::string& path) {
  const auto line = test::refusal([&] { read_checkpoint(path); });
  EXPECT_EQ(line.find('\n'), std::string::npos);
  return line;
}

TEST(ParityCheckpoint, ReadsTheTensorsThatTorchSaved) {
  GOLDENS_OR_SKIP(cases, "");
  int compared = 0;
  for (const auto& golden : cases) {
    const auto file = test::golden_folder() / golden.name / "tensors.pt";
    if (!fs::exists(file)) continue;
    SCOPED_TRACE(golden.name);
    const StateDict state = read_checkpoint(file).state;
    EXPECT_EQ(state.size(), golden.tensors.size());
    for (const auto& [name, tensor] : state) {
      EXPECT_TRUE(torch::equal(tensor, golden[name])) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(ParityCheckpoint, ReadsStateDictsInHalfPrecision) {
  if (!fs::is_directory(test::checkpoints_folder())) GTEST_SKIP() << "no checkpoints";
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(test::checkpoints_folder())) {
    if (!entry.path().string().ends_with(".state_dict.pt")) continue;
    SCOPED_TRACE(entry.path());
    Detector detector = test::make("yolov5p.yaml");
    const auto state = read_checkpoint(entry.path()).state;
    const Transfer done = transfer(state, detector, false, entry.path());
    EXPECT_EQ(done.transferred, done.total);
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

/// Tensors of every type that torch.save knows, empty and without dimensions among them.
StateDict tensors_of_all_types() {
  StateDict state{{"empty", torch::empty({0, 3})}, {"number", torch::tensor(1.5)}};
  for (const auto type :
       {torch::kHalf, torch::kBFloat16, torch::kFloat, torch::kDouble, torch::kChar, torch::kByte,
        torch::kShort, torch::kInt, torch::kLong, torch::kBool}) {
    state.emplace_back(toString(type), torch::arange(6).view({2, 3}).to(type));
  }
  return state;
}

TEST(Checkpoint, ReadsBackWhatItWrote) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "model.pt";
  const Checkpoint written{
      .state = state_dict(test::make("yolov5p.yaml")),
      .about = {{"epoch", 7}, {"best_fitness", 0.1}, {"names", {"a", "naïve"}}, {"none", nullptr}},
      .training = tensors_of_all_types()};
  write_checkpoint(path, written);
  const Checkpoint read = read_checkpoint(path);
  EXPECT_EQ(read.state.size(), 349u);
  expect_equal(read.state, written.state);
  EXPECT_EQ(read.about.dump(), written.about.dump());
  expect_equal(read.training, written.training);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1)
      << "a temporary file was left";
}

TEST(Checkpoint, TakesThePlaceOfWhatAKilledProcessHasLeft) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "model.pt";
  std::ofstream(path + ".tmp") << std::string(1 << 20, 'x');
  write_checkpoint(path, {.state = tensors_of_all_types()});
  expect_equal(read_checkpoint(path).state, tensors_of_all_types());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(Checkpoint, OnAFullDiskSaysSoAndLeavesTheOldFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "model.pt";
  write_checkpoint(path, {.state = tensors_of_all_types()});
  fs::create_symlink("/dev/full", path + ".tmp");
  EXPECT_EQ(test::run_failure([&] {
              write_checkpoint(path, {.state = {{"a", torch::ones(1000)}}});
            }),
            path +
                ": the weights cannot be written (No space left on device); check "
                "the folder and the space left");
  expect_equal(read_checkpoint(path).state, tensors_of_all_types());
}

TEST(Checkpoint, ReadsBackBareWeights) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "bare.pt";
  write_checkpoint(path, {.state = tensors_of_all_types()});
  const Checkpoint read = read_checkpoint(path);
  expect_equal(read.state, tensors_of_all_types());
  EXPECT_TRUE(read.about.is_null());
  EXPECT_TRUE(read.training.empty());
}

TEST(Checkpoint, ReadsTheEmbeddedWeights) {
  const Checkpoint read = read_checkpoint("shapes-base");
  EXPECT_EQ(read.state.size(), 349u);
  EXPECT_EQ(read.state.front().first, "model.0.conv.weight");
}

TEST(Checkpoint, WritesContiguousTensorsOfAnyLayout) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "layout.pt";
  const auto tensor = torch::arange(24.F).view({2, 3, 2, 2});
  write_checkpoint(path, {.state = {{"a", tensor.contiguous(at::MemoryFormat::ChannelsLast)}}});
  EXPECT_TRUE(torch::equal(read_checkpoint(path).state.at(0).second, tensor));
}

TEST(Checkpoint, TransfersWhatFitsByNameAndShape) {
  Detector coco = test::make("yolov5p.yaml", 80, 1);
  Detector blood = test::make("yolov5p.yaml", 3, 2);
  const Transfer done = transfer(state_dict(coco), blood, false, "x.pt");
  EXPECT_EQ(done.total, 349);
  EXPECT_EQ(done.transferred, 343);  // all but Detect's three weights and biases
}

TEST(Checkpoint, KeepsTheModelsOwnAnchorsWhereAsked) {
  Detector other = test::make("yolov5p.yaml");
  other.set_anchors(torch::full({3, 3, 2}, 64.F));
  Detector detector = test::make("yolov5p.yaml");
  EXPECT_EQ(transfer(state_dict(other), detector, true, "x.pt").transferred, 348);
  EXPECT_FLOAT_EQ(detector.anchors()[0][0][0].item<float>(), 10.F / 8);
  transfer(state_dict(other), detector, false, "x.pt");
  EXPECT_FLOAT_EQ(detector.anchors()[0][0][0].item<float>(), 8);
}

TEST(Checkpoint, RefusesWeightsOfAnotherModel) {
  Detector detector = test::make("yolov5p.yaml");
  EXPECT_THAT(test::refusal([&] {
                transfer({{"fc.weight", torch::ones(3)}}, detector, false, "other.pt");
              }),
              HasSubstr("other.pt: none of its 1 tensors fits the model"));
}

TEST(Checkpoint, RefusesWhatIsNoArchive) {
  EXPECT_THAT(refused("/nowhere/x.pt"), HasSubstr("/nowhere/x.pt: there is no such file"));
  EXPECT_EQ(refused("/dev/null"),
            "/dev/null: this is no regular file, which each worker could read; copy it to one");
  const test::TemporaryFolder folder;
  const std::string path = folder / "text.pt";
  std::ofstream(path) << "hello";
  EXPECT_THAT(refused(path), HasSubstr("text.pt: this is not a zip archive"));
  std::ofstream(path, std::ios::trunc);
  EXPECT_THAT(refused(path), HasSubstr("text.pt: this is not a zip archive"));
}

TEST(Checkpoint, RefusesATruncatedFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "whole.pt";
  write_checkpoint(path, {.state = {{"a", torch::ones(1000)}}});
  fs::resize_file(path, fs::file_size(path) - 100);
  EXPECT_THAT(refused(path), HasSubstr("whole.pt: this is not a zip archive, or it ends early"));
}

/// A model's state dict as a pickle, with every byte in turn replaced by a few others.
TEST(Checkpoint, SurvivesDamageAnywhereInThePickle) {
  const StateDict state{{"a", torch::arange(6.F).view({2, 3})},
                        {"b", torch::ones({}, torch::kLong)}};
  const std::string whole = pickle_of(state);
  const std::string bytes(24, 'x');
  const auto storage = [&](const std::string& key) {
    return std::string_view(bytes).substr(0, key == "0" ? 24 : 8);
  };
  int failed = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (const char byte : {'\0', '\xff', '(', 't', 'R', 'Q', '0', 'h', '.', '\x8a'}) {
      std::string damaged = whole;
      damaged[place] = byte;
      try {
        const auto document = pickle::read(damaged);
        TensorUnpickler unpickler(storage);
        const auto* items = pickle::entries(document.root);
        for (std::size_t i = 0; items && i < items->size(); ++i) {
          const auto tensor = unpickler.tensor((*items)[i].second);
          EXPECT_TRUE(!tensor.defined() || tensor.numel() <= 6);
        }
      } catch (const std::runtime_error&) {
        ++failed;
      }
    }
  }
  EXPECT_GT(failed, 0);
}

TEST(Checkpoint, RefusesATensorLargerThanItsStorage) {
  const std::string whole = pickle_of({{"a", torch::arange(6.F)}});
  const std::string bytes(20, 'x');
  TensorUnpickler unpickler([&](const std::string&) { return std::string_view(bytes); });
  const auto document = pickle::read(whole);
  EXPECT_THROW(unpickler.tensor(pickle::find(document.root, "a")), std::runtime_error);
}

}  // namespace
}  // namespace evolve::trainer
