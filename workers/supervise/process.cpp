#include "workers/supervise/process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/process/args.hpp>
#include <boost/process/async.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/posix.hpp>
#include <boost/process/search_path.hpp>

#include "workers/supervise/child_reaper.hpp"

namespace evolve::workers {
namespace {

namespace asio = boost::asio;
namespace bp = boost::process;
using Stream = asio::posix::stream_descriptor;

/// How much is read before other workers have their turn.
constexpr std::size_t one_turn = 1 << 18;

struct PipeEnds {
  explicit PipeEnds(asio::io_context& io) : reader(io), writer(io) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw std::system_error(errno, std::system_category(), "no pipe for a worker");
    reader.assign(ends[0]);
    writer.assign(ends[1]);
  }
  Stream reader;
  Stream writer;
};

/// What the child does between fork and exec.
class ChildSetup {
 public:
  ChildSetup(const core::Slot& slot, int lifeline) : slot_(slot), lifeline_(lifeline) {
    const auto bytes = set_.size() * sizeof(cpu_set_t);
    for (const int core : slot.cores) CPU_SET_S(static_cast<std::size_t>(core), bytes, set_.data());
  }

  void operator()() const {
    fork_from_reaper(lifeline_);
    // Ignored signals stay ignored over an exec.
    ::signal(SIGPIPE, SIG_DFL);
    close_files_at_exec();
    // Boost 1.74's own environment class compares names beyond their ends.
    for (const auto& [name, value] : slot_.environment) ::setenv(name.c_str(), value.c_str(), 1);
    if (!slot_.cores.empty() &&
        ::sched_setaffinity(0, set_.size() * sizeof(cpu_set_t), set_.data()) != 0) {
      constexpr std::string_view text = "cannot be bound to the cores of its slot\n";
      if (::write(STDERR_FILENO, text.data(), text.size())) {
      }
      ::_exit(1);
    }
  }

 private:
  /// An inherited pipe end of a sibling would keep that sibling from seeing the end of its input.
  static void close_files_at_exec() {
    if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
    // Linux before 5.11
    for (int file = 3; file < 1024; ++file) ::fcntl(file, F_SETFD, FD_CLOEXEC);
  }

  const core::Slot& slot_;
  int lifeline_;
  std::array<cpu_set_t, 8> set_{};
};

}  // namespace

std::string program_file(const std::string& program) {
  if (program.find('/') != program.npos) {
    if (::access(program.c_str(), X_OK) == 0) return program;
    throw std::system_error(errno, std::system_category(), program);
  }
  const auto found = bp::search_path(program).string();
  if (found.empty())
    throw std::system_error(std::make_error_code(std::errc::no_such_file_or_directory), program);
  return found;
}

Process::Process(asio::io_context& io, ProcessEvents events)
    : io_(io), events_(std::move(events)), input_(io), output_(io), errors_(io), lifeline_(io) {}

std::shared_ptr<Process> Process::start(asio::io_context& io,
                                        const std::vector<std::string>& command,
                                        const core::Slot& slot, ProcessEvents events) {
  const std::shared_ptr<Process> process(new Process(io, std::move(events)));
  process->spawn(command, slot);
  return process;
}

void Process::spawn(const std::vector<std::string>& command, const core::Slot& slot) {
  const auto file = program_file(command.front());
  PipeEnds input(io_);
  PipeEnds output(io_);
  PipeEnds errors(io_);
  PipeEnds lifeline(io_);
  const ChildSetup setup(slot, lifeline.reader.native_handle());
  std::error_code failed;
  child_ = bp::child(
      io_, bp::exe = file, bp::args = std::vector<std::string>(command.begin() + 1, command.end()),
      failed, bp::posix::fd.bind(STDIN_FILENO, input.reader.native_handle()),
      bp::posix::fd.bind(STDOUT_FILENO, output.writer.native_handle()),
      bp::posix::fd.bind(STDERR_FILENO, errors.writer.native_handle()),
      bp::extend::on_exec_setup =
          [&](auto& executor) {
            setup();
            executor.env = ::environ;
          },
      // Boost 1.74 leaves the child that could not exec to us.
      bp::extend::on_error =
          [](auto& executor, const std::error_code&) {
            if (executor.pid > 0) ::waitpid(executor.pid, nullptr, 0);
          },
      // Boost calls this while it walks its list of children: not the time to start another.
      bp::on_exit =
          [self = shared_from_this()](int, const std::error_code&) {
            asio::post(self->io_, [self] { self->finish(); });
          });
  if (failed) throw std::system_error(failed, command.front());
  child_.detach();
  input_ = std::move(input.writer);
  output_ = std::move(output.reader);
  errors_ = std::move(errors.reader);
  lifeline_ = std::move(lifeline.writer);
  for (auto* pipe : {&input_, &output_, &errors_, &lifeline_}) pipe->non_blocking(true);
  watch(output_);
  watch(errors_);
}

void Process::send(std::string bytes) {
  if (!input_.is_open()) return;
  unsent_.push_back(std::move(bytes));
  if (unsent_.size() == 1) write_next();
}

void Process::write_next() {
  asio::async_write(
      input_, asio::buffer(unsent_.front()),
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
        if (error == asio::error::operation_aborted || self->exited_) return;
        if (error) {
          self->input_.close();
          return self->events_.closed();
        }
        self->unsent_.pop_front();
        if (!self->unsent_.empty()) self->write_next();
      });
}

void Process::close_input() {
  input_.close();
}

void Process::signal(int number) {
  const auto byte = static_cast<unsigned char>(number);
  boost::system::error_code gone;
  lifeline_.write_some(asio::buffer(&byte, 1), gone);
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
  std::array<char, 1 << 16> buffer;
  for (std::size_t total = 0; total < most;) {
    boost::system::error_code error;
    const auto count = pipe.read_some(asio::buffer(buffer), error);
    if (error) return error == asio::error::would_block;
    const std::string_view bytes(buffer.data(), count);
    if (&pipe == &errors_)
      events_.log(bytes);
    else
      hear(bytes);
    total += count;
  }
  return true;
}

void Process::hear(std::string_view bytes) {
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
  exited_ = true;
  input_.close();
  output_.close();
  errors_.close();
  lifeline_.close();
  events_.exited(child_.native_exit_code());
}

}  // namespace evolve::workers
