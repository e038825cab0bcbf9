#include "devices/sampler.hpp"

#include <fstream>
#include <string>
#include <system_error>

#include "core/json.hpp"
#include "devices/environment.hpp"

namespace evolve::devices {
namespace {

using Json = nlohmann::ordered_json;

/// {"devices":[…],"stuck":{"cuda":4711}}
std::string sample_of(const std::vector<std::string>& kinds, std::chrono::milliseconds limit) {
  Json sample{{"devices", Json::array()}, {"stuck", Json::object()}};
  for (const auto& kind : kinds) {
    const auto found = discover(kind, device_environment(), limit);
    for (const auto& device : found.devices) sample["devices"].push_back(to_json(device));
    if (found.stuck != 0) sample["stuck"][kind] = found.stuck;
  }
  return core::json_text(sample);
}

/// Not even as a zombie, which waits for a parent that never asks.
bool is_at_work(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  // The name between the brackets may have any character.
  const auto name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat[name_end + 2] != 'Z';
}

}  // namespace

void Sampler::ask() {
  if (kinds_.empty()) return;
  std::erase_if(stuck_, [](const auto& one) { return !is_at_work(one.second); });
  auto kinds = kinds_;
  std::erase_if(kinds, [&](const auto& kind) { return stuck_.contains(kind); });
  // discover() limits each of its own probes: three of a kind at most.
  const auto limit = 4 * limit_ * static_cast<int>(kinds_.size());
  try {
    probe_ = std::make_unique<Probe>([&] { return sample_of(kinds, limit_); }, limit);
  } catch (const std::system_error&) {  // no further process now: nothing is known until later
  }
}

std::optional<std::vector<Accelerator>> Sampler::answer() {
  if (!probe_ || !probe_->wait(std::chrono::milliseconds(0))) return {};
  const auto probed = std::exchange(probe_, nullptr)->result();
  std::vector<Accelerator> devices;
  if (!probed.problem.empty()) return devices;
  const auto sample = Json::parse(probed.text);
  for (const auto& json : sample["devices"]) devices.push_back(accelerator_from_json(json));
  stuck_.merge(sample["stuck"].get<std::map<std::string, pid_t>>());
  return devices;
}

}  // namespace evolve::devices
