// The trainer of bench/pool: speaks the worker protocol, sleeps instead of training, and writes
// down when it did.
//
//   pool_trainer FOLDER SECONDS SPREAD DEVICES
//
// Device number i of DEVICES takes SECONDS times 1 … SPREAD, evenly. Appends to FOLDER/DEVICE a
// line "BEGIN END" of each training, in seconds of the clock that all processes of a machine share.
// It reads a line with the eyes of a bench: what it costs is not to be measured.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void sleep_until(double end) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(end);
  time.tv_nsec = static_cast<long>(1e9 * (end - std::floor(end)));
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

/// The number after `"key":` in a line of JSON.
double number(const char* line, const char* key, double otherwise) {
  const std::string name = std::string("\"") + key + "\":";
  const char* found = std::strstr(line, name.c_str());
  return found ? std::atof(found + name.size()) : otherwise;
}

/// Greatest (0.9) at these values; the default start has about 0.5.
double score(const char* line) {
  double loss = 0;
  for (const auto& [name, best] :
       {std::pair("hsv_s", 0.2), std::pair("hsv_v", 0.7), std::pair("scale", 0.1),
        std::pair("translate", 0.3), std::pair("mosaic", 0.3), std::pair("mixup", 0.4)})
    loss += std::pow(number(line, name, best) - best, 2);
  return 0.9 / (1 + loss);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string device = std::getenv("EVOLVE_DEVICE");
  const double index = std::atof(device.substr(device.find(':') + 1).c_str());
  const double spread = std::atof(argv[3]), devices = std::max(2.0, std::atof(argv[4]));
  const double seconds = std::atof(argv[2]) * (1 + (spread - 1) * index / (devices - 1));
  const int log =
      ::open((std::string(argv[1]) + "/" + device).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  std::printf("{\"type\":\"ready\",\"protocol\":1,\"device\":\"npu:0\"}\n");
  std::fflush(stdout);
  char* line = nullptr;
  std::size_t size = 0;
  while (::getline(&line, &size, stdin) > 0) {
    if (!std::strstr(line, "\"train\"")) return 0;
    const double begin = now(), f = score(line);
    sleep_until(begin + seconds);
    ::dprintf(log, "%.6f %.6f\n", begin, now());
    std::printf(
        "{\"type\":\"result\",\"trial\":%d,\"metrics\":{\"metrics/precision\":%.9g,\"metrics/"
        "recall\":%.9g,"
        "\"metrics/mAP_0.5\":%.9g,\"metrics/mAP_0.5:0.95\":%.9g,\"val/box_loss\":%.9g,\"val/"
        "obj_loss\":%.9g,"
        "\"val/cls_loss\":%.9g}}\n",
        static_cast<int>(number(line, "trial", 0)), f, f, f, f, 1 - f, 1 - f, 1 - f);
    std::fflush(stdout);
  }
}
