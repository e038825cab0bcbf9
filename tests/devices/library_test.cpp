#include "devices/library.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::devices {
namespace {

TEST(Library, ThatIsNotThereMeansNoDriver) {
  EXPECT_EQ(test::refusal<NoDriver>([&] { const Library library("libno-such-driver.so.1"); }),
            "libno-such-driver.so.1 is not installed");
}

TEST(Library, ThatIsDamagedIsAFault) {
  const test::TemporaryFolder folder;
  const auto file = folder / "libdamaged.so";
  std::ofstream(file) << "no library";
  try {
    const Library library(file.c_str());
    ADD_FAILURE();
  } catch (const NoDriver&) {
    ADD_FAILURE() << "it is there";
  } catch (const std::runtime_error& fault) {
    EXPECT_TRUE(std::string(fault.what()).starts_with(file.string())) << fault.what();
  }
}

TEST(Library, HasFunctionsOrSaysWhichItLacks) {
  const Library math("libm.so.6");
  EXPECT_EQ(math.get<double(double)>("floor")(2.5), 2);
  EXPECT_EQ(math.find<void()>("no_such_function"), nullptr);
  EXPECT_EQ(test::refusal<std::runtime_error>([&] { math.get<void()>("no_such_function"); }),
            "libm.so.6 has no no_such_function");
}

}  // namespace
}  // namespace evolve::devices
