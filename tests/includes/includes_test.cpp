// The rooms of CONTRIBUTING.md: which may include which.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/files.hpp"

namespace evolve {
namespace {

namespace fs = std::filesystem;

struct Include {
  fs::path from, to;
};

std::vector<Include> includes_of(const fs::path& file) {
  std::vector<Include> all;
  std::ifstream lines(fs::path(EVOLVE_SOURCE_DIR) / file);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view directive = "#include \"";
    if (!line.starts_with(directive)) continue;
    all.push_back({file, line.substr(directive.size(), line.rfind('"') - directive.size())});
  }
  return all;
}

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> all;
  const fs::path root = EVOLVE_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
      all.push_back(fs::relative(entry.path(), root));
  return all;
}

std::vector<Include> includes_in(const std::string& folder) {
  std::vector<Include> all;
  for (const auto& file : files_in(folder))
    std::ranges::move(includes_of(file), std::back_inserter(all));
  return all;
}

/// "devices", "workers/protocol".
std::string room_of(const fs::path& file) {
  auto part = file.begin();
  const std::string first = part->string();
  return first == "workers" ? first + "/" + (++part)->string() : first;
}

/// "trainer/data" of what is in that folder and below, "trainer" of the files beside such folders.
std::string part_of(const fs::path& file) {
  auto part = file.begin();
  const fs::path first = *part++;
  return (std::next(part) == file.end() ? first : first / *part).string();
}

using Allowed = std::map<std::string, std::set<std::string>>;

const Allowed allowed = {
    {"core", {}},
    {"hyp", {"core"}},
    {"workers/protocol", {"core", "hyp"}},
    {"workers/supervise", {"core", "hyp", "workers/protocol"}},
    {"workers/exec", {"core", "hyp", "workers/protocol"}},
    {"ga", {"core", "hyp"}},
    {"devices", {"core", "hyp"}},
    {"results", {"core", "hyp"}},
    {"trainer", {"core", "hyp", "workers/protocol"}},
    {"engine",
     {"core", "hyp", "ga", "devices", "results", "workers/protocol", "workers/supervise"}},
    {"cli",
     {"core", "hyp", "ga", "devices", "results", "workers/protocol", "workers/supervise",
      "workers/exec", "engine", "trainer"}},
};

constexpr std::array tops = {"core",    "hyp",     "workers", "ga", "devices",
                             "results", "trainer", "engine",  "cli"};

// The worker says which card it has, and starts a process for each further one.
bool is_evolve_worker(const fs::path& file) {
  return file.stem() == "worker_main" || file.stem() == "start_ranks";
}

/// The folders whose namespaces a file names: "ga" of ga::Settings.
std::set<std::string> named_in(const fs::path& file) {
  static const std::regex name("\\b(core|hyp|workers|ga|devices|results|trainer|engine|cli)::");
  std::set<std::string> all;
  std::ifstream lines(fs::path(EVOLVE_SOURCE_DIR) / file);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find("//"), line.size()));
    for (std::sregex_iterator found(line.begin(), line.end(), name), end; found != end; ++found)
      all.insert((*found)[1]);
  }
  return all;
}

TEST(Includes, PointDownOnly) {
  for (const auto& top : tops) {
    for (const Include& include : includes_in(top)) {
      const auto room = room_of(include.from), other = room_of(include.to);
      const bool down = room == other || allowed.at(room).contains(other);
      EXPECT_TRUE(down || (is_evolve_worker(include.from) && other == "devices"))
          << include.from << " includes " << include.to;
    }
  }
}

TEST(Includes, AreTheOnlyRoomsThatAFileNames) {
  for (const auto& top : tops) {
    for (const fs::path& file : files_in(top)) {
      auto may = allowed.at(room_of(file));
      may.insert(room_of(file));
      for (const auto& name : named_in(file)) {
        const auto is_named = [&](const fs::path& room) { return *room.begin() == name; };
        EXPECT_TRUE(std::ranges::any_of(may, is_named) ||
                    (is_evolve_worker(file) && name == "devices"))
            << file << " names " << name << "::, which it may not include";
      }
    }
  }
}

TEST(Includes, OfTheCommandsBringNoTorch) {
  const std::regex of_torch("#include <(torch|ATen|c10|caffe2)/");
  for (const Include& include : includes_in("cli")) {
    if (room_of(include.to) != "trainer") continue;
    std::set<fs::path> seen;
    const std::function<void(const fs::path&)> look = [&](const fs::path& file) {
      if (!seen.insert(file).second) return;
      const auto text = test::read_file(fs::path(EVOLVE_SOURCE_DIR) / file);
      EXPECT_FALSE(std::regex_search(text, of_torch))
          << include.from << " gets torch from " << file;
      for (const Include& next : includes_of(file)) look(next.to);
    };
    look(include.to);
  }
}

TEST(Includes, MakeNoCircleOfFolders) {
  for (const auto& top : {"ga", "trainer", "results", "devices", "cli"}) {
    Allowed next;
    for (const Include& include : includes_in(top)) {
      const auto from = part_of(include.from), to = part_of(include.to);
      if (from != to && room_of(include.to) == top) next[from].insert(to);
    }
    std::set<std::string> done;
    std::vector<std::string> way;
    const std::function<void(const std::string&)> walk = [&](const std::string& folder) {
      EXPECT_EQ(std::ranges::count(way, folder), 0)
          << folder << " includes itself by way of " << way.back();
      if (std::ranges::count(way, folder) > 0 || !done.insert(folder).second) return;
      way.push_back(folder);
      for (const auto& other : next[folder]) walk(other);
      way.pop_back();
    };
    for (const auto& [folder, others] : Allowed(next)) walk(folder);
  }
}

}  // namespace
}  // namespace evolve
