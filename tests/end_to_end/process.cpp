#include "process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <regex>
#include <sstream>
#include <thread>

#include "core/core_mask.hpp"

namespace evolve::test {
namespace fs = std::filesystem;

fs::path cache_of(const fs::path& folder) {
  return folder.string() + ".cache";
}

Process::Process(const std::vector<std::string>& command, const fs::path& folder,
                 std::size_t limit_file_bytes) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    if (chdir(folder.c_str()) != 0) _exit(126);
    setenv("XDG_CACHE_HOME", cache_of(folder).c_str(), 1);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    // Whoever started the tests may ignore them.
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
    if (limit_file_bytes > 0) {
      ::signal(SIGXFSZ, SIG_IGN);  // so that write() says EFBIG, as a full disk says ENOSPC
      const rlimit limit{limit_file_bytes, limit_file_bytes};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char*> argv;
    for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
  close(err_);
}

void Process::signal(int number) const {
  kill(pid_, number);
}

Ended Process::wait(double seconds) {
  Ended ended;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  pollfd watched[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  std::string* texts[2] = {&ended.out, &ended.err};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "still running after " << seconds << " s; so far: " << ended.out
                    << ended.err;
      kill(pid_, SIGKILL);
    }
    poll(watched, 2, 100);
    for (int i = 0; i < 2; ++i) {
      if (watched[i].revents == 0) continue;
      char buffer[65536];
      const auto got = read(watched[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        texts[i]->append(buffer, static_cast<std::size_t>(got));
      } else {
        watched[i].fd = -1;
      }
    }
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

std::string refusal_of(const Ended& ended) {
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(lines_of(ended.err).size(), 1u) << ended.err;
  return ended.err;
}

std::vector<std::string> evolve_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), EVOLVE_BINARY);
  return arguments;
}

Ended evolve(const fs::path& folder, std::vector<std::string> arguments,
             std::size_t limit_file_bytes) {
  return Process(evolve_command(std::move(arguments)), folder, limit_file_bytes).wait();
}

std::string fake_trainer(const std::string& options) {
  return std::string(FAKE_TRAINER_BINARY) + " " + options;
}

void finish_trials(const Folder& folder, int trials) {
  ASSERT_EQ(evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                                   "--trials", std::to_string(trials), "--output", "run"})
                .code,
            0);
}

std::string some_core() {
  const auto cores = core::CoreMask::of_this_thread().cores();
  return std::to_string(cores.at(static_cast<std::size_t>(::getpid()) % cores.size()));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

namespace {

/// Without the line that is just being written, or torn.
std::string whole_lines(const fs::path& file) {
  auto text = read_file(file);
  text.erase(text.rfind('\n') + 1);
  return text;
}

}  // namespace

std::string prometheus(const fs::path& run) {
  return std::regex_replace(read_file(run / "metrics.prom"), std::regex(R"(\{run="[^"]*")"),
                            R"({run="run")");
}

std::vector<nlohmann::json> journal(const fs::path& run) {
  std::vector<nlohmann::json> events;
  for (const auto& line : lines_of(whole_lines(run / "journal.jsonl")))
    events.push_back(nlohmann::json::parse(line));
  return events;
}

nlohmann::json event(const Folder& folder, const std::string& kind) {
  for (const auto& e : journal(folder / "run"))
    if (e["event"] == kind) return e;
  ADD_FAILURE() << "there is no event " << kind;
  return {};
}

int count(const std::vector<nlohmann::json>& events, const std::string& kind) {
  return static_cast<int>(std::count_if(events.begin(), events.end(),
                                        [&](const auto& event) { return event["event"] == kind; }));
}

std::set<int> completed(const fs::path& run) {
  std::set<int> trials;
  for (const auto& event : journal(run))
    if (event["event"] == "completed") trials.insert(event["trial"].get<int>());
  return trials;
}

std::vector<std::string> sorted_rows(const fs::path& run) {
  auto rows = lines_of(read_file(run / "evolve.csv"));
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<nlohmann::json> seen(const Folder& folder) {
  std::vector<nlohmann::json> all;
  for (const auto& line : lines_of(whole_lines(folder / "seen")))
    all.push_back(nlohmann::json::parse(line));
  return all;
}

std::set<int> pids(const fs::path& log) {
  std::set<int> found;
  for (const auto& line : lines_of(read_file(log))) found.insert(std::stoi(line));
  return found;
}

bool eventually(const std::function<bool()>& condition, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

int killed_at_random(const Folder& folder, const std::string& name,
                     std::vector<std::string> arguments, unsigned milliseconds,
                     std::mt19937& random) {
  constexpr int most = 200;
  for (int kills = 0; kills < most; ++kills) {
    Process process(evolve_command(arguments), folder.path());
    const auto before = journal(folder / name).size();
    eventually([&] { return journal(folder / name).size() > before || !alive(process.pid()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % milliseconds));
    process.signal(SIGKILL);
    const auto ended = process.wait();
    if (ended.code == 0) return kills;
    EXPECT_EQ(ended.code, 128 + SIGKILL) << ended.err;
    if (ended.code != 128 + SIGKILL) return kills;
    arguments = {"--resume", name};
  }
  ADD_FAILURE() << name << " does not come to its end";
  return most;
}

bool alive(int pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto state = stat.rfind(") ");
  return state != std::string::npos && stat[state + 2] != 'Z';
}

}  // namespace evolve::test
