// The random decisions of a training sample.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace evolve::data {

/// Where augmentation gets its random numbers from. The calls mirror those that YOLOv5 makes of
/// Python's `random` and NumPy, one for one and in its order, so that a test can replay recorded
/// draws. Virtual for that test only.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  /// In [0, 1): random.random().
  virtual double random() = 0;
  /// Between `low` and `high`: random.uniform().
  virtual double uniform(double low, double high) = 0;
  /// Three at once: np.random.uniform(low, high, 3).
  virtual std::array<double, 3> uniform3(double low, double high) = 0;
  /// Beta(a, b) distributed: np.random.beta().
  virtual double beta(double a, double b) = 0;
  /// One element of a pool that is not empty: random.choice().
  virtual int choice(const std::vector<int>& pool) = 0;
  /// Three elements, with replacement: random.choices(pool, k=3).
  virtual std::array<int, 3> choices3(const std::vector<int>& pool) = 0;
  /// A random order: random.shuffle().
  virtual void shuffle(std::array<int, 4>& values) = 0;
  /// `count` different numbers out of 0..population - 1, in random order: random.sample().
  virtual std::vector<int> sample(int population, int count) = 0;
};

/// Random numbers that depend on the seed only.
std::unique_ptr<RandomSource> seeded_random_source(std::uint64_t seed);

/// The seed of one sample: a mix of the run's seed, the epoch and the sample's place in it.
std::uint64_t sample_seed(std::uint64_t seed, int epoch, int place);

}  // namespace evolve::data
