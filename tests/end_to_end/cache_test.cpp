// Decoded images lie on a machine once: real workers, real files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <regex>

#include "process.hpp"

namespace evolve::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ImageCacheOfAMachine : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(evolve(folder.path(), {"dataset", "shapes", "shapes"}).code, 0);
    ASSERT_EQ(evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                                     "--trials", "1", "--output", "fake"})
                  .code,
              0);
    hyp = journal(folder / "fake")[1]["hyp"];
  }

  /// `evolve-worker` with one short trial, and the cache folder of this test.
  std::unique_ptr<Process> worker(const std::string& cache) {
    const nlohmann::json train = {{"type", "train"},
                                  {"trial", 1},
                                  {"hyp", hyp},
                                  {"epochs", 1},
                                  {"device", "cpu:0"},
                                  {"seed", 1},
                                  {"dir", folder.path().string()},
                                  {"options",
                                   {{"data", (folder / "shapes/shapes.yaml").string()},
                                    {"cfg", "yolov5p.yaml"},
                                    {"imgsz", 64},
                                    {"cache", cache}}}};
    write_file(folder / "input", train.dump() + "\n");
    return std::make_unique<Process>(
        std::vector<std::string>{"/bin/sh", "-c",
                                 "OMP_NUM_THREADS=1 exec " EVOLVE_BINARY "-worker < input"},
        folder.path());
  }

  /// Evolves two trials on two slots; the rows of evolve.csv in the order of their text.
  std::vector<std::string> rows(const std::string& run, std::vector<std::string> more,
                                const std::string& cache_home = "") {
    std::vector<std::string> arguments{"--data",       "shapes/shapes.yaml",
                                       "--cfg",        "yolov5p.yaml",
                                       "--imgsz",      "64",
                                       "--epochs",     "2",
                                       "--trials",     "2",
                                       "--population", "2",
                                       "--lag",        "2",
                                       "--devices",    "cpu:0,cpu:1",
                                       "--fraction",   "0.2",
                                       "--output",     run};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto command = evolve_command(arguments);
    if (!cache_home.empty())
      command.insert(command.begin(), {"/usr/bin/env", "XDG_CACHE_HOME=" + cache_home});
    const auto ended = Process(command, folder.path()).wait();
    EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
    auto rows = lines_of(read_file(folder / (run + "/evolve.csv")));
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows.size(), 3u);
    return rows;
  }

  std::string logs(const std::string& run) {
    return read_file(folder / (run + "/trials/000000/log")) +
           read_file(folder / (run + "/trials/000001/log"));
  }

  /// The files of decoded images.
  std::vector<fs::path> files() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(cache_of(folder.path()) / "evolve")) {
      const auto name = entry.path().filename().string();
      if (name.starts_with("images-") && name.find('.') == name.npos) found.push_back(entry.path());
    }
    return found;
  }

  Folder folder;
  /// A start to train from.
  nlohmann::json hyp;
};

/// The sum of all "… 240 decoded now".
int decoded_in(const std::string& log) {
  const std::regex pattern("([0-9]+) decoded now");
  int sum = 0;
  for (auto it = std::sregex_iterator(log.begin(), log.end(), pattern);
       it != std::sregex_iterator(); ++it)
    sum += std::stoi((*it)[1]);
  return sum;
}

TEST_F(ImageCacheOfAMachine, IsMadeOnceByWorkersThatStartTogetherAndNeverByLaterOnes) {
  std::vector<std::unique_ptr<Process>> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(worker("ram"));
  std::string logs;
  for (auto& process : workers) {
    const auto ended = process->wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("train: 240 of 240 images in "));
    EXPECT_THAT(ended.err, HasSubstr("val: 100 of 100 images in "));
    logs += ended.err;
  }
  EXPECT_EQ(decoded_in(logs), 340) << logs;
  EXPECT_EQ(files().size(), 2u);
  EXPECT_EQ(decoded_in(worker("disk")->wait().err), 0);

  fs::copy_file(folder / "shapes/images/train/0000.png", folder / "shapes/images/train/0001.png",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(decoded_in(worker("ram")->wait().err), 1);
  EXPECT_EQ(decoded_in(worker("ram")->wait().err), 0);
}

TEST_F(ImageCacheOfAMachine, IsMadeByTheNextWorkerWhereOneIsKilledWhileItMakesIt) {
  // Many copies, so that the first worker can be caught at it.
  for (int i = 0; i < 800; ++i)
    fs::create_hard_link(folder / "shapes/images/train/0000.png",
                         folder / ("shapes/images/train/more" + std::to_string(i) + ".png"));
  const auto half_made = [&] {
    const auto cache = cache_of(folder.path()) / "evolve";
    if (!fs::exists(cache)) return false;
    for (const auto& entry : fs::directory_iterator(cache)) {
      const auto name = entry.path().filename().string();
      if (name.starts_with("images-") && name.ends_with(".part")) return true;
    }
    return false;
  };
  const auto first = worker("ram");
  ASSERT_TRUE(eventually(half_made));
  first->signal(SIGKILL);
  EXPECT_EQ(first->wait().code, 128 + SIGKILL);
  ASSERT_TRUE(half_made());
  EXPECT_EQ(files().size(), 0u);
  const auto next = worker("ram")->wait();
  EXPECT_THAT(next.err, HasSubstr("train: 1040 of 1040 images in "));
  EXPECT_EQ(decoded_in(next.err), 1140) << next.err;
  EXPECT_FALSE(half_made());
}

TEST_F(ImageCacheOfAMachine, ChangesNoResultWhateverItsKindAndWhetherThereIsOneOrNot) {
  const auto ram = rows("ram", {});
  EXPECT_EQ(decoded_in(logs("ram")), 48 + 100);
  EXPECT_EQ(rows("disk", {"--cache", "disk"}), ram);
  EXPECT_EQ(decoded_in(logs("disk")), 0);
  EXPECT_EQ(rows("none", {"--cache", "none"}), ram);
  EXPECT_EQ(logs("none").find("decoded now"), std::string::npos);
  write_file(folder / "file", "no folder");
  EXPECT_EQ(rows("own", {}, (folder / "file").string()), ram);
  EXPECT_THAT(logs("own"), HasSubstr("this process keeps its own copy of the images"));
}

}  // namespace
}  // namespace evolve::test
