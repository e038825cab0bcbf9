// What a worker reports of its device must be its slot's.
#include "tests/workers/fixture.hpp"
#include "workers/supervise/run_job.hpp"

namespace evolve::workers {
namespace {

using hyp::FailureKind;

class Device : public Workers {
 protected:
  /// How a trial on this slot ends with a worker that reports this; "" when it completes.
  std::string failure_of(const core::Slot& slot, const std::string& reported) {
    WorkerSet workers(settings("has " + reported), stop);
    workers.start(trial(0, "ok"), lease(slot));
    const auto end = ends(workers).at(0);
    if (const auto* failed = std::get_if<NotTrained>(&end)) {
      EXPECT_EQ(failed->kind, FailureKind::protocol);
      return failed->message;
    }
    return "";
  }

  const core::Slot xpu{.name = "xpu:1",
                       .identities = {{"86800000-0400-0000-0000-000000000000", "0000:04:00.0"}}};
  const core::Slot cuda{.name = "cuda:0", .identities = {{"GPU-ab-cd", "0000:03:00.0"}}};
};

TEST_F(Device, OfTheSlotIsWelcome) {
  EXPECT_EQ(failure_of(xpu, R"({"uuid":"86800000-0400-0000-0000-000000000000"})"), "");
  EXPECT_EQ(failure_of(xpu, R"({"pci":"0000:04:00.0"})"), "");
}

TEST_F(Device, IsToldWithWhatWasTrainedOnIt) {
  WorkerSet workers(settings(R"(has {"uuid":"GPU-ab-cd","pci":"0000:03:00.0"})"), stop);
  const core::DeviceIdentity told{"GPU-ab-cd", "0000:03:00.0"};
  EXPECT_EQ(trained(workers, 0, "ok").identity, told);
  EXPECT_EQ(trained(workers, 1, "is ready again").identity, told) << "which takes nothing back";
  EXPECT_EQ(std::get<NotTrained>(run(workers, 2, "crash")).identity, told);
}

TEST_F(Device, MayBeAnyOfAGroup) {
  const core::Slot group{.name = "cuda:0+cuda:1",
                         .identities = {{"GPU-aa", "0000:03:00.0"}, {"GPU-bb", "0000:04:00.0"}}};
  EXPECT_EQ(failure_of(group, R"({"uuid":"GPU-aa"})"), "");
  EXPECT_EQ(failure_of(group, R"({"uuid":"GPU-bb","pci":"0000:04:00.0"})"), "");
  EXPECT_EQ(failure_of(group, R"({"uuid":"GPU-cc"})"),
            "it has the device GPU-cc, but its slot's is GPU-aa or GPU-bb");
  EXPECT_EQ(failure_of(group, R"({"uuid":"GPU-aa","pci":"0000:04:00.0"})"),
            "it has the device at 0000:04:00.0, but its slot's is at 0000:03:00.0");
}

TEST_F(Device, OfARankIsTheOneInItsPlace) {
  const core::Slot group{.name = "xpu:0+xpu:1+xpu:2",
                         .identities = {{"aa", "0000:03:00.0"}, {"bb", ""}, {"cc", ""}}};
  EXPECT_EQ(failure_of(group, R"({"uuid":"aa","ranks":[{"uuid":"bb"},{"uuid":"cc"}]})"), "");
  EXPECT_EQ(failure_of(group, R"({"uuid":"aa","ranks":[{},{"uuid":"cc"}]})"), "");
  EXPECT_EQ(failure_of(group, R"({"uuid":"aa","ranks":[{"uuid":"bb"},{"uuid":"bb"}]})"),
            "rank 2 has the device bb, but its slot's is cc");
}

TEST_F(Device, OfAnotherSlotIsRefused) {
  EXPECT_EQ(failure_of(xpu, R"({"uuid":"86800000-0300-0000-0000-000000000000"})"),
            "it has the device 86800000-0300-0000-0000-000000000000, but its slot's is "
            "86800000-0400-0000-0000-000000000000");
  EXPECT_EQ(failure_of(xpu, R"({"pci":"0000:03:00.0"})"),
            "it has the device at 0000:03:00.0, but its slot's is at 0000:04:00.0");
  EXPECT_EQ(failure_of(xpu, R"({"pci":"0001:04:00.0"})"),
            "it has the device at 0001:04:00.0, but its slot's is at 0000:04:00.0");
}

TEST_F(Device, IsTheSameHoweverItIsWritten) {
  EXPECT_EQ(failure_of(xpu, R"({"uuid":"86800000040000000000000000000000"})"), "");
  EXPECT_EQ(failure_of(cuda, R"({"uuid":"GPU-AB-CD"})"), "");
  EXPECT_EQ(failure_of(cuda, R"({"uuid":"ab-cd"})"), "");
  EXPECT_EQ(failure_of(cuda, R"({"pci":"00000000:03:00.0"})"), "");
  EXPECT_EQ(failure_of(cuda, R"({"pci":"03:00.0"})"), "");
}

TEST_F(Device, NeedNotBeReported) {
  EXPECT_EQ(failure_of(xpu, R"({"uuid":null,"pci":null})"), "");
  EXPECT_EQ(failure_of(xpu, "{}"), "");
}

TEST_F(Device, OfASlotWithoutOneIsNotCompared) {
  EXPECT_EQ(failure_of({.name = "npu:0"}, R"({"uuid":"77","pci":"0000:03:00.0"})"), "");
}

TEST_F(Device, OfAnotherSlotIsRefusedInATrainingToo) {
  const auto end = run_job({.command = {FAKE_WORKER, R"(has {"uuid":"GPU-ff"})"}}, cuda,
                           TrainingJob{.dir = directory.path().string()}, {}, stop);
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->message, "it has the device GPU-ff, but its slot's is GPU-ab-cd");
}

}  // namespace
}  // namespace evolve::workers
