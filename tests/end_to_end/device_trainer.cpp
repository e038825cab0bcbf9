// A trainer whose device has faults. It trains nothing: every trial scores 0.5.
//
//   device_trainer [--sleep MILLISECONDS] [--lost-while DEVICE FILE] [--mute-on DEVICE]
//   [--hold FOLDER GIB] [--room-for N]
//
// --lost-while: DEVICE is lost as long as FILE exists. --mute-on: a worker on DEVICE dies before it
// is ready. --hold: while it lives, from its first trial on, the process holds GIB of its device's
// memory (a file FOLDER/PID that the fake driver reads). --room-for: a trial beside N others in
// FOLDER finds no memory.

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

using nlohmann::json;

namespace {

void say(const json& message) {
  std::cout << message.dump() << std::endl;
}

json metrics() {
  return {{"metrics/precision", 0.5},    {"metrics/recall", 0.5}, {"metrics/mAP_0.5", 0.5},
          {"metrics/mAP_0.5:0.95", 0.5}, {"val/box_loss", 0.5},   {"val/obj_loss", 0.5},
          {"val/cls_loss", 0.5}};
}

void fail(const json& train, const std::string& kind, const std::string& message) {
  say({{"type", "error"}, {"trial", train["trial"]}, {"kind", kind}, {"message", message}});
}

/// Other processes that hold memory there.
int holders(const std::string& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename() != std::to_string(getpid())) ++count;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  int sleep_ms = 0, room_for = -1;
  std::string lost, lost_while, mute, hold, gib;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--sleep") sleep_ms = std::stoi(argv[i + 1]);
    if (option == "--lost-while") lost = argv[i + 1], lost_while = argv[i + 2];
    if (option == "--mute-on") mute = argv[i + 1];
    if (option == "--hold") hold = argv[i + 1], gib = argv[i + 2];
    if (option == "--room-for") room_for = std::stoi(argv[i + 1]);
  }
  if (std::getenv("EVOLVE_DEVICE") == mute) {
    std::cerr << "no driver here" << std::endl;
    return 5;
  }
  say({{"type", "ready"}, {"protocol", 1}});
  for (std::string line; std::getline(std::cin, line);) {
    const auto message = json::parse(line);
    if (message["type"] == "shutdown") break;
    if (message["type"] != "train") continue;
    if (const auto file = hold + "/" + std::to_string(getpid());
        !hold.empty() && !std::filesystem::exists(file))
      std::ofstream(file) << gib;
    std::this_thread::sleep_for(std::chrono::milliseconds(sleep_ms));
    if (message["device"] == lost && std::filesystem::exists(lost_while)) {
      fail(message, "device_lost", "UR_RESULT_ERROR_DEVICE_LOST");
    } else if (room_for >= 0 && holders(hold) > room_for) {
      std::filesystem::remove(hold + "/" + std::to_string(getpid()));
      fail(message, "oom", "CUDA out of memory");
    } else {
      say({{"type", "result"}, {"trial", message["trial"]}, {"metrics", metrics()}});
    }
  }
  if (!hold.empty()) std::filesystem::remove(hold + "/" + std::to_string(getpid()));
  return 0;
}
