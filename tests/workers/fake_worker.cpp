// A worker that does what the tests want: its argument says how it starts, a trial's hyp or a job's
// options ("mode", else its second argument) what it does with it. It speaks the protocol by hand,
// so that the tests do not trust the code that they test.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

using nlohmann::json;

namespace {

void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string metrics(const std::string& map50_95) {
  return R"({"metrics/precision":0.5,"metrics/recall":0.25,"metrics/mAP_0.5":0.75,"metrics/mAP_0.5:0.95":)" +
         map50_95 + R"(,"val/box_loss":0.1,"val/obj_loss":0.2,"val/cls_loss":0.3})";
}

std::string epoch_line(int trial, int epoch) {
  return R"({"type":"epoch","trial":)" + std::to_string(trial) + R"(,"epoch":)" +
         std::to_string(epoch) + R"(,"metrics":)" + metrics("0.125") + "}\n";
}

std::string result_line(int trial, const std::string& map50_95, const std::string& more = "") {
  return R"({"type":"result","trial":)" + std::to_string(trial) + R"(,"metrics":)" +
         metrics(map50_95) + more + "}\n";
}

[[noreturn]] void sleep_for_ever() {
  while (true) ::pause();
}

/// What a process can see of itself.
json look() {
  cpu_set_t set;
  ::sched_getaffinity(0, sizeof(set), &set);
  json cores = json::array();
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  json files = json::array();
  for (int file = 0; file < 256; ++file)
    if (::fcntl(file, F_GETFD) != -1) files.push_back(file);
  json environment = json::object();
  for (char** entry = ::environ; *entry; ++entry) {
    const std::string text = *entry;
    environment[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  struct sigaction pipe_action {};
  ::sigaction(SIGPIPE, nullptr, &pipe_action);
  return {{"cores", cores},
          {"files", files},
          {"environment", environment},
          {"session", ::getsid(0)},
          {"group", ::getpgrp()},
          {"folder", std::filesystem::current_path().string()},
          {"default_sigpipe", pipe_action.sa_handler == SIG_DFL}};
}

/// A descendant that holds our standard output open and ignores polite requests; a daemon has left
/// our session and family besides.
void leave_grandchild(const std::string& dir, bool daemon = false) {
  if (::fork() == 0) {
    if (daemon) {
      ::setsid();
      if (::fork() != 0) ::_exit(0);
    }
    ::signal(SIGTERM, SIG_IGN);
    std::ofstream(dir + "/grandchild") << ::getpid() << std::endl;
    sleep_for_ever();
  }
  while (!std::filesystem::exists(dir + "/grandchild") ||
         std::filesystem::file_size(dir + "/grandchild") == 0)
    ::usleep(1000);
}

void misbehave(const std::string& mode, int trial, const std::string& dir) {
  if (mode == "crash") {
    std::fputs("loading\nRuntimeError: boom\n\n", stderr);
    std::exit(3);
  }
  if (mode == "counts wrongly") say(epoch_line(trial, 100000));
  if (mode == "counts from 0") say(epoch_line(trial, 0));
  if (mode.starts_with("misspells")) say("{\"type\":\"results\",\"trial\":0}\n");
  if (mode == "misspells and exits") std::exit(0);
  if (mode == "abort") std::abort();
  if (mode == "killed") {
    std::fputs("Epoch  box_loss  Size\n", stderr);  // a table's head, about no end
    ::raise(SIGKILL);
  }
  if (mode == "hang") sleep_for_ever();
  if (mode == "writes down that it is asked to end") {
    static const std::string file = dir + "/asked";
    ::signal(SIGTERM, [](int) { ::close(::creat(file.c_str(), 0600)); });
    sleep_for_ever();
  }
  if (mode == "stubborn") {
    ::signal(SIGTERM, SIG_IGN);
    sleep_for_ever();
  }
  if (mode == "garbage") say("Epoch 2/3: loss 0.5\n");
  if (mode == "half a line") {
    say(R"({"type":"result","trial":)");
    std::exit(0);
  }
  if (mode == "many keys without a newline") {
    std::string keys;
    for (int i = 0; i < 4100; ++i) keys += ",\"" + std::to_string(i) + "\":0";
    say(R"({"type":"weather")" + keys + "}");
    std::exit(3);
  }
  if (mode == "nan without a newline") {
    auto line = result_line(trial, "NaN");
    line.pop_back();
    say(line);
    std::exit(0);
  }
  if (mode == "nan") say(result_line(trial, "NaN"));
  if (mode == "missing metric")
    say(R"({"type":"result","trial":)" + std::to_string(trial) +
        R"(,"metrics":{}})"
        "\n");
  if (mode == "signs of another") say("{\"type\":\"alive\",\"trial\":77}\n");
  if (mode == "other trial") say(result_line(trial + 1, "0.5"));
  if (mode == "endless line") say(std::string(3 << 20, 'x'));
  if (mode == "out of memory")
    say(R"({"type":"error","trial":)" + std::to_string(trial) +
        R"(,"kind":"oom","message":"CUDA out of memory"})"
        "\n");
  if (mode == "explains itself at length")
    say(R"({"type":"error","trial":)" + std::to_string(trial) +
        R"(,"kind":"other","message":"Traceback (most recent call last):\n  f()\nTypeError: no\n"})"
        "\n");
  if (mode == "bad data")
    say(R"({"type":"error","trial":0,"kind":"data","message":"a.pt: this is no checkpoint; name one"})"
        "\n");
  if (mode == "closes its output") ::close(STDOUT_FILENO);
  if (mode == "closes its output with a word") {
    std::fputs("ImportError: no libtorch\n", stderr);
    ::close(STDOUT_FILENO);
  }
  if (mode == "chatters")
    while (true) {
      say(epoch_line(trial, 2));
      ::usleep(20000);
    }
  if (mode == "never pauses for breath") {
    std::string lines;
    while (lines.size() < 1 << 16)
      lines += R"({"type":"alive","trial":)" + std::to_string(trial) + "}\n";
    while (true) say(lines);
  }
  if (mode == "leaves a grandchild") {
    leave_grandchild(dir);
    std::exit(4);
  }
  if (mode == "leaves a daemon") {
    leave_grandchild(dir, true);
    std::exit(4);
  }
  if (mode == "has a daemon") {
    leave_grandchild(dir, true);
    std::ofstream(dir + "/at work");
  }
  sleep_for_ever();
}

void leave_traces(const json& message, const std::string& dir) {
  std::ofstream(dir + "/message") << message << std::endl;
  std::ofstream(dir + "/pid.part") << ::getpid() << std::endl;
  std::filesystem::rename(dir + "/pid.part", dir + "/pid");
}

std::string batch(int epoch) {
  return R"("epoch":)" + std::to_string(epoch) +
         R"(,"batch":1,"batches":1,"losses":{"box":0.1,"obj":0.2,"cls":0.3},"labels":4,)"
         R"("imgsz":64,"memory_bytes":0)";
}

const std::string validation =
    R"({"type":"validation","metrics":)" + metrics("0.5") +
    R"(,"images":2,"labels":3,"classes":[],"inference_ms":1,"nms_ms":2})";

/// A training of two epochs, or a validation.
void do_job(const json& message, const std::string& usual_mode) {
  const std::string dir = message.at("dir");
  const std::string mode = message.at("options").value("mode", usual_mode);
  leave_traces(message, dir);
  std::fputs("a word from the log\n", stderr);
  if (message.at("type") == "validate") {
    if (mode != "ok") misbehave(mode, 0, dir);
    say(validation + "\n");
    return;
  }
  for (int epoch = 1; epoch <= 2; ++epoch) {
    say(R"({"type":"batch",)" + batch(epoch) + "}\n" + R"({"type":"epoch_report","training":{)" +
        batch(epoch) + R"(},"metrics":)" + metrics("0.5") +
        R"(,"learning_rates":[0.1,0.2,0.3],"seconds":4,"best":true,"past":false})" + "\n");
    if (mode != "ok" && mode != "stops early") misbehave(mode, 0, dir);
  }
  const std::string early = mode == "stops early" ? "true" : "false";
  say(R"({"type":"run","epochs":2,"best_epoch":1,"stopped_early":)" + early + R"(,"validation":)" +
      validation + "}\n");
}

/// Trains on until told to stop or to pause, which it waits for at each rung; its score grows by
/// the epoch.
void climb(const json& message) {
  const int trial = message.at("trial");
  const std::string dir = message.at("dir");
  const auto score = [](int epoch) { return std::to_string(epoch / 8.0); };
  const int begin = message.value("start_epoch", 0);
  bool anew = false;
  for (int epoch = std::max(2, begin + 1); epoch <= message.at("epochs"); ++epoch) {
    const auto report = [&] {
      say(R"({"type":"epoch","trial":)" + std::to_string(trial) + R"(,"epoch":)" +
          std::to_string(epoch) + R"(,"metrics":)" + metrics(score(epoch)) + "}\n");
    };
    report();
    if (message.at("hyp").at("mode") == "ignores rungs") continue;
    const auto& rungs = message.at("rungs");
    if (std::find(rungs.begin(), rungs.end(), epoch) == rungs.end()) continue;
    if (message.at("hyp").at("mode") == "dies at a rung") std::exit(3);
    if (message.at("hyp").at("mode") == "climbs ahead") say(epoch_line(trial, epoch + 1));
    std::string line;
    if (!std::getline(std::cin, line)) std::exit(0);
    std::ofstream(dir + "/told", std::ios::app) << line << std::endl;
    if (message.at("hyp").at("mode") == "climbs, and says so twice") report();
    if (json::parse(line).at("type") == "stop")
      return say(result_line(trial, score(epoch), R"(,"stopped":true)"));
    if (json::parse(line).at("type") == "pause") {
      const bool late = message.at("hyp").at("mode") == "climbs on before it pauses";
      if (late) say(epoch_line(trial, epoch + 1));
      return say(result_line(trial, score(epoch + (late ? 1 : 0)), R"(,"paused":true)"));
    }
    if (message.at("hyp").at("mode") == "climbs, and once begins anew" && epoch == 4 && !anew) {
      anew = true;
      epoch = 1;
    }
  }
  say(result_line(trial, score(message.at("epochs"))));
}

/// Waits until the next order is there, which is not read.
void wait_for_order() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  ::poll(&input, 1, -1);
}

/// For three seconds, which it says every half a second.
void prepare(int trial) {
  for (int i = 1; i <= 6; ++i) {
    say(R"({"type":"alive","trial":)" + std::to_string(trial) + R"(,"preparing":"images )" +
        std::to_string(i) + "/6\"}\n");
    ::usleep(500000);
  }
}

void train(const json& message) {
  const int trial = message.at("trial");
  const std::string dir = message.at("dir");
  const std::string mode = message.at("hyp").value("mode", "ok");
  if (mode == "dies without a word") std::exit(3);
  if (mode == "begins with garbage") say("hello\n");
  if (mode == "prepares") prepare(trial);
  say(epoch_line(trial, 1));
  leave_traces(message, dir);
  if (mode == "is ready again")
    say(R"({"type":"ready","protocol":1})"
        "\n");
  if (mode == "ok" || mode == "prepares" || mode == "is ready again") {
    say(result_line(trial, "0.5"));
  } else if (mode == "ok, and exits") {
    say(result_line(trial, "0.5"));
    std::exit(0);
  } else if (mode == "ok, and fails on its way out") {
    say(result_line(trial, "0.5"));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::fputs("RuntimeError: driver shut down\n", stderr);
    std::exit(1);
  } else if (mode == "ok, and reads no more") {
    ::close(STDIN_FILENO);
    say(result_line(trial, "0.5"));
    while (true) ::pause();
  } else if (mode == "ok, then garbage") {
    say(result_line(trial, "0.5") + "bye\n");
  } else if (mode == "ok, and hangs on its way out") {
    say(result_line(trial, "0.5"));
    sleep_for_ever();
  } else if (mode == "ok, then a late sign of life") {
    say(result_line(trial, "0.5"));
    wait_for_order();
    say("{\"type\":\"alive\",\"trial\":" + std::to_string(trial) + "}\n");
    std::exit(0);
  } else if (mode == "ok, then late garbage") {
    say(result_line(trial, "0.5"));
    wait_for_order();
    say("Exception ignored in: <function>\n");
    ::usleep(2000000);  // the order is not read
  } else if (mode == "ok, then the same once more") {
    say(result_line(trial, "0.5"));
    wait_for_order();
    say(epoch_line(trial, 4) + result_line(trial, "0.5"));
  } else if (mode == "never stops talking") {
    const std::string text(1 << 20, '.');
    for (int i = 0; i < 300; ++i) std::fputs(text.c_str(), stderr);
    say(result_line(trial, "0.5"));
  } else if (mode == "talks") {
    std::fputs("first line\nsecond line\n", stderr);
    say("\n" + std::string(R"({"type":"weather","trial":99})") + "\n" +
        result_line(trial, "0.5", R"(,"mood":"good")"));
  } else if (mode == "stopped") {
    say(epoch_line(trial, 2) + result_line(trial, "0.5", R"(,"stopped":true)"));
  } else if (mode == "paused") {
    say(epoch_line(trial, 2) + result_line(trial, "0.5", R"(,"paused":true)"));
  } else if (mode.starts_with("climbs") || mode == "ignores rungs" || mode == "dies at a rung") {
    climb(message);
  } else if (mode == "slow" || mode == "alive, then slow") {
    if (mode != "slow") say(R"({"type":"alive","trial":)" + std::to_string(trial) + "}\n");
    ::sleep(mode == "slow" ? 2 : 7);
    say(result_line(trial, "0.5"));
  } else if (mode == "zero") {
    say(result_line(trial, "0"));
  } else if (mode == "looks around") {
    std::ofstream(dir + "/look") << look() << std::endl;
    say(result_line(trial, "0.5"));
  } else {
    misbehave(mode, trial, dir);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string start = argc > 1 ? argv[1] : "ready";
  if (start == "never ready") sleep_for_ever();
  if (start == "late") ::usleep(1500000);
  if (start == "dies at once") return 5;
  if (start == "says why it dies late") {
    std::fputs("ImportError: no torch\n", stderr);
    ::sleep(2);
    return 5;
  }
  if (start == "warns") std::fputs("UserWarning: old\n", stderr);
  if (start == "hello") say("hello\n");
  const bool stays = start == "stays";
  if (stays) ::signal(SIGTERM, SIG_IGN);
  json ready = {
      {"type", "ready"}, {"protocol", start == "protocol 2" ? 2 : 1}, {"device", "cpu:0"}};
  // has {"uuid":"…"}: what it tells of its device or of what it can
  if (start.starts_with("has ")) ready.update(json::parse(start.substr(4)));
  if (start == "nested device") {
    const std::string nested = std::string(300000, '[') + std::string(300000, ']');
    say(R"({"type":"ready","protocol":1,"device":)" + nested + "}\n");
  } else {
    say(ready.dump() + "\n");
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto message = json::parse(line);
    const auto type = message.at("type");
    if (type == "train") train(message);
    if (type == "train_run" || type == "validate") do_job(message, argc > 2 ? argv[2] : "ok");
    if (type == "shutdown" && !stays) return 0;
  }
  if (stays) sleep_for_ever();
  return 0;
}
