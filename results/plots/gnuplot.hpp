// Running gnuplot.
#pragma once

#include <filesystem>
#include <string>

namespace evolve::results {

/// Feeds `script` to gnuplot and keeps what it draws (its standard output) as `image`, atomically.
/// Throws `Error` (`Fault::run`) when gnuplot is not installed, complains, or the disk is full.
void run_gnuplot(const std::string& script, const std::filesystem::path& image);

/// `text` as a gnuplot string in which nothing is special, whatever it holds: for the eye, since an
/// apostrophe becomes a typographic one and a control character a blank.
std::string gnuplot_quoted(const std::string& text);

}  // namespace evolve::results
