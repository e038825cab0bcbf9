#include "hyp/hyp_file.hpp"
#include "hyp/run_space.hpp"
#include "tests/fuzz/fuzz.hpp"

void evolve::fuzz::hyp(const std::string& input) {
  refusable([&] {
    const auto file = hyp::parse_hyp(input, "hyp.yaml");
    hyp::hyp_lines(file.hyp);
    refusable([&] { hyp::started_at(hyp::default_space(), file); });
  });
}
