// What a call refuses, as text.
#pragma once

#include <string>

#include "core/error.hpp"

namespace evolve {

/// The line of the input `Error` that `call` throws; "accepted" when it throws none.
template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.fault() == Error::Fault::input ? error.what()
                                                : std::string("run: ") + error.what();
  }
  return "accepted";
}

}  // namespace evolve
