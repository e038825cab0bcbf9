#include "trainer/data/random_source.hpp"

#include <boost/random/beta_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <numeric>
#include <utility>

#include "core/splitmix64.hpp"

namespace evolve::data {
namespace {

class SeededRandomSource final : public RandomSource {
 public:
  explicit SeededRandomSource(std::uint64_t seed) : engine_(seed) {}

  double random() override { return boost::random::uniform_01<double>()(engine_); }

  double uniform(double low, double high) override { return low + (high - low) * random(); }

  std::array<double, 3> uniform3(double low, double high) override {
    std::array<double, 3> values;
    for (double& value : values) value = uniform(low, high);
    return values;
  }

  double beta(double a, double b) override {
    return boost::random::beta_distribution<double>(a, b)(engine_);
  }

  int choice(const std::vector<int>& pool) override {
    return pool[static_cast<std::size_t>(below(static_cast<int>(pool.size())))];
  }

  std::array<int, 3> choices3(const std::vector<int>& pool) override {
    std::array<int, 3> values;
    for (int& value : values) value = choice(pool);
    return values;
  }

  void shuffle(std::array<int, 4>& values) override {
    for (std::size_t i = values.size() - 1; i > 0; --i) {
      std::swap(values[i], values[static_cast<std::size_t>(below(static_cast<int>(i) + 1))]);
    }
  }

  std::vector<int> sample(int population, int count) override {
    std::vector<int> values(static_cast<std::size_t>(population));
    std::iota(values.begin(), values.end(), 0);
    for (int i = 0; i < count; ++i) std::swap(values[i], values[i + below(population - i)]);
    values.resize(static_cast<std::size_t>(count));
    return values;
  }

 private:
  int below(int bound) {
    return boost::random::uniform_int_distribution<int>(0, bound - 1)(engine_);
  }

  boost::random::mt19937_64 engine_;
};

}  // namespace

std::unique_ptr<RandomSource> seeded_random_source(std::uint64_t seed) {
  return std::make_unique<SeededRandomSource>(seed);
}

std::uint64_t sample_seed(std::uint64_t seed, int epoch, int place) {
  const auto e = static_cast<std::uint32_t>(epoch);
  const auto p = static_cast<std::uint32_t>(place);
  return core::splitmix64(core::splitmix64(core::splitmix64(seed) ^ e) ^ p);
}

}  // namespace evolve::data
