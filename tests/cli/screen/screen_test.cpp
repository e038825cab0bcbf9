#include "cli/screen/screen.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

namespace evolve::cli {
namespace {

TEST(Screen, WritesPlainLinesIntoAFile) {
  std::FILE* file = std::tmpfile();
  {
    Screen screen(file);
    screen.line("one");
    screen.show("live");
    screen.detail("two");
    screen.clear();
  }
  std::rewind(file);
  char text[64] = {};
  const auto length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  EXPECT_EQ(std::string(text, length), "one\ntwo\n");
}

TEST(Screen, ShowsABlankForWhatWouldTellATerminalWhatToDo) {
  std::FILE* file = std::tmpfile();
  {
    Screen screen(file, std::chrono::seconds(0));
    screen.line("class c\x1b[31mat");
    screen.as_it_is("evolve --resume 'a\nb'");
    screen.show(
        "trial 1 of c\xc2\x9b"
        "at");
  }
  std::rewind(file);
  char text[80] = {};
  const auto length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  EXPECT_EQ(std::string(text, length), "class c [31mat\nevolve --resume 'a b'\ntrial 1 of c at\n");
}

TEST(Screen, TellsWhereARunStandsNowAndThenInAFile) {
  std::FILE* file = std::tmpfile();
  Screen screen(file, std::chrono::seconds(0));
  screen.show("17/48 trials");
  std::rewind(file);
  char text[64] = {};
  const auto length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  EXPECT_EQ(std::string(text, length), "17/48 trials\n");
}

/// Writes more than there is room for before anything is read at the other end.
void expect_all_without_waiting(int reading, int writing) {
  std::FILE* file = ::fdopen(writing, "w");
  std::string expected, got;
  std::thread reader;
  {
    Screen screen(file);
    for (int i = 0; i < 1000; ++i) {
      const auto line = "line " + std::to_string(i) + " of a run whose pager stands still";
      screen.line(line);
      expected += line + "\n";
    }
    reader = std::thread([&] {
      std::array<char, 1000> bytes;
      for (ssize_t count = 1; count > 0; got.append(bytes.data(), static_cast<std::size_t>(count)))
        count = ::read(reading, bytes.data(), bytes.size());
    });
  }
  std::fclose(file);
  reader.join();
  ::close(reading);
  EXPECT_EQ(got, expected);
}

TEST(Screen, WaitsForNobodyWhoDoesNotReadAndLosesNothing) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ::fcntl(pipe[1], F_SETPIPE_SZ, 4096);
  expect_all_without_waiting(pipe[0], pipe[1]);
}

TEST(Screen, WaitsForNobodyAtAPipeThatItMayNotOpen) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ::fcntl(pipe[1], F_SETPIPE_SZ, 4096);
  ASSERT_EQ(::fchmod(pipe[1], 0), 0);
  constexpr uid_t nobody = 65534;  // root may open any
  const uid_t before = ::geteuid();
  if (before == 0) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  expect_all_without_waiting(pipe[0], pipe[1]);
  ASSERT_EQ(::seteuid(before), 0);
}

TEST(Screen, WaitsForNobodyAtASocket) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  constexpr int bytes = 4096;
  ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  expect_all_without_waiting(ends[0], ends[1]);
}

}  // namespace
}  // namespace evolve::cli
