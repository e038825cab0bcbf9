// From the boxes of a batch on the device to those that the host looks at.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace evolve::trainer {

/// Boxes on the host, image by image.
struct CandidateRows {
  /// [n, 5 + nc], on the CPU.
  torch::Tensor rows;
  /// Where each image's rows begin, and where the last one's end.
  std::vector<std::int64_t> begin;

  std::span<const float> of(std::size_t image) const;
};

/// Brings boxes to the host: from a device only those rows that NMS would not pass over at once, in
/// their order, so that it finds the same in them. One copy and one wait a batch.
class CandidateReader {
 public:
  /// `conf` is NmsOptions::conf.
  explicit CandidateReader(double conf) : threshold_(static_cast<float>(conf)) {}

  /// `decoded`: [batch, rows, 5 + nc].
  CandidateRows read(const torch::Tensor& decoded);

 private:
  float threshold_;
  /// How many rows are copied, whether they are wanted or not: the host cannot know how many are.
  /// All of the first batch, then twice the most that were wanted so far. A batch that has more is
  /// copied again.
  std::int64_t capacity_ = 0, most_ = -1;
};

}  // namespace evolve::trainer
