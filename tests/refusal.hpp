// What a call refuses, as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "core/error.hpp"

namespace evolve::test {

/// The line of the `Thrown` that `call` throws; "accepted" when it throws none. An `Error` has to
/// have this exit code: 2 is for wrong input.
template <typename Thrown = Error, typename Call>
std::string refusal(const Call& call, [[maybe_unused]] int exit_code = 2) {
  try {
    call();
  } catch (const Thrown& thrown) {
    if constexpr (std::is_same_v<Thrown, Error>) {
      EXPECT_EQ(thrown.exit_code(), exit_code);
    }
    return thrown.what();
  }
  return "accepted";
}

/// The same of a run that cannot go on.
template <typename Call>
std::string run_failure(const Call& call) {
  return refusal(call, 1);
}

}  // namespace evolve::test
