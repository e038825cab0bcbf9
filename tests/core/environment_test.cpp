#include "core/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace evolve::core {
namespace {

TEST(Environment, IsEmptyWhereAVariableIsNotSet) {
  ::setenv("EVOLVE_ENVIRONMENT_TEST", "a b", 1);
  EXPECT_EQ(environment_variable("EVOLVE_ENVIRONMENT_TEST"), "a b");
  ::unsetenv("EVOLVE_ENVIRONMENT_TEST");
  EXPECT_EQ(environment_variable("EVOLVE_ENVIRONMENT_TEST"), "");
}

}  // namespace
}  // namespace evolve::core
