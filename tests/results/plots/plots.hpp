// What gnuplot is given, and what it makes of it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "tests/results/folder.hpp"

namespace evolve::results {

/// How often a text has this part.
inline int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// gnuplot takes what `plot` draws into a file, and a PNG comes out, and nothing else.
template <typename Plot>
void expect_png(const Plot& plot) {
  const Folder folder;
  plot(folder / "plot.png");
  EXPECT_EQ(read_file(folder / "plot.png").substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace evolve::results
