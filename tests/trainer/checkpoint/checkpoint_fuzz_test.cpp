// Damaged weights files by the thousand: each is read or refused, never a crash, an endless loop or
// more memory than the file is worth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "core/error.hpp"
#include "tests/golden.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/trainer/checkpoint/pickle_text.hpp"
#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/checkpoint/embedded_weights.hpp"
#include "trainer/checkpoint/pretrained.hpp"
#include "trainer/checkpoint/weights_file.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

/// Below `limit`, which is above 0.
std::size_t below(Random& random, std::size_t limit) {
  return random() % limit;
}

/// A place in a file, every other time near its end, where an archive has its directory.
std::size_t place_in(Random& random, const std::string& bytes) {
  const std::size_t near = std::min<std::size_t>(bytes.size(), 4096);
  if (random() % 2 == 0) return bytes.size() - 1 - below(random, near);
  return below(random, bytes.size());
}

/// One random change, or a few.
void mutate(std::string& bytes, Random& random) {
  const std::size_t place = place_in(random, bytes), other = place_in(random, bytes);
  const std::size_t length =
      std::min({below(random, 64) + 1, bytes.size() - place, bytes.size() - other});
  switch (below(random, 7)) {
    case 0:
      for (std::size_t i = below(random, 16); i < 16; ++i) {
        bytes[place_in(random, bytes)] = static_cast<char>(random());
      }
      break;
    case 1:
      bytes[place] = static_cast<char>(bytes[place] ^ 1 << below(random, 8));
      break;
    case 2:
      bytes.resize(place);
      break;
    case 3:
      bytes.replace(place, length, bytes.substr(other, length));
      break;
    case 4:
      bytes.insert(place, bytes.substr(other, length));
      break;
    case 5:
      bytes.erase(place, length);
      break;
    default:  // a number that is too large
      bytes.replace(place, length, std::string(length, random() % 2 == 0 ? '\xff' : '\x7f'));
  }
}

/// A file as it is, or an archive that is in order but for its pickle or description.
std::string damaged(const std::string& whole, const std::vector<test::ZipRecord>& records,
                    Random& random) {
  if (random() % 4 == 0) {
    std::string bytes = whole;
    mutate(bytes, random);
    return bytes;
  }
  auto changed = records;
  std::vector<test::ZipRecord*> meaningful;
  for (auto& record : changed) {
    if (record.name.ends_with(".pkl") || record.name.ends_with(".json"))
      meaningful.push_back(&record);
  }
  mutate(meaningful[below(random, meaningful.size())]->bytes, random);
  return test::zip(changed);
}

/// Where the child says how far it is.
struct Progress {
  int done = 0, read = 0, built = 0, refused = 0;
};

/// Counts what becomes of a file. Throws anything but `Error`.
void try_file(const std::string& path, Progress& progress) {
  try {
    const Checkpoint checkpoint = read_checkpoint(path);
    ++progress.read;
    detector_of(checkpoint, path);
    ++progress.built;
  } catch (const Error& error) {
    const std::string line = error.what();
    if (line.find('\n') != std::string::npos || !line.starts_with(path) ||
        line.find("alloc") != std::string::npos) {
      throw std::logic_error("a bad message: " + line);
    }
    ++progress.refused;
  }
  ++progress.done;
}

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// In a process of its own: little more memory than this one has, and a minute.
[[noreturn]] void read_damaged_files(const std::string& whole, int count, Progress& progress) {
  at::set_num_threads(1);
  const auto memory = address_space() + (std::size_t{64} << 20) + 16 * whole.size();
  const rlimit space{memory, memory}, seconds{60, 60};
  ::setrlimit(RLIMIT_AS, &space);
  ::setrlimit(RLIMIT_CPU, &seconds);
  const auto records = test::unzip(whole);
  const int file = ::memfd_create("damaged", MFD_CLOEXEC);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  try {
    for (int i = 0; i < count; ++i) {
      Random random(static_cast<std::uint64_t>(i));
      const std::string bytes = damaged(whole, records, random);
      if (::ftruncate(file, 0) != 0 ||
          ::pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw std::logic_error("no file");
      }
      try_file(path, progress);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    ::_exit(1);
  }
  ::_exit(0);
}

void expect_survival(const std::string& whole, int count) {
  auto* progress = static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *progress = {};
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) read_damaged_files(whole, count, *progress);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "status " << status << " at damage " << progress->done;
  EXPECT_EQ(progress->done, count);
  EXPECT_GT(progress->refused, count / 4);
  EXPECT_GT(progress->read, 0);
  ::munmap(progress, sizeof(Progress));
}

/// A detector of three layers with everything that a file can have.
std::string small_file() {
  const auto table = parse_model_table(
      "nc: 2\nanchors: [[10, 13, 16, 30]]\nbackbone:\n  - [-1, 1, Conv, [8, 6, 2, 2]]\n"
      "  - [-1, 1, C3, [8]]\nhead:\n  - [[-1], 1, Detect, [nc, anchors]]\n",
      "small");
  const test::TemporaryFolder folder;
  const std::string path = folder / "small.pt";
  const StateDict state = state_dict(Detector(resolve(table), 1));
  write_checkpoint(path, {.state = state,
                          .about = {{"yaml", to_json(table)}, {"nc", 2}, {"names", {"a", "b"}}},
                          .training = {{"momentum", torch::ones({3, 4})}}});
  return read_weights(path);
}

TEST(CheckpointFuzz, SurvivesDamageInAFileOfItsOwn) {
  expect_survival(small_file(), 5000);
}

TEST(CheckpointFuzz, SurvivesDamageInTheEmbeddedFile) {
  expect_survival(std::string(shapes_base_weights()), 500);
}

TEST(ParityCheckpointFuzz, SurvivesDamageInYolov5sFiles) {
  if (!fs::is_directory(test::checkpoints_folder())) GTEST_SKIP() << "there are no checkpoints";
  int files = 0;
  for (const auto& entry : fs::directory_iterator(test::checkpoints_folder())) {
    if (!entry.path().string().ends_with(".pt") || entry.file_size() > 2'000'000) continue;
    SCOPED_TRACE(entry.path());
    expect_survival(read_weights(entry.path()), 200);
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace evolve::trainer
