// torch has oneDNN choose and prepare its code anew at each call, which for the maps of a small
// model takes as long as the convolution. Here that is done once for each shape.
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>

#include "trainer/model/convolution.hpp"

namespace evolve::trainer {
namespace {

using dnnl::memory;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

using Processor = dnnl::engine;

const Processor& cpu() {
  static const Processor cpu(Processor::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  static thread_local dnnl::stream stream(cpu());
  return stream;
}

constexpr auto single = memory::data_type::f32;

memory::data_type type_of(const torch::Tensor& tensor) {
  return tensor.scalar_type() == torch::kFloat ? single : memory::data_type::bf16;
}

/// Of [images, channels, height, width] in channels-last memory.
memory::desc map_desc(const torch::Tensor& map) {
  return {map.sizes().vec(), type_of(map), memory::format_tag::nhwc};
}

memory::desc bias_desc(const ConvSpec& spec) {
  return {{spec.out}, single, memory::format_tag::x};
}

/// With groups, oneDNN's weights have five dimensions.
memory::dims weight_dims(const ConvSpec& spec) {
  memory::dims dims{spec.out / spec.groups, spec.in / spec.groups, spec.kernel, spec.kernel};
  if (spec.groups > 1) dims.insert(dims.begin(), spec.groups);
  return dims;
}

/// As torch has it, in channels-last memory.
memory::desc weight_desc(const ConvSpec& spec) {
  const memory::dim pixel = spec.in / spec.groups, row = spec.kernel * pixel,
                    filter = spec.kernel * row;
  memory::dims strides{filter, 1, row, pixel};
  if (spec.groups > 1) strides.insert(strides.begin(), spec.out / spec.groups * filter);
  return {weight_dims(spec), single, strides};
}

/// Room for what is in between is lent at each run: oneDNN's own would stay with each pass.
dnnl::primitive_attr lent_room() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// What a convolution does, as oneDNN is told.
template <class Primitive, class... Arguments>
auto description(const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(cpu(), arguments..., lent_room());
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), lent_room(),
                                            cpu());
#endif
}

/// The same of one that goes backward, which oneDNN wants to know the way forward of.
template <class Primitive, class... Arguments>
auto backward_description(const Forward::primitive_desc& forward, const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(cpu(), arguments..., forward, lent_room());
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), lent_room(),
                                            cpu(), forward);
#endif
}

enum class Pass { forward, biased_forward, backward_data, backward_weights };

/// A pass for maps of one shape.
struct Prepared {
  dnnl::primitive pass;
  memory::desc room;
  /// The weight, or its gradient, in the layout of this pass.
  memory::desc weight;
  /// From torch's layout to that; for the gradient back.
  dnnl::reorder reorder;
};

template <class Primitive>
Prepared prepared_for_weight(const typename Primitive::primitive_desc& description,
                             const ConvSpec& spec) {
  const auto weight = description.weights_desc();
  return {Primitive(description), description.scratchpad_desc(), weight,
          dnnl::reorder({cpu(), weight_desc(spec), cpu(), weight})};
}

/// From maps like `x` to maps like `y`.
Prepared prepare(Pass pass, const memory::desc& x, const memory::desc& y, memory::data_type type,
                 const ConvSpec& spec) {
  const auto direct = dnnl::algorithm::convolution_direct;
  const auto training = dnnl::prop_kind::forward_training;
  const memory::dims strides(2, spec.stride), padding(2, spec.padding);
  const memory::desc any(weight_dims(spec), type, memory::format_tag::any);
  if (pass == Pass::biased_forward) {
    return prepared_for_weight<Forward>(
        description<Forward>(training, direct, x, any, bias_desc(spec), y, strides, padding,
                             padding),
        spec);
  }
  const auto forward = description<Forward>(training, direct, x, any, y, strides, padding, padding);
  if (pass == Pass::forward) return prepared_for_weight<Forward>(forward, spec);
  if (pass == Pass::backward_data) {
    return prepared_for_weight<BackwardData>(
        backward_description<BackwardData>(forward, direct, x, any, y, strides, padding, padding),
        spec);
  }
  const memory::desc any_single(weight_dims(spec), single, memory::format_tag::any);
  const auto backward = backward_description<BackwardWeights>(forward, direct, x, any_single, y,
                                                              strides, padding, padding);
  const auto weight = backward.diff_weights_desc();
  return {BackwardWeights(backward), backward.scratchpad_desc(), weight,
          dnnl::reorder({cpu(), weight, cpu(), weight_desc(spec)})};
}

/// The same, remembered. A model has some two hundred, with --multi-scale that many for each size.
Prepared& prepared(Pass pass, const torch::Tensor& x, const torch::Tensor& y,
                   const ConvSpec& spec) {
  using Key = std::array<std::int64_t, 12>;
  constexpr std::size_t most = 2000;  // of some 50 kB
  static thread_local std::map<Key, Prepared> known;
  const auto type = type_of(x);
  const Key key{static_cast<int>(pass),
                static_cast<int>(type),
                at::get_num_threads(),
                x.size(0),
                x.size(2),
                x.size(3),
                spec.in,
                spec.out,
                spec.kernel,
                spec.stride,
                spec.padding,
                spec.groups};
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  if (known.size() >= most) known.clear();
  return known.emplace(key, prepare(pass, map_desc(x), map_desc(y), type, spec)).first->second;
}

/// Whether oneDNN has code for bfloat16 on this processor.
bool knows_bfloat16() {
  static const bool knows = [] {
    const ConvSpec one{.in = 1, .out = 1};
    const memory::desc map({1, 1, 1, 1}, memory::data_type::bf16, memory::format_tag::nhwc);
    try {
      prepare(Pass::backward_weights, map, map, memory::data_type::bf16, one);
    } catch (const dnnl::error&) {
      return false;
    }
    return true;
  }();
  return knows;
}

torch::Tensor channels_last(const torch::Tensor& tensor) {
  return tensor.contiguous(at::MemoryFormat::ChannelsLast);
}

/// To bfloat16, in single precision.
torch::Tensor rounded(const torch::Tensor& weight) {
  return weight.to(torch::kBFloat16).to(torch::kFloat);
}

torch::Tensor empty_map(at::IntArrayRef sizes, const torch::Tensor& like) {
  return torch::empty(sizes, like.options(), at::MemoryFormat::ChannelsLast);
}

memory memory_of(const memory::desc& desc, const torch::Tensor& tensor) {
  return {desc, cpu(), tensor.data_ptr()};
}

memory memory_of(const torch::Tensor& map) {
  return memory_of(map_desc(map), map);
}

/// For what is in a layout of oneDNN's.
torch::Tensor room_for(const memory::desc& desc) {
  return torch::empty(static_cast<std::int64_t>(desc.get_size()), torch::kByte);
}

void run(const Prepared& prepared, std::unordered_map<int, memory> arguments) {
  const auto room = room_for(prepared.room);
  arguments.emplace(DNNL_ARG_SCRATCHPAD, memory_of(prepared.room, room));
  prepared.pass.execute(stream(), arguments);
}

/// A pass that needs the weight, too.
void run_with_weight(Prepared& prepared, const torch::Tensor& weight, const ConvSpec& spec,
                     std::unordered_map<int, memory> arguments) {
  const auto plain = channels_last(weight), room = room_for(prepared.weight);
  auto from = memory_of(weight_desc(spec), plain), to = memory_of(prepared.weight, room);
  prepared.reorder.execute(stream(), from, to);
  arguments.emplace(DNNL_ARG_WEIGHTS, to);
  run(prepared, std::move(arguments));
}

std::int64_t side_after(std::int64_t side, const ConvSpec& spec) {
  return (side + 2 * spec.padding - spec.kernel) / spec.stride + 1;
}

torch::Tensor gradient_of_x(const torch::Tensor& gradient, at::IntArrayRef sizes,
                            const torch::Tensor& weight, const ConvSpec& spec) {
  auto x = empty_map(sizes, gradient);
  run_with_weight(prepared(Pass::backward_data, x, gradient, spec), weight, spec,
                  {{DNNL_ARG_DIFF_DST, memory_of(gradient)}, {DNNL_ARG_DIFF_SRC, memory_of(x)}});
  return x;
}

torch::Tensor gradient_of_weight(const torch::Tensor& gradient, const torch::Tensor& x,
                                 const torch::Tensor& weight, const ConvSpec& spec) {
  auto& prepared = trainer::prepared(Pass::backward_weights, x, gradient, spec);
  auto result = empty_map(weight.sizes(), weight);
  const auto room = room_for(prepared.weight);
  auto from = memory_of(prepared.weight, room), to = memory_of(weight_desc(spec), result);
  run(prepared, {{DNNL_ARG_DIFF_DST, memory_of(gradient)},
                 {DNNL_ARG_SRC, memory_of(x)},
                 {DNNL_ARG_DIFF_WEIGHTS, from}});
  prepared.reorder.execute(stream(), from, to);
  return result;
}

}  // namespace

// A processor for which oneDNN has no bfloat16 computes in single precision.
torch::Tensor convolution(const torch::Tensor& x, const torch::Tensor& weight,
                          const torch::Tensor& bias, const ConvSpec& spec) {
  if (x.scalar_type() == torch::kBFloat16 && !knows_bfloat16())
    return convolution(x.to(torch::kFloat), rounded(weight), bias, spec).to(torch::kBFloat16);
  const auto from = channels_last(x);
  auto y = empty_map(
      {x.size(0), spec.out, side_after(x.size(2), spec), side_after(x.size(3), spec)}, from);
  std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, memory_of(from)},
                                            {DNNL_ARG_DST, memory_of(y)}};
  if (bias.defined()) arguments.emplace(DNNL_ARG_BIAS, memory_of(bias_desc(spec), bias));
  const auto pass = bias.defined() ? Pass::biased_forward : Pass::forward;
  run_with_weight(prepared(pass, from, y, spec), weight, spec, std::move(arguments));
  return y;
}

ConvolutionGradients convolution_gradients(const torch::Tensor& gradient, const torch::Tensor& x,
                                           const torch::Tensor& weight, const ConvSpec& spec,
                                           bool of_x) {
  if (x.scalar_type() == torch::kBFloat16 && !knows_bfloat16()) {
    const auto of = convolution_gradients(gradient.to(torch::kFloat), x.to(torch::kFloat),
                                          rounded(weight), spec, of_x);
    return {of_x ? of.x.to(torch::kBFloat16) : of.x, of.weight};
  }
  const auto from_above = channels_last(gradient);
  return {of_x ? gradient_of_x(from_above, x.sizes(), weight, spec) : torch::Tensor(),
          gradient_of_weight(from_above, channels_last(x), weight, spec)};
}

}  // namespace evolve::trainer
