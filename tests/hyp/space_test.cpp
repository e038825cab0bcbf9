#include "hyp/space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/refusal.hpp"

namespace evolve::hyp {
namespace {

Gene real(double low, double high, Gene::Scale scale = Gene::Scale::linear) {
  return {.name = "x", .scale = scale, .low = low, .high = high};
}
Gene whole(double low, double high, Gene::Scale scale = Gene::Scale::linear) {
  return {.name = "n", .kind = Gene::Kind::integer, .scale = scale, .low = low, .high = high};
}
const Gene optimizer{.name = "optimizer",
                     .kind = Gene::Kind::categorical,
                     .low = 0,
                     .high = 2,
                     .choices = {"SGD", "Adam", "AdamW"}};

TEST(DefaultSpace, HasThe29GenesOfYolov5AndEvolves13) {
  const Space& space = default_space();
  ASSERT_EQ(space.genes.size(), 29u);
  std::string evolved;
  for (const auto& gene : evolved_genes(space)) evolved += gene.name + " ";
  EXPECT_EQ(evolved,
            "hsv_h hsv_s hsv_v degrees translate scale shear perspective flipud fliplr mosaic "
            "mixup copy_paste ");
  EXPECT_EQ(*space.find("lr0"), (Gene{.name = "lr0",
                                      .scale = Gene::Scale::log,
                                      .low = 1e-5,
                                      .high = 0.1,
                                      .evolve = false,
                                      .start = 0.01}));
  EXPECT_EQ(*space.find("anchors"), (Gene{.name = "anchors",
                                          .kind = Gene::Kind::integer,
                                          .low = 2,
                                          .high = 10,
                                          .evolve = false,
                                          .start = 3}));
  EXPECT_EQ(*space.find("degrees"), (Gene{.name = "degrees", .low = 0, .high = 45, .start = 0}));
  EXPECT_EQ(space.find("lr1"), nullptr);
}

TEST(DefaultSpace, StartsInsideItsBounds) {
  for (const Gene& gene : default_space().genes) {
    EXPECT_EQ(nearest(gene, gene.start), gene.start) << gene.name;
  }
}

TEST(DefaultSpace, ExpressesItsStartExactly) {
  const Space& space = default_space();
  const Hyperparameters start = start_of(space);
  EXPECT_EQ(start.size(), 29u);
  EXPECT_EQ(start.number("warmup_momentum"), 0.8);
  EXPECT_EQ(start.number("anchors"), 3);
  EXPECT_EQ(express(space, genes_of(space, start)), start);
}

TEST(Gene, HasItsPlaceOnALinearScale) {
  const Gene gene = real(2, 10);
  EXPECT_EQ(to_unit(gene, 2), 0);
  EXPECT_EQ(to_unit(gene, 4), 0.25);
  EXPECT_EQ(to_unit(gene, 10), 1);
  EXPECT_EQ(from_unit(gene, 0.25), 4);
  EXPECT_EQ(from_unit(gene, -1), 2);
  EXPECT_EQ(from_unit(gene, 2), 10);
}

TEST(Gene, HasItsPlaceOnALogScale) {
  const Gene gene = real(1e-5, 0.1, Gene::Scale::log);
  EXPECT_EQ(to_unit(gene, 1e-5), 0);
  Gene narrow = gene;  // the logarithms of its bounds are the same number
  narrow.low = 1000, narrow.high = std::nextafter(1000, 1001);
  EXPECT_EQ(to_unit(narrow, narrow.high), 0);
  EXPECT_EQ(to_unit(gene, 0.1), 1);
  EXPECT_NEAR(to_unit(gene, 1e-3), 0.5, 1e-15);
  EXPECT_NEAR(from_unit(gene, 0.5), 1e-3, 1e-17);
  EXPECT_EQ(from_unit(gene, 0), nearest(gene, std::exp(std::log(1e-5))));
  EXPECT_LE(from_unit(gene, 1), 0.1);
}

TEST(Gene, OfOneValueIsAtZero) {
  EXPECT_EQ(to_unit(real(3, 3), 3), 0);
  EXPECT_EQ(from_unit(real(3, 3), 0.7), 3);
  EXPECT_EQ(from_unit(whole(2.5, 3.5), 0.7), 3);
  EXPECT_EQ(to_unit(real(3, 3, Gene::Scale::log), 3), 0);
}

TEST(Gene, OfWholeNumbersIsBoundedByTheOnesWithin) {
  EXPECT_EQ(extreme_values(whole(0.5, 3.5)),
            (std::vector<Value>{Value(1.0), Value(1.0), Value(3.0)}));
}

TEST(Gene, OfWholeNumbersGivesEachAnEqualShare) {
  const Gene gene = whole(2, 5);
  EXPECT_EQ(from_unit(gene, 0), 2);
  EXPECT_EQ(from_unit(gene, 0.2499), 2);
  EXPECT_EQ(from_unit(gene, 0.25), 3);
  EXPECT_EQ(from_unit(gene, 0.5), 4);
  EXPECT_EQ(from_unit(gene, 0.75), 5);
  EXPECT_EQ(from_unit(gene, 1), 5);
  EXPECT_EQ(from_unit(gene, -0.01), 2) << "outside";
  EXPECT_EQ(from_unit(gene, 1.3), 5) << "outside";
  EXPECT_EQ(from_unit(optimizer, 0.34), 1);
}

TEST(Gene, OfWholeNumbersComesBackFromTheUnitInterval) {
  for (const Gene& gene :
       {whole(2, 10), whole(-3.5, 1000.5), optimizer, whole(1, 4096, Gene::Scale::log)}) {
    for (double value = std::ceil(gene.low); value <= gene.high; ++value) {
      ASSERT_EQ(from_unit(gene, to_unit(gene, value)), value) << gene.name;
    }
  }
}

TEST(Gene, TakesTheNearestValueInsideItsBounds) {
  EXPECT_EQ(nearest(real(0, 1), 1.5), 1);
  EXPECT_EQ(nearest(real(0, 1), 0.3), 0.3);
  EXPECT_EQ(nearest(whole(2.5, 10), 2.6), 3);
  EXPECT_EQ(nearest(whole(2.5, 10), 0), 3);
  EXPECT_EQ(nearest(whole(2, 10), 3.4), 3);
  EXPECT_EQ(nearest(whole(2, 9.9), 10), 9);
}

// -0 is written as no integer.
TEST(Gene, OfWholeNumbersIsNeverMinus0) {
  EXPECT_FALSE(std::signbit(nearest(whole(-3, 3), -0.3)));
  EXPECT_EQ(nearest(whole(-3, 3), -0.3), 0);
  EXPECT_FALSE(std::signbit(nearest(whole(-0.5, 3), -1)));
  EXPECT_FALSE(std::signbit(from_unit(whole(-0.5, 0.4), 0)));
}

TEST(Space, ExpressesChoicesByNameAndNumber) {
  const Gene batch{.name = "batch",
                   .kind = Gene::Kind::categorical,
                   .low = 0,
                   .high = 1,
                   .choices = {"16", "32"},
                   .evolve = false,
                   .start = 1};
  const Space space{{optimizer, batch, real(0, 1)}};
  const Hyperparameters hyp = express(space, {2, 0.3});
  EXPECT_EQ(hyp, (Hyperparameters{{"optimizer", "AdamW"}, {"batch", 32.0}, {"x", 0.3}}));
  EXPECT_EQ(genes_of(space, hyp), (Genes{2, 0.3}));
  EXPECT_EQ(raw_values(space, hyp), (std::vector<double>{2, 1, 0.3}));
  // As a file may have it in quotes.
  EXPECT_EQ(raw_values(space, {{"batch", "16"}}), (std::vector<double>{0, 0, 0}));
}

TEST(Space, ClampsGenesButNotTheRowsOfEvolveCsv) {
  const Space space{
      {real(0, 1), {.name = "y", .low = 0, .high = 1, .evolve = false, .start = 0.5}}};
  const Hyperparameters hyp{{"x", 7.0}};
  EXPECT_EQ(genes_of(space, hyp), (Genes{1}));
  EXPECT_EQ(raw_values(space, hyp), (std::vector<double>{7, 0.5}));
}

TEST(Space, RefusesATextThatIsNoChoice) {
  const Space space{{optimizer, real(0, 1)}};
  EXPECT_EQ(test::refusal([&] {
              genes_of(space, {{"optimizer", "Sgd"}});
            }),
            "optimizer is 'Sgd'; choose among SGD, Adam, AdamW");
  EXPECT_EQ(test::refusal([&] {
              genes_of(space, {{"optimizer", 1.0}});
            }),
            "optimizer is '1'; choose among SGD, Adam, AdamW");
  EXPECT_EQ(test::refusal([&] {
              genes_of(space, {{"x", "high"}});
            }),
            "hyperparameter x is 'high'; it must be a number");
}

TEST(Space, ComesBackFromJson) {
  Space space = default_space();
  space.genes.push_back(optimizer);
  space.genes.back().start = 1;
  EXPECT_EQ(space_from_json(nlohmann::ordered_json::parse(to_json(space).dump())), space);
}

TEST(Space, IsWrittenToJsonInTheWordsOfASpaceFile) {
  const Space space{{*default_space().find("lr0"), *default_space().find("anchors"), optimizer}};
  EXPECT_EQ(to_json(space).dump(),
            R"({"lr0":{"low":1e-05,"high":0.1,"scale":"log","evolve":false,"start":0.01},)"
            R"("anchors":{"type":"int","low":2.0,"high":10.0,"evolve":false,"start":3.0},)"
            R"("optimizer":{"choices":["SGD","Adam","AdamW"],"start":0.0}})");
}

TEST(Space, IsNotReadFromOtherJson) {
  for (const char* text : {"[]", R"({"lr0":3})", R"({"lr0":{"low":0}})",
                           R"({"lr0":{"low":0,"high":"x","start":0}})"}) {
    EXPECT_THROW(space_from_json(nlohmann::ordered_json::parse(text)), nlohmann::json::exception)
        << text;
  }
}

TEST(Space, IsNotReadFromJsonWithBoundsThatMakeNoSense) {
  for (const char* gene :
       {R"({"low":1,"high":0,"start":0})", R"({"low":0,"high":1,"start":2})",
        R"({"low":0,"high":1,"scale":"log","start":0.5})",
        R"({"low":0.2,"high":0.8,"type":"int","start":0.5})",
        R"({"low":-1e308,"high":1e308,"start":0})", R"({"choices":[],"start":0})",
        R"({"choices":["SGD"],"evolve":false,"start":5})"}) {
    const auto json = nlohmann::ordered_json::parse(std::string(R"({"x":)") + gene + "}");
    EXPECT_THROW(space_from_json(json), std::invalid_argument) << gene;
  }
}

}  // namespace
}  // namespace evolve::hyp
