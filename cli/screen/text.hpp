// Numbers, paths and lines as a person reads them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace evolve::cli {

/// "2 d 3 h", "1 h 05 min", "2 min 10 s", "8 s".
std::string duration_text(double seconds);

/// "0.2131"; four significant digits where that would say nothing: "4.28e-05", and nine of what is
/// larger than a million.
std::string fitness_text(double fitness);

/// A path as the user would type it: relative where that is shorter.
std::string display_path(const std::filesystem::path& path);

/// A path as display_path() has it, as a word of a shell's command line: in quotes where it has to
/// be.
std::string shell_path(const std::filesystem::path& path);
/// The same of a run's folder, which evolve takes for no command of its own.
std::string shell_folder(const std::filesystem::path& path);

/// The line broken between words so that each part fits into `width` columns; what follows is
/// indented as far as its words after the label, if it has one. A command ("evolve …") stays whole.
std::string wrapped(const std::string& line, std::size_t width);
/// As many of the fields "a · b · c" as fit into `width` columns, with "…" for the others.
std::string shortened(const std::string& fields, std::size_t width);

}  // namespace evolve::cli
