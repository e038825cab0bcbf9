#include "workers/supervise/process.hpp"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/file_descriptor.hpp"
#include "core/spawn.hpp"
#include "workers/protocol/messages.hpp"
#include "workers/supervise/child_reaper.hpp"

namespace evolve::workers {
namespace {

namespace asio = boost::asio;
using Stream = asio::posix::stream_descriptor;

/// How much is read before other workers have their turn, and time limits theirs: a line is little,
/// and what is made of it takes long under a sanitizer.
constexpr std::size_t one_turn = 1 << 14;

/// trial-reaper: beside evolve in a build folder, in libexec/ of an installation. Nothing where
/// neither is there or may be started, and under the sanitizers, which are to see the reaper too.
std::optional<std::string> reaper_program() {
#ifndef EVOLVE_SANITIZED
  std::error_code absent;  // as is /proc, maybe
  const auto here = std::filesystem::read_symlink("/proc/self/exe", absent).parent_path();
  if (here.empty()) return {};
  for (const auto& folder : {here, here.parent_path() / "libexec/evolve"}) {
    const auto program = (folder / "trial-reaper").string();
    if (std::filesystem::is_regular_file(program, absent) && ::access(program.c_str(), X_OK) == 0)
      return program;
  }
#endif
  return {};
}

}  // namespace

Process::Process(asio::io_context& io, ProcessEvents events)
    : events_(std::move(events)), input_(io), output_(io), errors_(io), lifeline_(io) {}

std::shared_ptr<Process> Process::start(asio::io_context& io,
                                        const std::vector<std::string>& command,
                                        const core::Slot& slot, ProcessEvents events) {
  const std::shared_ptr<Process> process(new Process(io, std::move(events)));
  try {
    process->spawn(command, slot);
  } catch (const boost::system::system_error& error) {  // no further file is watched, maybe
    throw std::system_error(error.code());
  }
  return process;
}

void Process::spawn(const std::vector<std::string>& command, const core::Slot& slot) {
  auto input = core::make_pipe();
  auto output = core::make_pipe();
  auto errors = core::make_pipe();
  auto lifeline = core::make_socket_pair();
  const auto take = [](Stream& stream, core::FileDescriptor& end) {
    stream.assign(end.number());
    end.release();
  };
  take(input_, input.writer);
  take(output_, output.reader);
  take(errors_, errors.reader);
  take(lifeline_, lifeline.writer);
  for (auto* stream : {&input_, &output_, &errors_, &lifeline_}) stream->non_blocking(true);
  // A step of a job outlives an srun that is killed; one that is told to end takes it along.
  const std::chrono::milliseconds grace = std::chrono::seconds(slot.job_step ? 5 : 0);
  core::Command worker{.words = command,
                       .set = slot.environment,
                       .input = input.reader.number(),
                       .output = output.writer.number(),
                       .errors = errors.writer.number(),
                       .cores = slot.cores};
  if (const auto program = reaper_program()) {
    worker.starter = {.words = {*program, std::to_string(grace.count())},
                      .file = lifeline.reader.number()};
  } else {
    worker.in_child = [&](const auto& become) {
      return become_reaper(lifeline.reader.number(), grace, become);
    };
  }
  reaper_ = core::spawn(worker);
  watch(output_);
  watch(errors_);
  lifeline_.async_wait(Stream::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error) self->finish();
                       });
}

void Process::send(std::string_view bytes) {
  if (!input_.is_open()) return;
  const bool waiting = !unsent_.empty();
  unsent_ += bytes;
  if (waiting) return;
  write_some();
  if (!unsent_.empty()) write_when_possible();
}

void Process::write_when_possible() {
  input_.async_wait(Stream::wait_write,
                    [self = shared_from_this()](const boost::system::error_code& error) {
                      if (error || self->exited_) return;
                      if (!self->write_some()) {
                        self->input_.close();
                        return self->events_.closed();
                      }
                      if (!self->unsent_.empty()) self->write_when_possible();
                    });
}

bool Process::write_some() {
  const auto count = core::write_without_sigpipe(input_.native_handle(), unsent_);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  unsent_.erase(0, static_cast<std::size_t>(count));
  return true;
}

void Process::close_input() {
  input_.close();
}

bool Process::has_unread_input() {
  int bytes = 0;
  return !unsent_.empty() ||
         (input_.is_open() && ::ioctl(input_.native_handle(), FIONREAD, &bytes) == 0 && bytes > 0);
}

void Process::signal(int number) {
  const auto byte = static_cast<unsigned char>(number);
  ::send(lifeline_.native_handle(), &byte, 1, MSG_NOSIGNAL);
}

void Process::abandon() {
  events_ = {.line = [](std::string_view) {},
             .endless_line = [] {},
             .log = [](std::string_view) {},
             .closed = [] {},
             .exited = [](int) {}};
  input_.close();
  output_.close();
  errors_.close();
}

// Waits for readiness instead of reading asynchronously: so nothing that was read can still be on
// its way to us when the process has exited.
void Process::watch(Stream& pipe) {
  pipe.async_wait(Stream::wait_read,
                  [self = shared_from_this(), &pipe](const boost::system::error_code& error) {
                    if (error || self->exited_) return;
                    if (self->read_some(pipe, one_turn)) return self->watch(pipe);
                    if (&pipe == &self->output_) self->events_.closed();
                  });
}

bool Process::read_some(Stream& pipe, std::size_t most) {
  std::array<char, one_turn> buffer;
  for (std::size_t total = 0; total < most;) {
    boost::system::error_code error;
    const auto count = pipe.read_some(asio::buffer(buffer), error);
    if (error) return error == asio::error::would_block;
    const std::string_view bytes(buffer.data(), count);
    if (&pipe == &errors_)
      events_.log(bytes);
    else
      receive(bytes);
    total += count;
  }
  return true;
}

void Process::receive(std::string_view bytes) {
  while (true) {
    const auto end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() > longest_line) {
      line_.clear();
      events_.endless_line();
    }
    if (end == bytes.npos) return;
    events_.line(std::exchange(line_, {}));
    bytes.remove_prefix(end + 1);
  }
}

void Process::finish() {
  // Whatever it wrote is in the pipes. A descendant that could not be killed may go on writing: not
  // for ever.
  constexpr std::size_t most = 1 << 22;
  if (output_.is_open()) read_some(output_, most);
  if (errors_.is_open()) read_some(errors_, most);
  // A whole message whose newline is missing; one that was cut short says nothing.
  if (!heading_of(line_).type.empty()) events_.line(std::exchange(line_, {}));
  exited_ = true;
  output_.close();
  errors_.close();
  lifeline_.close();
  events_.exited(core::wait_status(reaper_));
  input_.close();
}

}  // namespace evolve::workers
