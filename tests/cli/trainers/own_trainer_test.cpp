#include "cli/trainers/own_trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::cli {
namespace {

using testing::Optional;

struct PlaceOfProgram : testing::Test {
  test::TemporaryFolder folder;

  std::string file(const std::string& name) const {
    const auto path = (folder.path() / name).string();
    std::ofstream(path) << "";
    return path;
  }
};

TEST_F(PlaceOfProgram, IsThatOfTheFirstScript) {
  const auto script = file("train.py"), config = file("config.py");
  EXPECT_THAT(place_of_program({"python", script, "{hyp}", config}), Optional(1U));
  EXPECT_THAT(place_of_program({"python", "-u", script, "{hyp}"}), Optional(2U));
  EXPECT_THAT(place_of_program({"torchrun", "--nproc_per_node", "2", script}), Optional(3U));
  EXPECT_THAT(place_of_program({script, "{hyp}", config}), Optional(0U));
  EXPECT_THAT(place_of_program({"python", "gone.py", "{hyp}"}), std::nullopt);
}

TEST_F(PlaceOfProgram, IsWhereTheScriptWasWhenTheRunBegan) {
  const nlohmann::ordered_json began_with = {{"program", {2U, 77U}}};
  EXPECT_THAT(place_of_program({"uv", "run", "gone.py", "{hyp}"}, began_with), Optional(2U));
  EXPECT_THAT(place_of_program({"trainer", "fit", "{hyp}"}, began_with), std::nullopt);
}

TEST_F(PlaceOfProgram, IsTheProgramsWhereThatIsNamedByItsPathAndGivenNoScript) {
  const auto program = file("train"), log = file("last.log");
  EXPECT_THAT(place_of_program({program, log, "{hyp}"}), Optional(0U));
  EXPECT_THAT(place_of_program({"train", log, "{hyp}"}), std::nullopt);
}

TEST(CheckScriptFound, RefusesAnInterpreterWithoutItsScript) {
  const auto refused = [](std::vector<std::string> words) {
    return test::refusal(
        [&] { check_script_found(WorkerCommand{std::move(words)}, /*begins=*/true); });
  };
  EXPECT_EQ(refused({"/usr/bin/python3.11", "-u", "gone.py"}),
            "gone.py: No such file or directory; name a script that exists");
  EXPECT_EQ(refused({"sh", "gone.sh", "{hyp}"}),
            "gone.sh: No such file or directory; name a script that exists");
  EXPECT_EQ(refused({"sh", "-c", "./gone.sh"}), "accepted");
  EXPECT_EQ(refused({"bash", "-e", "gone.sh"}),
            "gone.sh: No such file or directory; name a script that exists");
  EXPECT_EQ(refused({"bash", "-lc", "exec python3 gone.py"}), "accepted");
  EXPECT_EQ(refused({"python3", "-m", "package", "made.py"}), "accepted");
  EXPECT_EQ(refused({"sh", "{dir}/../gone.sh"}), "accepted") << "it is not known yet";
  EXPECT_EQ(refused({"docker", "run", "image", "python3", "gone.py"}), "accepted");
  EXPECT_EQ(refused({"make_config", "made.py"}), "accepted") << "it may make it";
}

}  // namespace
}  // namespace evolve::cli
