#include "devices/environment.hpp"

namespace evolve::devices {
namespace {

/// How many threads the process' own libraries start, and its slot's name.
Variables host_environment(const std::string& slot, int threads) {
  const auto count = std::to_string(threads);
  return {
      {"EVOLVE_DEVICE", slot},
      {"OMP_NUM_THREADS", count},
      {"MKL_NUM_THREADS", count},
      {"OPENBLAS_NUM_THREADS", count},
      // Waiting threads sleep: they would otherwise spin away what the training's other threads
      // need.
      {"OMP_WAIT_POLICY", "passive"},
  };
}

// A trainer told to use one kind must not find another on its own. An index of -1 hides all
// devices (it is what YOLOv5 sets for --device cpu). Level Zero's own mask cannot hide all, SYCL's
// selector can.
const Variables without_nvidia_and_amd = {{"CUDA_VISIBLE_DEVICES", "-1"},
                                          {"HIP_VISIBLE_DEVICES", "-1"}};
const Variables without_intel = {{"ONEAPI_DEVICE_SELECTOR", "*:cpu"}};

void add(Variables& to, const Variables& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Variables cpu_environment(const std::string& slot, int threads) {
  auto all = host_environment(slot, threads);
  add(all, without_nvidia_and_amd);
  add(all, without_intel);
  return all;
}

Variables gpu_environment(const std::string& slot, const std::string& kind, const Variables& mask,
                          int threads) {
  auto all = host_environment(slot, threads);
  if (kind == "xpu") add(all, without_nvidia_and_amd);
  if (kind == "cuda") add(all, without_intel);
  add(all, mask);
  return all;
}

}  // namespace evolve::devices
