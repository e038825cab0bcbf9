#include "results/yolov5_csv.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "core/number.hpp"
#include "results/run_file.hpp"

namespace evolve::results {

namespace fs = std::filesystem;

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) line += fmt::format("{}{:>20}", line.empty() ? "" : ",", cell);
  return line + "\n";
}

std::string csv_line(const std::vector<double>& numbers) {
  std::vector<std::string> cells;
  for (const double number : numbers) cells.push_back(core::shortest(number));
  return csv_line(cells);
}

void append_csv_line(const fs::path& file, const std::string& header, const std::string& line) {
  const core::FileDescriptor descriptor(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) throw write_failed(file, errno);
  const bool is_new = ::lseek(descriptor.number(), 0, SEEK_END) == 0;
  const std::string text = (is_new ? header : "") + line;
  if (const int error = core::write_all(descriptor.number(), text)) throw write_failed(file, error);
}

}  // namespace evolve::results
