#include "trainer/checkpoint/saved_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tests/refusal.hpp"
#include "tests/trainer/checkpoint/pickle_text.hpp"

namespace evolve::trainer {
namespace {

using namespace test;
using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Opcodes none = "N";

/// The names that find_model() gives the tensors of a value.
std::vector<std::string> names_in(const Opcodes& value) {
  const auto document = pickle::read(pickled(value));
  std::vector<std::string> names;
  for (const auto& [name, tensor] : find_model(document).tensors) names.push_back(name);
  return names;
}

ordered_json about(const Opcodes& value) {
  return find_model(pickle::read(pickled(value))).about;
}

std::string refused(const Opcodes& value) {
  return test::refusal<std::runtime_error>([&] { find_model(pickle::read(pickled(value))); });
}

/// A model of one layer whose only parameter is called `name`.
Opcodes model_of(const std::string& name, const Entries& further = {}) {
  return module({{text(name), tensor("0", 1)}}, {}, {}, further);
}

TEST(SavedModel, NamesTensorsAsStateDictDoes) {
  const Opcodes bn = module({{text("weight"), tensor("0", 1)}, {text("bias"), tensor("1", 1)}},
                            {{text("running_mean"), tensor("2", 1)}}, {});
  const Opcodes conv = module({{text("weight"), tensor("3", 1)}, {text("bias"), none}}, {}, {});
  const Opcodes layer = module({}, {{text("anchors"), tensor("4", 1)}},
                               {{text("conv"), conv}, {text("bn"), bn}, {text("act"), none}});
  const Opcodes model = module({}, {}, {{text("0"), layer}});
  EXPECT_THAT(names_in(module({}, {}, {{text("model"), model}})),
              ElementsAre("model.0.anchors", "model.0.conv.weight", "model.0.bn.weight",
                          "model.0.bn.bias", "model.0.bn.running_mean"));
}

TEST(SavedModel, LeavesOutBuffersThatDoNotPersist) {
  const Entries buffers{{text("a"), tensor("0", 1)}, {text("b"), tensor("1", 1)}};
  for (const Opcodes& set :
       {call("__builtin__", "set", {list({text("a")})}), Opcodes("\x8f(" + text("a") + "\x90")}) {
    EXPECT_THAT(names_in(module({}, buffers, {}, {{text("_non_persistent_buffers_set"), set}})),
                ElementsAre("b"));
  }
}

TEST(SavedModel, PrefersTheMovingAverageOfACheckpoint) {
  const Entry epoch{text("epoch"), number(7)};
  EXPECT_THAT(names_in(dict(
                  {epoch, {text("model"), model_of("raw")}, {text("ema"), model_of("averaged")}})),
              ElementsAre("averaged"));
  EXPECT_THAT(names_in(dict({epoch, {text("model"), model_of("raw")}, {text("ema"), none}})),
              ElementsAre("raw"));
}

TEST(SavedModel, ReadsStateDictsBareAndInADict) {
  const Entries state{{text("b"), tensor("0", 1)}, {text("a"), tensor("1", 1)}};
  for (const Opcodes& weights : {dict(state), ordered_dict(state)}) {
    EXPECT_THAT(names_in(weights), ElementsAre("b", "a"));
    EXPECT_THAT(names_in(dict({{text("model"), weights}})), ElementsAre("b", "a"));
    EXPECT_THAT(names_in(dict({{text("state_dict"), weights}})), ElementsAre("b", "a"));
  }
  EXPECT_TRUE(about(dict(state)).is_null());
}

TEST(SavedModel, TellsTableClassesAndNamesOfAModel) {
  const Opcodes yaml = dict({{text("nc"), number(2)},
                             {text("depth_multiple"), "G\x3f\xe0" + std::string(6, '\0')},
                             {text("head"), list({tuple({number(-1), text("None"), "\x89"})})}});
  const Opcodes model = model_of("w", {{text("yaml"), yaml},
                                       {text("names"), list({text("cell"), text("na\xc3\xafve")})},
                                       {text("nc"), number(2)}});
  const auto expected = ordered_json::parse(
      R"({"yaml":{"nc":2,"depth_multiple":0.5,"head":[[-1,"None",false]]},"nc":2,"names":["cell","naïve"]})");
  EXPECT_EQ(about(model), expected);
}

TEST(SavedModel, TellsTheEpochOfACheckpoint) {
  const Opcodes checkpoint = dict({{text("epoch"), number(20)},
                                   {text("best_fitness"), call("numpy", "ndarray", {})},
                                   {text("model"), model_of("w")},
                                   {text("date"), text("2026-01-01")}});
  EXPECT_EQ(about(checkpoint), ordered_json::parse(R"({"epoch":20,"date":"2026-01-01"})"));
}

TEST(SavedModel, OrdersNamesThatAreADict) {
  const auto names = [](const Entries& entries) {
    return about(model_of("w", {{text("names"), dict(entries)}}))["names"];
  };
  EXPECT_EQ(names({{number(1), text("b")}, {number(0), text("a")}}), ordered_json({"a", "b"}));
  EXPECT_TRUE(names({{number(1), text("b")}, {number(2), text("c")}}).is_null());
}

/// What about() has under "unlike" of a model with a layer "0" whose submodule `name` is this.
ordered_json unlike(const std::string& name, const std::string& type, const Entries& further = {}) {
  Entries state{
      {text("_parameters"), dict({})}, {text("_buffers"), dict({})}, {text("_modules"), dict({})}};
  state.insert(state.end(), further.begin(), further.end());
  const auto layer = module({}, {}, {{text(name), object("torch.nn", type, dict(state))}});
  const auto found = about(module({}, {}, {{text("0"), layer}}));
  return found.is_null() ? ordered_json() : found.value("unlike", ordered_json());
}

TEST(SavedModel, TellsOfAnActivationThatIsNotSiLU) {
  EXPECT_TRUE(unlike("act", "SiLU").is_null());
  EXPECT_EQ(unlike("act", "Hardswish"), "0.act is Hardswish, not SiLU");
  EXPECT_TRUE(unlike("m", "Hardswish").is_null());
}

TEST(SavedModel, TellsOfABatchNormWithAnotherEps) {
  const auto eps = [](double value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    std::reverse(bytes.begin(), bytes.end());
    return Entries{{text("eps"), "G" + bytes}};
  };
  EXPECT_TRUE(unlike("bn", "BatchNorm2d", eps(1e-3)).is_null());
  EXPECT_EQ(unlike("bn", "BatchNorm2d", eps(1e-5)), "the eps of 0.bn is 1e-05, not 0.001");
}

TEST(SavedModel, ReplacesWhatIsNoUtf8) {
  const auto names = about(model_of("w", {{text("names"), list({text("a\xff")})}}))["names"];
  EXPECT_EQ(names, ordered_json({"a\xef\xbf\xbd"}));
}

TEST(SavedModel, RefusesWhatHoldsNoWeights) {
  EXPECT_THAT(refused(number(1)), HasSubstr("no weights"));
  EXPECT_THAT(refused(list({})), HasSubstr("no weights"));
  EXPECT_THAT(refused(dict({{number(1), tensor("0", 1)}})), HasSubstr("name is not a text"));
  EXPECT_THAT(refused(module({}, {}, {{text("0"), number(1)}})), HasSubstr("is not a module"));
  EXPECT_THAT(refused(object("m", "C", dict({{text("_modules"), dict({})}}))),
              HasSubstr("lacks its parameters"));
}

TEST(SavedModel, RefusesAModuleInsideItself) {
  const Opcodes begin = "cm\nC\n)\x81q\7";
  const Opcodes state = dict({{text("_parameters"), dict({})},
                              {text("_buffers"), dict({})},
                              {text("_modules"), dict({{text("again"), recall(7)}})}});
  EXPECT_THAT(refused(begin + state + "b"), HasSubstr("nested too deeply"));
}

TEST(SavedModel, RefusesAListInsideItself) {
  const Opcodes yaml = "]q\7" + recall(7) + "a";
  EXPECT_THAT(refused(model_of("w", {{text("yaml"), yaml}})), HasSubstr("nested too deeply"));
}

/// Thirty levels, each of which holds the one below ten times.
TEST(SavedModel, RefusesAnEndlessTreeInASmallPickle) {
  Opcodes modules = keep(model_of("w"), 0), lists = keep(list({text("laugh")}), 0);
  for (std::uint8_t level = 1; level < 30; ++level) {
    Entries submodules{{text("0"), modules}};
    std::vector<Opcodes> items{lists};
    for (int i = 1; i < 10; ++i) {
      submodules.emplace_back(text(std::to_string(i)), recall(level - 1));
      items.push_back(recall(level - 1));
    }
    modules = keep(module({}, {}, submodules), level);
    lists = keep(list(items), level);
  }
  EXPECT_THAT(refused(modules), HasSubstr("contain each other too often"));
  EXPECT_THAT(refused(model_of("w", {{text("yaml"), lists}})),
              HasSubstr("contain each other too often"));
}

TEST(SavedModel, RefusesADescriptionOfManyKeys) {
  Entries many;
  for (int i = 0; i < 1000; ++i) many.emplace_back(text(std::to_string(i)), none);
  EXPECT_THAT(refused(model_of("w", {{text("yaml"), dict(many)}})), HasSubstr("too long"));
}

}  // namespace
}  // namespace evolve::trainer
