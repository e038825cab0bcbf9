#include "devices/sampler.hpp"

#include <system_error>

#include "core/json.hpp"
#include "devices/discovery.hpp"
#include "devices/masks.hpp"

namespace evolve::devices {
namespace {

using Json = nlohmann::ordered_json;

std::string sample_of(const std::vector<std::string>& kinds) {
  auto list = Json::array();
  for (const auto& kind : kinds)
    for (const auto& device : discover(kind, device_environment()).devices)
      list.push_back(to_json(device));
  return core::json_text(list);
}

}  // namespace

void Sampler::ask() {
  if (kinds_.empty()) return;
  // discover() limits each of its own probes: three of a kind at most.
  const auto limit = 4 * probe_limit * static_cast<int>(kinds_.size());
  try {
    probe_ = std::make_unique<Probe>([this] { return sample_of(kinds_); }, limit);
  } catch (const std::system_error&) {  // no further process now: nothing is known until later
  }
}

std::optional<std::vector<Accelerator>> Sampler::answer() {
  if (!probe_ || !probe_->wait(std::chrono::milliseconds(0))) return {};
  const auto probed = std::exchange(probe_, nullptr)->result();
  std::vector<Accelerator> devices;
  if (!probed.problem.empty()) return devices;
  for (const auto& json : Json::parse(probed.text)) devices.push_back(accelerator_from_json(json));
  return devices;
}

}  // namespace evolve::devices
