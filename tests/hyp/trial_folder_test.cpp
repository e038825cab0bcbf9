#include "hyp/trial_folder.hpp"

#include <gtest/gtest.h>

namespace evolve::hyp {
namespace {

TEST(TrialFolder, IsNamedByTheTrialsNumber) {
  EXPECT_EQ(trial_folder(17), "trials/000017");
  EXPECT_EQ(trial_log(1234567), "trials/1234567/log");
}

TEST(TrialFolder, HasAFolderForTheRepeat) {
  EXPECT_EQ(trial_folder(17, 1), "trials/000017/repeat");
  EXPECT_EQ(trial_folder(17, 2), "trials/000017/repeat2");
  EXPECT_EQ(trial_log(17, 1), "trials/000017/repeat/log");
}

}  // namespace
}  // namespace evolve::hyp
