#include "hyp/metrics.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/refusal.hpp"

namespace evolve::hyp {
namespace {

const Metrics seven{.precision = 1,
                    .recall = 2,
                    .map50 = 3,
                    .map50_95 = 4,
                    .box_loss = 5,
                    .obj_loss = 6,
                    .cls_loss = 7};

std::string refused(const nlohmann::ordered_json& json) {
  return test::refusal<std::invalid_argument>([&] { metrics_from_json(json); });
}

TEST(Metrics, HaveTheOrderOfEvolveCsv) {
  EXPECT_EQ(
      to_json(seven).dump(),
      R"({"metrics/precision":1.0,"metrics/recall":2.0,"metrics/mAP_0.5":3.0,)"
      R"("metrics/mAP_0.5:0.95":4.0,"val/box_loss":5.0,"val/obj_loss":6.0,"val/cls_loss":7.0})");
  EXPECT_EQ(seven.values(), (std::array<double, 7>{1, 2, 3, 4, 5, 6, 7}));
}

TEST(Metrics, ComeBackFromJsonAndValues) {
  EXPECT_EQ(metrics_from_json(to_json(seven)), seven);
  EXPECT_EQ(Metrics::from_values(seven.values()), seven);
}

TEST(Metrics, AreFiniteWhenAllSevenAre) {
  EXPECT_TRUE(is_finite(seven));
  for (std::size_t i = 0; i < Metrics::count; ++i) {
    auto values = seven.values();
    values[i] = std::nan("");
    EXPECT_FALSE(is_finite(Metrics::from_values(values))) << Metrics::names()[i];
  }
}

TEST(Metrics, NameTheOneThatIsMissing) {
  auto json = to_json(seven);
  json.erase("val/obj_loss");
  EXPECT_EQ(refused(json), "metric val/obj_loss is missing");
  json["val/obj_loss"] = "much";
  EXPECT_EQ(refused(json), "metric val/obj_loss is no number");
  json["val/obj_loss"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused(json), "metric val/obj_loss is not finite");
  EXPECT_EQ(refused(nlohmann::ordered_json::array()), "metric metrics/precision is missing");
}

}  // namespace
}  // namespace evolve::hyp
