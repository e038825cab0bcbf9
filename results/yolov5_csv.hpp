// Tables of numbers as YOLOv5 writes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evolve::results {

/// Cells right-aligned, at least 20 wide, with a comma between, and a newline.
std::string csv_line(const std::vector<std::string>& cells);
/// Numbers in their shortest exact form, right-aligned, at least 20 wide, with a comma between, and
/// a newline.
std::string csv_line(const std::vector<double>& numbers);

/// Appends a line, after the header where the file is new or empty. Throws `Error` (`Fault::run`)
/// when the disk is full.
void append_csv_line(const std::filesystem::path& file, const std::string& header,
                     const std::string& line);

}  // namespace evolve::results
