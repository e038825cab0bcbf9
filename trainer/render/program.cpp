#include "trainer/render/program.hpp"

#include <torch/torch.h>

#include <array>
#include <cmath>

namespace evolve::trainer {
namespace {

/// Elements of a table, in the shape of their numbers.
torch::Tensor looked_up(const torch::Tensor& table, const torch::Tensor& numbers) {
  return table.index_select(0, numbers.flatten()).view(numbers.sizes());
}

/// Where each pixel of each layer lies on its canvas, in 1/32 pixel: [2: x, y, layers, height,
/// width].
torch::Tensor places_of(const RenderTables& tables, const RenderTensors& in) {
  const auto sums = in.columns + in.rows;
  if (!tables.projective) return sums.bitwise_right_shift(5);
  const auto w = sums.narrow(0, 2, 1), numerator = sums.narrow(0, 0, 2);
  const auto whole = numerator.div(w, "floor");
  const auto rest = numerator - whole * w;
  const auto parts = w.add(rest, 64).div(w * 2, "floor");
  constexpr std::int64_t far = 1 << 20;
  return parts.add(whole.clamp(-far, far), 32).to(torch::kInt);
}

/// x of canvas pixels where copied outlines show their mirror image.
torch::Tensor with_copies(const torch::Tensor& x, const torch::Tensor& y,
                          const RenderTables& tables, const RenderTensors& in) {
  if (tables.mirrored.empty()) return x;
  const auto pixel = x.add(y, tables.extent);
  const auto runs = torch::searchsorted(in.mirrored, pixel, /*out_int32=*/true, /*right=*/true);
  return torch::where(runs.bitwise_and(1).to(torch::kBool), in.mirrors - x, x);
}

/// Blends the second layers of mixed samples into their first ones, rounding down.
torch::Tensor mixed(const torch::Tensor& layers, const RenderTables& tables,
                    const RenderTensors& in) {
  const auto first = layers.narrow(0, 0, tables.samples);
  if (tables.mixed.empty()) return first;
  const auto a = first.index_select(0, in.mixed);
  const auto b = layers.narrow(0, tables.samples, tables.layers - tables.samples);
  const auto blend = ((a - b) * in.shares).bitwise_right_shift(54) + b;
  const auto tables_begin = torch::arange(a.size(0), a.options()).mul_(256).view({-1, 1, 1, 1});
  const auto alike = looked_up(in.alike, a + tables_begin);
  return first.index_copy(0, in.mixed, torch::where(a == b, alike, blend).to(torch::kInt));
}

torch::Tensor per_chroma(double numerator, const torch::TensorOptions& options) {
  std::vector<int> quotients = {0};
  for (int i = 1; i < 256; ++i)
    quotients.push_back(static_cast<int>(std::nearbyint(numerator * 4096 / i)));
  return torch::tensor(quotients, torch::kInt).to(options.device());
}

}  // namespace

Renderer::Renderer(ImageStore store) : store_(std::move(store)) {
  const auto options = torch::TensorOptions(store_.pixels.device());
  const auto on_device = [&](const torch::Tensor& tensor) { return tensor.to(options.device()); };
  weights_from_ = on_device(torch::tensor({32, 0}, torch::kInt));
  hue_per_chroma_ = per_chroma(180.0 / 6, options);
  saturation_per_chroma_ = per_chroma(255, options);
  others_ = on_device(torch::tensor({1, 2, 0, 2, 0, 1}, torch::kInt));
  sectors_ = on_device(torch::tensor({0, 2, 4}, torch::kInt));
  half_ = on_device(torch::tensor({2048}, torch::kInt));
  units_ = on_device(torch::tensor({6.F / 180, 1.F / 255, 1.F / 255}));
  taken_ = on_device(torch::tensor({0, 1, 1, 0,  -1, 0,   // red: from green on less, then as much
                                    0, 0, 1, 1,  0,  0,   //
                                    1, 0, 1, 0,  0,  -1,  //
                                    1, 0, 0, 0,  1,  0,   //
                                    1, 1, 0, -1, 0,  0,   //
                                    0, 1, 0, 0,  0,  1},
                                   torch::kFloat)
                         .view({6, 6}));
}

torch::Tensor Renderer::layers(const RenderTables& tables, const RenderTensors& in) const {
  const auto places = places_of(tables, in);
  // Four neighbours: [2: x, 2: y] before the layers.
  const auto cells = (places.bitwise_right_shift(5) + in.begins).clamp(in.begins[0], in.lasts);
  const auto y = cells.select(1, 1).unsqueeze(0);
  const auto x = with_copies(cells.select(1, 0).unsqueeze(1), y, tables, in);
  const auto right = x >= in.centres[0], below = y >= in.centres[1];
  const auto x_at = x.add(below, tables.extent), y_at = y.add(right, tables.extent);
  const auto pixels = (looked_up(in.x_terms, x_at) + looked_up(in.y_terms, y_at)).clamp_min_(0);
  auto shape = pixels.sizes().vec();
  shape.push_back(3);
  const auto colours = store_.pixels.index_select(0, pixels.flatten()).view(shape);
  const auto weights = (places.bitwise_and(31) - weights_from_.view({2, 1, 1, 1, 1})).abs_();
  const auto weight = weights.select(1, 0).unsqueeze(1) * weights.select(1, 1).unsqueeze(0);
  constexpr std::array<std::int64_t, 2> neighbours = {0, 1};
  const auto sum = (colours * weight.unsqueeze(-1))
                       .sum(torch::IntArrayRef(neighbours), /*keepdim=*/false, torch::kInt);
  return sum.add_(512).bitwise_right_shift(10);
}

// cv::cvtColor to HSV in integers, the tables of data::scale_hsv, and back in floats, of which it
// drops the fraction (but for a row's last pixels where its width is no multiple of its vectors').
torch::Tensor Renderer::recoloured(const torch::Tensor& rgb, const RenderTensors& in) const {
  const auto [value, greatest] = rgb.max(3, /*keepdim=*/true);
  const auto chroma = value - rgb.amin(3, /*keepdim=*/true);
  const auto others = rgb.index_select(3, others_).split(3, 3);
  const auto hues = (others[0] - others[1]).addcmul(sectors_, chroma);
  const auto hue = half_.addcmul(hues.gather(3, greatest), looked_up(hue_per_chroma_, chroma))
                       .bitwise_right_shift(12)
                       .remainder(180);
  const auto saturation =
      half_.addcmul(chroma, looked_up(saturation_per_chroma_, value)).bitwise_right_shift(12);
  const auto changed =
      looked_up(in.colours, torch::cat({hue, saturation, value}, 3) + in.colours_begin) * units_;
  const auto parts = changed.split(1, 3);
  const auto taken = taken_
                         .index_select(0, parts[0].flatten().to(torch::kInt))  // the sector
                         .view({rgb.size(0), rgb.size(1), rgb.size(2), 6})
                         .split(3, 3);
  const auto less = taken[0].addcmul(taken[1], parts[0].frac()) * parts[1];
  return ((1 - less) * parts[2]).mul_(255).trunc_();
}

torch::Tensor Renderer::render(const RenderTables& tables, const torch::Tensor& bytes) const {
  const torch::NoGradGuard no_grad;
  const auto in = tensors_of(tables, bytes);
  auto pixels = mixed(layers(tables, in), tables, in);
  if (!tables.colours.empty()) pixels = recoloured(pixels, in);
  return pixels.div(255).permute({0, 3, 1, 2});
}

}  // namespace evolve::trainer
