#include "results/repeats_csv.hpp"

#include <string>

#include "results/run_file.hpp"
#include "results/yolov5_csv.hpp"

namespace evolve::results {

void write_repeats(const std::filesystem::path& file, const std::vector<Repeat>& repeats) {
  std::vector<std::string> names = {"trial", "seed", "fitness/first", "fitness/again"};
  names.insert(names.end(), hyp::Metrics::names().begin(), hyp::Metrics::names().end());
  std::string text = csv_line(names);
  for (const Repeat& repeat : repeats) {
    std::vector<double> numbers = {static_cast<double>(repeat.trial),
                                   static_cast<double>(repeat.seed), repeat.first, repeat.again};
    const auto metrics = repeat.metrics.values();
    numbers.insert(numbers.end(), metrics.begin(), metrics.end());
    text += csv_line(numbers);
  }
  write_atomically(file, text);
}

}  // namespace evolve::results
