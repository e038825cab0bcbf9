// Random numbers that were recorded in YOLOv5, replayed.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/data/random_source.hpp"

namespace evolve::data {

/// Each record is [call, arguments…, result]; a call that is not the recorded one fails the test.
class Replay final : public RandomSource {
 public:
  explicit Replay(nlohmann::json records) : records_(std::move(records)) {}

  /// Whether every recorded draw was asked for.
  bool finished() const { return place_ == records_.size(); }

  double random() override { return result({"random.random"}); }
  double uniform(double low, double high) override {
    if (place_ < records_.size() && records_[place_].size() == 4) {
      EXPECT_NEAR(records_[place_][1].get<double>(), low, 1e-12);
      EXPECT_NEAR(records_[place_][2].get<double>(), high, 1e-12);
    }
    return result({"random.uniform"});
  }
  std::array<double, 3> uniform3(double, double) override { return result({"np.random.uniform"}); }
  double beta(double, double) override { return result({"np.random.beta"}); }
  int choice(const std::vector<int>&) override {
    return result({"random.choice", "random.randint"});
  }
  std::array<int, 3> choices3(const std::vector<int>&) override {
    return result({"random.choices"});
  }
  void shuffle(std::array<int, 4>& values) override {
    values = result({"random.shuffle_result", "random.shuffle"}).get<std::array<int, 4>>();
  }
  std::vector<int> sample(int, int) override { return result({"random.sample"}); }

 private:
  nlohmann::json result(const std::vector<std::string>& calls) {
    if (place_ >= records_.size())
      throw std::runtime_error("more draws than recorded: " + calls[0]);
    const nlohmann::json& record = records_[place_++];
    if (std::find(calls.begin(), calls.end(), record[0].get<std::string>()) == calls.end()) {
      throw std::runtime_error("draw " + std::to_string(place_) + " is " + calls[0] +
                               " here, recorded was " + record[0].get<std::string>());
    }
    return record.back();
  }

  nlohmann::json records_;
  std::size_t place_ = 0;
};

inline void append_uniforms(nlohmann::json& records, const std::vector<double>& values) {
  for (const double value : values) records.push_back({"random.uniform", value});
}

inline Replay uniforms(const std::vector<double>& values) {
  nlohmann::json records;
  append_uniforms(records, values);
  return Replay(records);
}

}  // namespace evolve::data
