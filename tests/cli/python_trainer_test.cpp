#include "cli/python_trainer.hpp"

#include <gtest/gtest.h>

namespace evolve::cli {
namespace {

/// What follows the data of the command that uses this set in Ultralytics: a space of fixed genes,
/// and the options of its trainings.
std::string usage(const hyp::Hyperparameters& hyp, trainer::TrainOptions options = {}) {
  options.data = "my.yaml";
  if (options.cfg.empty()) options.weights = "yolo11n.pt";
  options.optimizer = "AdamW";
  hyp::Space space;
  for (const auto& [name, value] : hyp) space.genes.push_back({.name = name, .evolve = false});
  const auto line = ultralytics_usage(options, space, hyp, "hyp.yaml");
  const std::string begin = "Use it in Ultralytics: yolo cfg=hyp.yaml mode=train model=";
  EXPECT_EQ(line.substr(0, begin.size()), begin);
  return line.substr(begin.size());
}

TEST(PythonTrainer, SaysWithWhichOptionsUltralyticsTrainsAsTheTrialsDid) {
  EXPECT_EQ(usage({{"box", 6.0}}), "yolo11n.pt data=my.yaml optimizer=AdamW");
  EXPECT_EQ(usage({{"box", 6.0}}, {.cfg = "yolo11n.yaml"}),
            "yolo11n.yaml data=my.yaml optimizer=AdamW");
  EXPECT_EQ(usage({{"box", 6.0}}, {.cfg = "yolo11n.yaml", .weights = "my weights.pt"}),
            "yolo11n.yaml data=my.yaml pretrained='my weights.pt' optimizer=AdamW");
  EXPECT_EQ(usage({{"box", 6.0}}, {.batch_size = 8,
                                   .imgsz = 64,
                                   .cos_lr = true,
                                   .single_cls = true,
                                   .rect = true,
                                   .freeze = {10},
                                   .fraction = 0.25,
                                   .amp = false}),
            "yolo11n.pt data=my.yaml optimizer=AdamW imgsz=64 batch=8 single_cls=True cos_lr=True "
            "rect=True amp=False freeze=10 fraction=0.25");
  EXPECT_EQ(usage({}, {.freeze = {0, 1, 2}}),
            "yolo11n.pt data=my.yaml optimizer=AdamW freeze='[0,1,2]'");
}

TEST(PythonTrainer, SaysWhatTheSetHasItselfInsteadOfTheOption) {
  EXPECT_EQ(usage({{"optimizer", "SGD"}, {"cos_lr", 0.0}, {"fraction", 0.5}},
                  {.cos_lr = true, .fraction = 0.25}),
            "yolo11n.pt data=my.yaml optimizer=SGD cos_lr=False");
}

TEST(PythonTrainer, SaysAgainWhatUltralyticsDoesNotTakeAsAFloat) {
  EXPECT_EQ(
      usage({{"cos_lr", 1.0}, {"freeze", 3.0}, {"nbs", 32.0}, {"rect", "true"}, {"box", 6.0}}),
      "yolo11n.pt data=my.yaml optimizer=AdamW cos_lr=True freeze=3 nbs=32 rect=true");
}

}  // namespace
}  // namespace evolve::cli
