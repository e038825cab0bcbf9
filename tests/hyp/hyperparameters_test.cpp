#include "hyp/hyperparameters.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/refusal.hpp"

namespace evolve::hyp {
namespace {

TEST(Hyperparameters, KeepTheirOrder) {
  Hyperparameters hyp{{"lr0", 0.01}, {"anchors", 3.0}};
  hyp.set("box", 0.05);
  hyp.set("lr0", 0.02);
  EXPECT_EQ(hyp, (Hyperparameters{{"lr0", 0.02}, {"anchors", 3.0}, {"box", 0.05}}));
}

TEST(Hyperparameters, AreWrittenToJsonWithWholeNumbersAsIntegers) {
  const Hyperparameters hyp{{"lr0", 1e-5},
                            {"weight_decay", 0.0005},
                            {"anchors", 3.0},
                            {"optimizer", "Adam"},
                            {"zero", -0.0}};
  EXPECT_EQ(to_json(hyp).dump(),
            R"({"lr0":1e-05,"weight_decay":0.0005,"anchors":3,"optimizer":"Adam","zero":-0.0})");
}

TEST(Hyperparameters, ComeBackFromJsonExactly) {
  const Hyperparameters hyp{{"b", 0.1 + 0.2},
                            {"a", 9007199254740992.0},
                            {"c", 1e300},
                            {"optimizer", "Adam"},
                            {"whole", -7.0}};
  EXPECT_EQ(hyperparameters_from_json(nlohmann::ordered_json::parse(to_json(hyp).dump())), hyp);
}

TEST(Hyperparameters, HaveTruthValuesInJson) {
  const Hyperparameters hyp{{"cos_lr", "true"}, {"rect", "false"}, {"optimizer", "True"}};
  EXPECT_EQ(to_json(hyp).dump(), R"({"cos_lr":true,"rect":false,"optimizer":"True"})");
  EXPECT_EQ(hyperparameters_from_json(to_json(hyp)), hyp);
}

TEST(Hyperparameters, AreNotReadFromOtherJson) {
  for (const char* text : {R"({"lr0":null})", R"({"lr0":[1]})", "[]", "3"}) {
    EXPECT_THROW(hyperparameters_from_json(nlohmann::ordered_json::parse(text)), std::exception)
        << text;
  }
}

TEST(Hyperparameters, SayWhichNumberIsMissing) {
  const Hyperparameters hyp{{"lr0", 0.01}, {"optimizer", "Adam"}};
  EXPECT_EQ(hyp.number("lr0"), 0.01);
  EXPECT_EQ(test::refusal([&] { hyp.number("box"); }),
            "hyperparameter box is missing; add it to the hyp file");
  EXPECT_EQ(test::refusal([&] { hyp.number("optimizer"); }),
            "hyperparameter optimizer is 'Adam'; it must be a number");
}

}  // namespace
}  // namespace evolve::hyp
