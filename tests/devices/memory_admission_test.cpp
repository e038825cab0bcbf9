#include "devices/memory_admission.hpp"

#include <gtest/gtest.h>

namespace evolve::devices {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Answer = MemoryAdmission::Answer;

const Clock::time_point noon{};
constexpr core::WorkerCount nobody, one{.alive = 1, .idle = 0, .grown = true},
    newcomer{.alive = 1, .idle = 0, .grown = false};
constexpr std::int64_t total = 100;

TEST(MemoryAdmission, IsThereOnADeviceOfWhichNothingIsKnown) {
  MemoryAdmission room;
  room.changed("cpu:0", noon);
  EXPECT_EQ(room.fits("cpu:0", one), Answer::yes);
}

TEST(MemoryAdmission, IsThereWhereTheDriverTellsNothingOfMemory) {
  MemoryAdmission room;
  room.sampled("xpu:0", nobody, {}, {}, noon);
  room.changed("xpu:0", noon + seconds(1));
  EXPECT_EQ(room.fits("xpu:0", newcomer), Answer::yes);
}

TEST(MemoryAdmission, IsTriedForAFirstWorkerWhereHalfIsFreeAfterTenMinutes) {
  MemoryAdmission room;
  room.sampled("xpu:0", nobody, total, 95, noon);
  room.sampled("xpu:0", one, total, 10, noon + seconds(1));
  room.changed("xpu:0", noon + seconds(2));
  room.sampled("xpu:0", nobody, total, 80, noon + seconds(601));
  EXPECT_EQ(room.fits("xpu:0", nobody), Answer::full);
  room.sampled("xpu:0", nobody, total, 80, noon + seconds(602));
  EXPECT_EQ(room.fits("xpu:0", nobody), Answer::yes);
  room.sampled("xpu:0", nobody, total, 49, noon + seconds(603));
  EXPECT_EQ(room.fits("xpu:0", nobody), Answer::full) << "another program trains there";
}

TEST(MemoryAdmission, NeedsWhatWorkersHaveTakenOnceAllOfThemHaveGrown) {
  MemoryAdmission room;
  room.sampled("xpu:0", nobody, total, 90, noon);
  room.sampled("xpu:0", newcomer, total, 20, noon + seconds(1));
  room.sampled("xpu:0", one, total, 60, noon + seconds(2));
  room.sampled("xpu:0", one, total, 30, noon + seconds(3));
  EXPECT_EQ(room.fits("xpu:0", one), Answer::full) << "60 at the most";
  room.sampled("xpu:1", nobody, total, 90, noon);
  room.sampled("xpu:1", newcomer, total, 20, noon + seconds(1));
  room.sampled("xpu:1", one, total, 60, noon + seconds(2));
  EXPECT_EQ(room.fits("xpu:1", one), Answer::yes)
      << "what was held before it had grown is none of its";
}

TEST(MemoryAdmission, NeedsATwentiethForAFirstWorkerAndNothingMoreForAFurtherOne) {
  MemoryAdmission room;
  room.sampled("xpu:0", nobody, total, 5, noon);
  EXPECT_EQ(room.fits("xpu:0", nobody), Answer::yes);
  room.sampled("xpu:0", nobody, total, 4, noon + seconds(1));
  EXPECT_EQ(room.fits("xpu:0", nobody), Answer::full);
  room.sampled("xpu:0", one, total, 4, noon + seconds(2));
  EXPECT_EQ(room.fits("xpu:0", one), Answer::yes) << "it was seen to need nothing";
}

// Another program may have held it.
TEST(MemoryAdmission, NeedsWhatWasSeenInTheLastTenToTwentyMinutesOfTraining) {
  constexpr core::WorkerCount idle{.alive = 1, .idle = 1, .grown = true};
  MemoryAdmission room;
  room.sampled("xpu:0", nobody, total, 90, noon);
  room.sampled("xpu:0", one, total, 30, noon + minutes(1));
  const auto fits = [&](const core::WorkerCount& worker, minutes after) {
    room.sampled("xpu:0", worker, total, 50, noon + after);
    return room.fits("xpu:0", worker);
  };
  EXPECT_EQ(fits(one, minutes(9)), Answer::full) << "60 are needed, 50 are free";
  EXPECT_EQ(fits(one, minutes(10)), Answer::full);
  EXPECT_EQ(fits(one, minutes(19)), Answer::full);
  EXPECT_EQ(fits(idle, minutes(40)), Answer::full) << "nothing was trained meanwhile";
  EXPECT_EQ(fits(one, minutes(41)), Answer::yes) << "40 at the most, since minute 10";
}

TEST(MemoryAdmission, IsNotKnownOfWorkersThatWereThereBeforeTheFirstSample) {
  MemoryAdmission room;
  room.sampled("xpu:0", one, total, 40, noon);
  EXPECT_EQ(room.fits("xpu:0", one), Answer::yes) << "nobody knows how much of the 60 is its";
}

TEST(MemoryAdmission, IsSharedByAllWorkersOfTheDevice) {
  MemoryAdmission room;
  const core::WorkerCount two{.alive = 2, .idle = 0, .grown = true};
  room.sampled("xpu:0", nobody, total, 90, noon);
  room.sampled("xpu:0", two, total, 30, noon + seconds(1));
  EXPECT_EQ(room.fits("xpu:0", two), Answer::yes);
  room.sampled("xpu:0", two, total, 29, noon + seconds(2));
  EXPECT_EQ(room.fits("xpu:0", two), Answer::full);
}

}  // namespace
}  // namespace evolve::devices
