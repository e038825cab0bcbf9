// The only place where metrics become one number.
#pragma once

#include <memory>
#include <string>

#include "hyp/metrics.hpp"

namespace evolve::hyp {

/// An expression over P, R, mAP50, mAP50_95, box_loss, obj_loss and cls_loss; greater is better.
class Fitness {
 public:
  /// YOLOv5's fitness().
  static constexpr const char* standard = "0.1*mAP50 + 0.9*mAP50_95";
  /// The metrics that an expression may name: "P, R, mAP50, …".
  static std::string metrics();

  /// Operators and functions are muParser's. Throws `Error` when the expression cannot be parsed,
  /// names an unknown metric or none at all.
  explicit Fitness(const std::string& expression = standard);
  ~Fitness();
  Fitness(Fitness&&) noexcept;
  Fitness& operator=(Fitness&&) noexcept;

  /// May be NaN or infinite where the expression is (a division by zero). Not for two threads at a
  /// time: the metrics are handed to the parser in this object's memory.
  double operator()(const Metrics& metrics) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace evolve::hyp
