// A child process that talks in lines.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/slot.hpp"

namespace evolve::workers {

/// Longer lines are not kept: nobody's memory depends on a newline to come.
constexpr std::size_t longest_line = 1 << 20;

/// What happens to a process. Called from within the io_context, never after `exited`.
struct ProcessEvents {
  /// A line of its standard output, without the newline, which the last one need not have
  /// where it is JSON.
  std::function<void(std::string_view)> line;
  /// A line got longer than `longest_line`, and so on after each further such length.
  std::function<void()> endless_line;
  /// What the process wrote to standard error.
  std::function<void(std::string_view)> log;
  /// The process closed its standard input or output, or is about to exit.
  std::function<void()> closed;
  /// The process has exited, everything it wrote has been told, and its descendants are killed. The
  /// wait status as waitpid() gives it, or -1 when that is unknown.
  std::function<void(int)> exited;
};

/// The process leads a session and a process group of its own, so that a terminal's Ctrl-C does not
/// reach it. It has the slot's environment (over ours) and cores, and inherits no file but its
/// three streams. Its reaper (child_reaper.hpp) stands between us and it: all of its descendants
/// die with it, and it with us, whatever way we end. No signal is handled, and no signal's action
/// is changed.
///
/// One io_context, one thread. The io_context keeps the object alive until the process has exited.
class Process : public std::enable_shared_from_this<Process> {
 public:
  /// Starts `command` (program and arguments; the program is looked for in PATH). Throws
  /// std::system_error when it cannot be executed.
  static std::shared_ptr<Process> start(boost::asio::io_context& io,
                                        const std::vector<std::string>& command,
                                        const core::Slot& slot, ProcessEvents events);

  /// Queues bytes for its standard input.
  void send(std::string_view bytes);
  /// The process sees the end of its standard input.
  void close_input();
  /// Whether something that was sent is still to be read, or could not be written any more; else
  /// false once the input is closed. Holds in `exited` too.
  bool has_unread_input();
  /// Sends a signal to the process and its group.
  void signal(int number);
  /// Nothing more is told of it, and it is reaped when it exits after all.
  void abandon();

 private:
  Process(boost::asio::io_context& io, ProcessEvents events);
  void spawn(const std::vector<std::string>& command, const core::Slot& slot);
  void watch(boost::asio::posix::stream_descriptor& pipe);
  /// Reads what is there, at most `most` bytes; false at the end of the stream.
  bool read_some(boost::asio::posix::stream_descriptor& pipe, std::size_t most);
  void receive(std::string_view bytes);
  void write_when_possible();
  /// False when nobody reads any more.
  bool write_some();
  void finish();

  ProcessEvents events_;
  pid_t reaper_ = -1;
  boost::asio::posix::stream_descriptor input_;
  boost::asio::posix::stream_descriptor output_;
  boost::asio::posix::stream_descriptor errors_;
  /// To and from the reaper; ends with it.
  boost::asio::posix::stream_descriptor lifeline_;
  std::string unsent_;
  std::string line_;
  bool exited_ = false;
};

}  // namespace evolve::workers
