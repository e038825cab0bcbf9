// Whole runs over spaces, settings and outcomes drawn at random.
#include <gtest/gtest.h>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <set>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

int draw(int low, int high, Rng& rng) {
  return boost::random::uniform_int_distribution<int>(low, high)(rng);
}
double draw01(Rng& rng) {
  return boost::random::uniform_01<double>()(rng);
}

hyp::Gene random_gene(Rng& rng) {
  const double low = std::pow(10, draw(-6, 2, rng)) * draw01(rng);
  const double width = draw(0, 5, rng) == 0 ? 0 : std::pow(10, draw(-6, 3, rng)) * draw01(rng);
  const double start = low + width * draw01(rng);
  switch (draw(0, 3, rng)) {
    case 0:
      return real(low - width / 2, low + width / 2, low);
    case 1:
      return logarithmic(low + 1e-9, low + 1e-9 + width, start + 1e-9);
    case 2:
      return integer(std::floor(low), std::floor(low) + draw(0, 12, rng), std::floor(low));
    default:
      return categorical(std::vector<std::string>(4, "x"), draw(0, 3, rng));
  }
}

hyp::Space random_space(Rng& rng) {
  std::vector<hyp::Gene> genes;
  for (int i = draw(1, 12, rng); i > 0; --i) genes.push_back(random_gene(rng));
  for (hyp::Gene& gene : genes) {
    for (std::size_t i = 0; i < gene.choices.size(); ++i)
      gene.choices[i] += std::to_string(i) + "y";
    gene.evolve = draw(0, 4, rng) > 0;
  }
  genes.front().evolve = true;
  return space_of(std::move(genes));
}

void expect_inside(const hyp::Space& space, const hyp::Trial& trial) {
  const std::vector<double> values = hyp::raw_values(space, trial.hyp);
  ASSERT_EQ(values.size(), space.genes.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const hyp::Gene& gene = space.genes[i];
    EXPECT_TRUE(gene.evolve || values[i] == gene.start);
    EXPECT_GE(values[i], gene.low);
    EXPECT_LE(values[i], gene.high);
    EXPECT_TRUE(gene.kind == hyp::Gene::Kind::real || values[i] == std::floor(values[i]));
  }
}

double count_of(const hyp::Space& space) {
  double count = 1;
  for (const hyp::Gene& gene : space.genes) {
    if (!gene.evolve) continue;
    if (gene.kind != hyp::Gene::Kind::real)
      count *= gene.high - gene.low + 1;
    else if (gene.low < gene.high)
      return HUGE_VAL;
  }
  return count;
}

hyp::Outcome random_outcome(int trial, Rng& rng) {
  switch (draw(0, 9, rng)) {
    case 0:
      return failed(trial);
    case 1:
      return stopped(trial, draw01(rng));
    default:
      return completed(trial, draw01(rng));
  }
}

class AnySearch : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, AnySearch, testing::Values("classic", "screened"),
                         [](const auto& search) { return search.param; });

TEST_P(AnySearch, KeepsItsPromisesInAnySpace) {
  const int most = GetParam() == "classic" ? 20 : 10;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const hyp::Space space = random_space(rng);
    Settings settings = {.search = GetParam(),
                         .seed = seed,
                         .population = draw(1, most, rng),
                         .generations = draw(1, most, rng)};
    if (draw(0, 1, rng)) settings.lag = draw(1, 5, rng);
    if (draw(0, 3, rng) == 0) settings.trials = draw(1, 100, rng);
    Evolution evolution(space, settings);
    std::set<std::vector<double>> sets;
    // The screened search trains its start again, to see how much is luck, and at the end of a long
    // run what may be the best.
    int starts_again = 0, again = 0;
    std::vector<int> in_flight;
    while (!evolution.done()) {
      const auto trial = draw(0, 2, rng) ? evolution.ask() : std::nullopt;
      if (trial) {
        EXPECT_EQ(trial->number, evolution.asked() - 1);
        expect_inside(space, *trial);
        const bool none_left = static_cast<double>(sets.size()) == count_of(space);
        const bool is_new = sets.insert(hyp::raw_values(space, trial->hyp)).second;
        const bool measures_luck = (trial->number == 13 || trial->number == 26) &&
                                   evolution.genes(trial->number) == evolution.genes(0);
        const int planned = evolution.planned();
        const bool decides = trial->number >= 45 && trial->number >= planned - planned / 5;
        const bool is_again = GetParam() == "screened" && !is_new && !none_left;
        again += is_again && (measures_luck || decides);
        starts_again +=
            is_again && !decides && evolution.genes(trial->number) == evolution.genes(0);
        in_flight.push_back(trial->number);
      } else if (!in_flight.empty()) {
        const auto at = in_flight.begin() + draw(0, static_cast<int>(in_flight.size()) - 1, rng);
        evolution.tell(random_outcome(*at, rng));
        in_flight.erase(at);
      }
    }
    EXPECT_EQ(evolution.ended(), evolution.planned());
    EXPECT_EQ(static_cast<double>(sets.size()),
              std::min(count_of(space), 1.0 * evolution.planned() - again));
    EXPECT_LE(starts_again, 2);
  }
}

}  // namespace
}  // namespace evolve::ga
