#include "trainer/run/heartbeat.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "hyp/space.hpp"
#include "trainer/data/data.hpp"
#include "trainer/run/trainer.hpp"
#include "workers/protocol/messages.hpp"

namespace evolve::trainer {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;

TEST(Heartbeat, BeatsOncePerIntervalAtMost) {
  int sent = 0;
  Heartbeat heartbeat([&](const auto&) { ++sent; }, seconds(200));
  const auto begun = Heartbeat::Clock::now();
  const auto sent_after = [&](int later) {
    heartbeat(begun + seconds(later));
    return sent;
  };
  EXPECT_EQ(sent_after(199), 0);
  EXPECT_EQ(sent_after(201), 1);
  EXPECT_EQ(sent_after(400), 1);
  EXPECT_EQ(sent_after(401), 2);
}

TEST(Heartbeat, TellsHowManyImagesArePrepared) {
  std::vector<std::string> sent;
  Heartbeat heartbeat([&](const auto& preparing) { sent.push_back(preparing); }, milliseconds(0));
  heartbeat.prepared(0, 0);
  heartbeat.prepared(7, 20);
  heartbeat();
  EXPECT_EQ(sent, (std::vector<std::string>{"images", "images 7/20", ""}));
}

TEST(Heartbeat, NeverSendsFromTwoThreadsAtOnce) {
  std::atomic<int> inside = 0, most = 0;
  Heartbeat heartbeat(
      [&](const auto&) {
        most = std::max<int>(most, ++inside);
        std::this_thread::yield();
        --inside;
      },
      milliseconds(0));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) heartbeat();
      });
    }
  }
  EXPECT_EQ(most, 1);
}

/// What a trial of `epochs` epochs writes when every beat is sent.
std::vector<std::string> lines_of_a_trial(int epochs) {
  std::vector<std::string> lines;
  const auto write = [&](const workers::FromWorker& message) {
    lines.push_back(workers::line_of(message));
  };
  Heartbeat heartbeat(
      [&](const auto& preparing) {
        write(workers::Alive{17, preparing});
      },
      milliseconds(0));
  Trainer trainer(
      "cpu", 1, [&] { heartbeat(); }, {}, nullptr,
      [&](int done, int all) { heartbeat.prepared(done, all); });
  TrainOptions options{.data = "shapes", .cfg = "yolov5p.yaml", .epochs = epochs, .imgsz = 64};
  trainer.train(options, hyp::start_of(hyp::default_space()), 1,
                [&](int epoch, const hyp::Metrics& metrics) {
                  write(workers::Epoch{17, epoch, metrics});
                });
  return lines;
}

TEST(Heartbeat, OfATrialComesBeforeBetweenAndAfterItsBatches) {
  const auto lines = lines_of_a_trial(2);
  const std::string alive = R"({"type":"alive","trial":17)";
  std::vector<int> beats{0};  // before each epoch's report
  int preparing = 0;
  for (const auto& line : lines) {
    if (!line.starts_with(alive)) {
      beats.push_back(0);
      continue;
    }
    ++beats.back();
    preparing += line == alive + R"(,"preparing":"images"})" + "\n";
  }
  EXPECT_EQ(preparing, 340) << "each image drawn";
  ASSERT_EQ(beats.size(), 3U);
  constexpr int batches = 13;  // of the 200 images of the embedded data set
  EXPECT_GE(beats[0], 340 + batches) << "each image decoded, the anchors, each batch trained";
  EXPECT_GE(beats[1], batches + 4) << "each batch trained and validated";
}

}  // namespace
}  // namespace evolve::trainer
