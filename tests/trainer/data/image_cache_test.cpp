#include "trainer/data/image_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <system_error>
#include <thread>

#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"
#include "trainer/data/dataset.hpp"

namespace evolve::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

/// Five images, 32 x 26 pixels in the data set: 2496 bytes each.
struct ImageCacheTest : testing::Test {
  TemporaryFolder folder;
  DataConfig config{
      .file = folder / "d.yaml", .names = {"cat"}, .train = {}, .val = {}, .test = {}};
  std::vector<std::string> notes;

  ImageCacheTest() {
    for (int i = 0; i < 5; ++i)
      config.train.push_back(write_image(folder / ("images/" + std::to_string(i) + ".png")));
    write_file(folder / "labels/0.txt", "0 0.5 0.5 0.5 0.5\n");
  }

  LoadOptions options(Keep keep = Keep::ram) {
    return {.imgsz = 32,
            .keep = keep,
            .cache_folder = folder / "cache",
            .threads = 2,
            .memory_budget = [] { return std::uint64_t{1} << 30; },
            .note = [this](const std::string& line) { notes.push_back(line); }};
  }

  Dataset loaded(const LoadOptions& wanted) {
    notes.clear();
    return load(config, Split::train, wanted);
  }

  /// Those of a name that has this in it.
  std::vector<std::string> files_in_cache(const std::string& part) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "cache"))
      if (entry.path().filename().string().find(part) != std::string::npos)
        files.push_back(entry.path().string());
    return files;
  }

  std::string cache() {
    for (const auto& file : files_in_cache("images-"))
      if (!file.ends_with(".lock") && !file.ends_with(".part")) return file;
    return "none";
  }
};

void expect_same(const Dataset& one, const Dataset& other) {
  ASSERT_EQ(one.images.size(), other.images.size());
  for (int i = 0; i < static_cast<int>(one.images.size()); ++i) {
    const Image& a = one.images[static_cast<std::size_t>(i)];
    const Image& b = other.images[static_cast<std::size_t>(i)];
    EXPECT_EQ(a.file, b.file);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(size_of(one, i), size_of(other, i));
    EXPECT_EQ(cv::norm(pixels_of(one, i), pixels_of(other, i), cv::NORM_INF), 0);
  }
}

TEST_F(ImageCacheTest, HasTheVeryPixelsThatDecodingGives) {
  auto no_folder = options();
  no_folder.cache_folder = "";
  const Dataset own = loaded(no_folder);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("this process keeps its own copy of the images"),
                                 "train: 5 of 5 images in this process' memory, 5 decoded now"));
  EXPECT_EQ(own.cache, nullptr);
  for (const Keep keep : {Keep::ram, Keep::disk, Keep::none})
    expect_same(own, loaded(options(keep)));
}

TEST_F(ImageCacheTest, IsMadeOnceAndThenReadWithoutDecoding) {
  const Dataset first = loaded(options());
  EXPECT_THAT(notes, ElementsAre("train: 5 of 5 images in " + cache() + ", 5 decoded now"));
  for (const Keep keep : {Keep::disk, Keep::ram}) {
    const Dataset second = loaded(options(keep));
    EXPECT_THAT(notes, ElementsAre("train: 5 of 5 images in " + cache() + ", 0 decoded now"));
    EXPECT_FALSE(second.on_disk);
    expect_same(first, second);
  }
  EXPECT_THAT(files_in_cache(".part"), ElementsAre());
}

TEST_F(ImageCacheTest, DecodesWhatHasChangedAndNothingElse) {
  const Dataset before = loaded(options());
  write_image(config.train[3], 40, 20);
  const Dataset after = loaded(options());
  EXPECT_THAT(notes, ElementsAre("train: 5 of 5 images in " + cache() + ", 1 decoded now"));
  EXPECT_EQ(after.images[3].pixels.size(), cv::Size(32, 16));
  EXPECT_EQ(before.images[3].pixels.size(), cv::Size(32, 26));  // who has it goes on with it
  config.train.push_back(write_image(folder / "images/5.png"));
  loaded(options());
  EXPECT_THAT(notes, ElementsAre("train: 6 of 6 images in " + cache() + ", 1 decoded now"));
  config.train.resize(2);
  loaded(options());
  EXPECT_THAT(notes, ElementsAre("train: 2 of 2 images in " + cache() + ", 0 decoded now"));
}

TEST_F(ImageCacheTest, IsAnotherOneForAnotherSizeAndForValidation) {
  loaded(options());
  auto other = options();
  other.imgsz = 64;
  loaded(other);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("5 decoded now")));
  other.training = false;
  loaded(other);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("5 decoded now")));
  loaded(options());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("0 decoded now")));
}

TEST_F(ImageCacheTest, HoldsAsManyAsThereIsMemoryForAndTheOthersAreDecodedAtEachUse) {
  for (int i = 5; i < 9; ++i)
    config.train.push_back(write_image(folder / ("images/" + std::to_string(i) + ".png")));
  auto tight = options();
  tight.memory_budget = [] { return std::uint64_t{19000}; };
  const Dataset some = loaded(tight);
  EXPECT_THAT(notes, ElementsAre("train: 7 of 9 images in " + cache() + ", 7 decoded now"));
  EXPECT_TRUE(some.on_disk);
  read_ahead(some, std::vector<int>{0, 8});
  expect_same(some, loaded(options(Keep::none)));
  // Room for one image more is no reason to write all of them again.
  tight.memory_budget = [] { return std::uint64_t{21500}; };
  loaded(tight);
  EXPECT_THAT(notes, ElementsAre("train: 7 of 9 images in " + cache() + ", 0 decoded now"));
  loaded(options());
  EXPECT_THAT(notes, ElementsAre("train: 9 of 9 images in " + cache() + ", 2 decoded now"));
  loaded(tight);
  EXPECT_THAT(notes, ElementsAre("train: 9 of 9 images in " + cache() + ", 0 decoded now"));
}

TEST_F(ImageCacheTest, ThatIsNotWholeIsMadeAgain) {
  loaded(options());
  const std::string file = cache(), whole = read_file(file);
  std::string other_table = whole;
  other_table[60] ^= 1;
  for (const auto& bytes : {std::string(), std::string("rubbish"), whole.substr(0, 100),
                            whole.substr(0, whole.size() - 1), other_table}) {
    write_file(file, bytes);
    loaded(options());
    EXPECT_THAT(notes, ElementsAre("train: 5 of 5 images in " + file + ", 5 decoded now"));
    EXPECT_EQ(read_file(file), whole);
  }
}

TEST_F(ImageCacheTest, WhoseMakerWasKilledIsMadeByTheNextProcess) {
  const Dataset first = loaded(options());
  const std::string file = cache(), whole = read_file(file);
  std::filesystem::remove(file);
  const pid_t maker = fork();
  if (maker == 0) {
    const MakerLock lock(file, [](int, int) {});
    NewFile half(file, whole.size(), [](int, int) {});
    half.write(0, whole.substr(0, whole.size() / 2));
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(maker, &status, 0);
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(files_in_cache(".part").size(), 1U);
  EXPECT_EQ(ImageCache::open(file), nullptr);
  expect_same(first, loaded(options()));
  EXPECT_THAT(notes, ElementsAre("train: 5 of 5 images in " + file + ", 5 decoded now"));
  EXPECT_THAT(files_in_cache(".part"), ElementsAre());
}

TEST_F(ImageCacheTest, ThatIsMadeRemovesWhatKilledMakersOfOthersLeftAndNothingElse) {
  loaded(options());
  const std::string left = folder / "cache/images-1.0123abcd.part";
  const std::string making = folder / "cache/images-2.0123abcd.part";
  for (const auto& part : {left, making}) write_file(part, "half");
  MakerLock(folder / "cache/images-1", [](int, int) {});  // as it was before the maker was killed
  const MakerLock lock(folder / "cache/images-2", [](int, int) {});
  auto larger = options();
  larger.imgsz = 48;
  loaded(larger);
  EXPECT_THAT(files_in_cache(".part"), ElementsAre(making));
}

TEST_F(ImageCacheTest, IsMadeThoughItsLockIsAnotherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  std::filesystem::create_directory(folder / "shared");
  for (const auto& shared : {folder.path().string(), std::string(folder / "shared")})
    ASSERT_EQ(::chmod(shared.c_str(), 0777), 0);
  const auto file = folder / "shared/images-1";
  const auto mask = ::umask(022);
  MakerLock(file, [](int, int) {});
  ::umask(mask);
  const pid_t other = fork();
  if (other == 0) {
    if (::setuid(65534) != 0) _exit(2);
    try {
      const MakerLock lock(file, [](int, int) {});
    } catch (const std::system_error&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(ImageCacheTest, IsWaitedForWhileAnotherProcessMakesIt) {
  loaded(options());
  const std::string file = cache(), whole = read_file(file);
  std::filesystem::remove(file);
  int locked[2], go_on[2];
  ASSERT_EQ(pipe(locked), 0);
  ASSERT_EQ(pipe(go_on), 0);
  char byte = 0;
  const pid_t maker = fork();
  if (maker == 0) {
    const MakerLock lock(file, [](int, int) {});
    if (write(locked[1], "l", 1) != 1 || read(go_on[0], &byte, 1) != 1) _exit(1);
    NewFile made(file, whole.size(), [](int, int) {});
    made.write(0, whole);
    made.replace();
    _exit(0);
  }
  ASSERT_EQ(read(locked[0], &byte, 1), 1);
  auto waiting = options();
  int beats = 0;
  waiting.beat = [&](int, int) {
    if (++beats == 5) {
      EXPECT_EQ(write(go_on[1], "g", 1), 1);
    }
  };
  loaded(waiting);
  EXPECT_GE(beats, 5);
  EXPECT_THAT(notes, ElementsAre("train: 5 of 5 images in " + file + ", 0 decoded now"));
  waitpid(maker, nullptr, 0);
}

TEST_F(ImageCacheTest, IsInFoldersForItsUserAlone) {
  const std::string made = folder / "root/evolve";
  MakerLock(made + "/images", [](int, int) {});
  std::filesystem::create_directory(folder / "shared");
  const auto rights = std::filesystem::status(folder / "shared").permissions();
  MakerLock(folder / "shared/images", [](int, int) {});
  for (const auto& one : {std::string(folder / "root"), made})
    EXPECT_EQ(std::filesystem::status(one).permissions(), std::filesystem::perms::owner_all) << one;
  EXPECT_EQ(std::filesystem::status(folder / "shared").permissions(), rights);
}

TEST_F(ImageCacheTest, IsMadeByOneThoughItsFolderIsRemovedWhileOthersWait) {
  loaded(options());
  const auto file = cache();
  auto first = std::make_unique<MakerLock>(file, [](int, int) {});
  std::atomic<int> beats = 0;
  std::atomic<bool> second_has_it = false;
  std::thread waiting([&] {
    const MakerLock second(file, [&](int, int) { ++beats; });
    second_has_it = true;
  });
  while (beats == 0) std::this_thread::yield();
  std::filesystem::remove_all(folder / "cache");
  auto third = std::make_unique<MakerLock>(file, [](int, int) {});  // of the new folder
  first.reset();
  for (const int before = beats; !second_has_it && beats < before + 5;) std::this_thread::yield();
  EXPECT_FALSE(second_has_it);
  third.reset();
  waiting.join();
  EXPECT_TRUE(second_has_it);
}

TEST_F(ImageCacheTest, OfAnotherIsNotTouchedByWhoseOwnWasRemovedWithItsFolderInTheMaking) {
  const Dataset first = loaded(options());
  const std::string file = cache(), whole = read_file(file);
  std::filesystem::remove(file);
  std::optional<MakerLock> lock;
  std::optional<NewFile> others;
  auto interrupted = options();
  interrupted.threads = 1;
  interrupted.beat = [&](int, int) {
    if (others || files_in_cache(".part").empty()) return;
    std::filesystem::remove_all(folder / "cache");
    lock.emplace(file, [](int, int) {});
    others.emplace(file, whole.size(), [](int, int) {});
    others->write(0, whole.substr(0, whole.size() / 2));
  };
  const Dataset own = loaded(interrupted);
  ASSERT_TRUE(others);
  EXPECT_THAT(notes, ElementsAre("train: no cache in '" + (folder / "cache") +
                                     "' (No such file or directory): this process keeps its own "
                                     "copy of the images",
                                 "train: 5 of 5 images in this process' memory, 5 decoded now"));
  expect_same(first, own);
  EXPECT_EQ(cache(), "none");
  others->write(0, whole);
  others->replace();
  lock.reset();
  expect_same(first, loaded(options()));
  EXPECT_THAT(notes, ElementsAre("train: 5 of 5 images in " + file + ", 0 decoded now"));
}

TEST_F(ImageCacheTest, WhereNothingCanBeWrittenEachProcessHasItsOwnCopyOrDecodesAtEachUse) {
  write_file(folder / "cache", "no folder");
  const Dataset own = loaded(options());
  EXPECT_THAT(notes, ElementsAre("train: no cache in '" + (folder / "cache") +
                                     "' (Not a directory): this process keeps its own copy of the "
                                     "images",
                                 "train: 5 of 5 images in this process' memory, 5 decoded now"));
  expect_same(own, loaded(options(Keep::disk)));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("(Not a directory): images are decoded at each use")));
}

TEST_F(ImageCacheTest, OnAFullDiskIsGivenUpBeforeAnythingIsDecodedForIt) {
  loaded(options(Keep::none));  // the labels have found room
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);  // posix_fallocate() then fails as on a full disk
  const rlimit little{4000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  loaded(options());
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("(File too large): this process keeps its own copy"),
                                 "train: 5 of 5 images in this process' memory, 5 decoded now"));
  EXPECT_THAT(files_in_cache(".part"), ElementsAre());
}

TEST_F(ImageCacheTest, IsNoneWhereTheDiskHasLessRoomThanMemory) {
  for (const std::uint64_t room : {0U, 10000U}) {
    auto tight = options();
    tight.disk_room = [room](const std::string&) { return room; };
    const Dataset own = loaded(tight);
    EXPECT_THAT(notes,
                ElementsAre(HasSubstr("(No space left on device): this process keeps its own copy"),
                            "train: 5 of 5 images in this process' memory, 5 decoded now"));
    EXPECT_FALSE(own.on_disk);
    EXPECT_EQ(cache(), "none");
  }
  loaded(options());
  auto full = options();
  full.disk_room = [](const std::string&) { return std::uint64_t{0}; };
  loaded(full);
  EXPECT_THAT(notes, ElementsAre("train: 5 of 5 images in " + cache() + ", 0 decoded now"));
}

TEST_F(ImageCacheTest, ThatCannotBeMadeAnewServesForWhatHasNotChanged) {
  loaded(options());
  const auto file = cache();
  write_image(config.train[3], 40, 20);
  for (const Keep keep : {Keep::ram, Keep::disk}) {
    auto full = options(keep);
    full.disk_room = [](const std::string&) { return std::uint64_t{0}; };
    if (keep == Keep::disk) full.memory_budget = [] { return std::uint64_t{0}; };
    const Dataset after = loaded(full);
    ASSERT_NE(after.cache, nullptr);
    EXPECT_EQ(pixels_of(after, 3).size(), cv::Size(32, 16));
    EXPECT_EQ(pixels_of(after, 2).size(), cv::Size(32, 26));
    EXPECT_EQ(after.images[2].pixels.empty(), false);
    EXPECT_EQ(after.images[3].pixels.empty(), keep == Keep::disk);
    EXPECT_EQ(cache(), file);
    if (keep == Keep::disk) continue;
    EXPECT_THAT(notes,
                ElementsAre("train: no new cache in '" + (folder / "cache") +
                                "' (No space left on device): this process keeps its own copy of "
                                "the images that the old one lacks",
                            "train: 5 of 5 images in the old cache and this process' memory, 1 "
                            "decoded now"));
  }
}

TEST_F(ImageCacheTest, WithDiskHoldsAsManyAsTheDiskHasRoomForAndSaysWhereThatIsNone) {
  auto tight = options(Keep::disk);
  tight.disk_room = [](const std::string&) { return std::uint64_t{0}; };
  loaded(tight);
  EXPECT_THAT(notes,
              ElementsAre(HasSubstr("(No space left on device): images are decoded at each use")));
  tight.disk_room = [](const std::string&) { return std::uint64_t{9000}; };
  EXPECT_TRUE(loaded(tight).on_disk);
  EXPECT_THAT(notes, ElementsAre("train: 3 of 5 images in " + cache() + ", 3 decoded now"));
  // With memory it is then made again, whole.
  loaded(options());
  EXPECT_THAT(notes, ElementsAre("train: 5 of 5 images in " + cache() + ", 2 decoded now"));
}

TEST_F(ImageCacheTest, OfAnImageThatCannotBeDecodedIsNotMade) {
  std::string bytes = read_file(config.train[2]);
  bytes[bytes.find("IDAT") + 6] ^= 0x55;
  write_file(config.train[2], bytes);
  EXPECT_EQ(test::refusal([&] { loaded(options()); }),
            config.train[2] +
                ": cannot be decoded; convert it to .jpg or .png, or begin without it: "
                "--skip-bad");
  EXPECT_EQ(cache(), "none");
  EXPECT_THAT(files_in_cache(".part"), ElementsAre());
}

}  // namespace
}  // namespace evolve::data
