#include "tests/trainer/golden.hpp"

#include <torch/torch.h>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace evolve::test {
namespace {

torch::ScalarType scalar_type(const std::string& name) {
  static const std::map<std::string, torch::ScalarType> types{
      {"f32", torch::kFloat}, {"f64", torch::kDouble}, {"f16", torch::kHalf}, {"i64", torch::kLong},
      {"i32", torch::kInt},   {"u8", torch::kByte},    {"bool", torch::kBool}};
  return types.at(name);
}

torch::Tensor to_torch(const Recorded& recorded, const std::string& name) {
  auto tensor = torch::empty(recorded.shape, scalar_type(recorded.dtype));
  if (recorded.bytes.size() != tensor.nbytes()) {
    throw std::runtime_error(name + ": sizes disagree");
  }
  std::memcpy(tensor.data_ptr(), recorded.bytes.data(), recorded.bytes.size());
  return tensor;
}

Golden to_torch(Case one) {
  Golden golden{.name = one.name, .scalars = std::move(one.scalars), .tensors = {}};
  for (const auto& [name, recorded] : one.tensors) {
    golden.tensors[name] = to_torch(recorded, one.name + " " + name);
  }
  return golden;
}

}  // namespace

const torch::Tensor& Golden::operator[](const std::string& tensor) const {
  const auto it = tensors.find(tensor);
  if (it == tensors.end()) throw std::runtime_error(name + " has no tensor " + tensor);
  return it->second;
}

Golden load_golden(const std::filesystem::path& folder) {
  return to_torch(load_case(folder));
}

std::vector<Golden> goldens(const std::string& prefix) {
  std::vector<Golden> found;
  for (auto& one : cases(prefix)) found.push_back(to_torch(std::move(one)));
  return found;
}

double relative_error(const torch::Tensor& a, const torch::Tensor& b) {
  const auto reference = b.detach().to(torch::kDouble);
  const double norm = reference.norm().item<double>();
  const double difference = (a.detach().to(torch::kDouble) - reference).norm().item<double>();
  return norm > 0 ? difference / norm : difference;
}

}  // namespace evolve::test
