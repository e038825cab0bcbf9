#include "results/plots/gnuplot.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "core/error.hpp"
#include "core/spawn.hpp"
#include "core/utf8.hpp"
#include "results/run_file.hpp"

namespace evolve::results {

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// An unnamed file in memory, or on the disk where the system refuses the former (as with
/// vm.memfd_noexec=2). Unlike pipes, files can't fill up while both sides wait; and gnuplot ends
/// well when the disk does not take all that it draws.
File temporary() {
  const int memory = ::memfd_create("gnuplot", MFD_CLOEXEC);
  File file(memory < 0 ? std::tmpfile() : ::fdopen(memory, "w+"), &std::fclose);
  if (file) return file;
  const int error = errno;
  if (memory >= 0) ::close(memory);
  throw run_failed(std::string("gnuplot: ") + std::strerror(error), "try again");
}

std::string content(std::FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 65536> chunk{};
  while (const auto count = std::fread(chunk.data(), 1, chunk.size(), file)) {
    text.append(chunk.data(), count);
  }
  return text;
}

/// A picture takes a second. One that never ends is not to keep a run from ending.
constexpr std::chrono::minutes longest_drawing{1};

/// Runs gnuplot on these three streams; returns its wait status.
int run(const std::filesystem::path& image, std::FILE* input, std::FILE* output,
        std::FILE* complaints) try {
  return core::wait_status(core::spawn({.words = {"gnuplot", "--default-settings"},
                                        .input = ::fileno(input),
                                        .output = ::fileno(output),
                                        .errors = ::fileno(complaints)}),
                           longest_drawing);
} catch (const std::system_error& error) {
  if (error.code() != std::errc::no_such_file_or_directory)
    throw run_failed("gnuplot: " + error.code().message(), "try again");
  throw run_failed(
      image.string() + ": gnuplot is not installed",
      "install it (Debian: apt install gnuplot-nox), then draw with evolve plot or explain");
}

/// The line of gnuplot's complaints that says most; without any, how it ended.
std::string complaint(const std::string& text, int status) {
  if (text.empty()) return core::ending_text(status);
  const auto hint = text.find(": ");  // "line 12: undefined function"
  const auto begin = hint == std::string::npos ? 0 : hint + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

void run_gnuplot(const std::string& script, const std::filesystem::path& image) {
  const File input = temporary(), output = temporary(), complaints = temporary();
  std::fwrite(script.data(), 1, script.size(), input.get());
  if (std::fflush(input.get()) != 0) throw write_failed(image, errno);
  std::rewind(input.get());

  const int status = run(image, input.get(), output.get(), complaints.get());
  const std::string drawn = content(output.get());
  if (status != 0 || drawn.empty()) {
    throw run_failed(
        image.string() + ": gnuplot failed (" + complaint(content(complaints.get()), status) + ")",
        "only the plot is missing: draw again");
  }
  write_output(image, drawn);
}

std::string gnuplot_quoted(const std::string& text) {
  // Between single quotes only these end the string or the line; doubled quotes confuse
  // gnuplot 5.4.
  std::string quoted = "'";
  for (const char c : core::printable(text)) {
    if (c == '\'') {
      quoted += "’";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace evolve::results
