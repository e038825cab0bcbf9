#include "results/explanation.hpp"

namespace evolve::results {

std::string verdict(const Explanation& explanation) {
  // Shares of what varies, of which these many count as next to nothing and as half of it.
  constexpr double least_r2 = 0.2, good_r2 = 0.5, least_known = 0.1;
  // Trials that should have been enough.
  constexpr std::size_t many = 300;
  if (explanation.r2 < least_r2)
    return explanation.fitness.size() < many
               ? "these figures mean little, more trials would help"
               : "these figures mean little: luck outweighs what the genes still change";
  if (explanation.known < least_known)
    return "the trials cover so little that the shares are guesses: go by the loss";
  return explanation.r2 < good_r2 ? "trust the large shares only" : "";
}

}  // namespace evolve::results
