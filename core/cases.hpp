// Several functions as one that can be called with any of what they take: a case each of a variant.
#pragma once

namespace evolve::core {

/// std::visit(Cases{[](A) …, [](B) …}, one)
template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;  // clang before 17 needs it said

}  // namespace evolve::core
