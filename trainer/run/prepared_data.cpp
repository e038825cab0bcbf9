#include "trainer/run/prepared_data.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace evolve::trainer {
namespace {

/// `taken`: bytes that the training images have of the machine's memory, or are to have.
data::Dataset validation_images(const data::DataConfig& config, data::LoadOptions options,
                                std::uint64_t taken) {
  options.training = false;
  options.memory_budget = [taken, budget = options.memory_budget] {
    const auto bytes = budget();
    return bytes > taken ? bytes - taken : 0;
  };
  return data::load(config, data::Split::val, options);
}

}  // namespace

data::LoadOptions load_options(const TrainOptions& options, const data::Threads& threads,
                               const data::Beat& beat, const data::Note& note) {
  return {.imgsz = options.imgsz,
          .single_cls = options.single_cls,
          .skip_bad = options.skip_bad,
          .keep = data::keep_of(options.cache),
          .cache_folder = data::cache_folder(),
          .threads = threads,
          .beat = beat,
          .note = note};
}

PreparedData::PreparedData(const TrainOptions& options, int stride, const data::Threads& threads,
                           const data::Beat& beat, const data::Note& note)
    : PreparedData(data::with_fraction(
                       data::read_data_yaml(options.data, {data::Split::train, data::Split::val},
                                            options.folder),
                       options.fraction),
                   options, stride, load_options(options, threads, beat, note)) {}

constexpr int most_images = std::numeric_limits<int>::max();

// train.py validates twice the images at once, and rectangles depend on how many there are.
PreparedData::PreparedData(const data::DataConfig& config, const TrainOptions& options, int stride,
                           data::LoadOptions loading)
    : training_(data::load(config, data::Split::train, loading)),
      validation_(data::validation_set(
          validation_images(config, loading, training_.cache ? training_.cache->bytes() : 0),
          2 * std::min(options.batch_size, most_images / 2), stride, /*rect=*/true)),
      stays_on_host_(loading.keep == data::Keep::none),
      fitter_(training_) {
  if (const auto different = data::difference(options.inputs, counts(), run_began_with))
    throw bad_input({options.data}, *different, "bring it back as it was");
}

nlohmann::ordered_json PreparedData::counts() const {
  return {{data::name_of(data::Split::train), data::counts_of(training_)},
          {data::name_of(data::Split::val), data::counts_of(validation_.dataset)}};
}

const DeviceImages& PreparedData::on(const ComputeContext& context) {
  if (!device_images_)
    device_images_ = stays_on_host_ ? DeviceImages()
                                    : device_images(training_, validation_, context.device,
                                                    context.image_bytes, context.beat);
  return *device_images_;
}

const data::AnchorChoice& PreparedData::fit_anchors(const std::vector<data::Size>& current,
                                                    double thr, const std::function<void()>& beat) {
  AnchorKey key{{}, thr};
  for (const data::Size& size : current) key.first.emplace_back(size.w, size.h);
  if (const auto it = anchors_.find(key); it != anchors_.end()) return it->second;
  return anchors_[key] = fitter_.fit(current, thr, beat);
}

PreparedData& DataCache::get(const TrainOptions& options, int stride,
                             const ComputeContext& context) {
  const Key key{options.data,       options.imgsz, options.batch_size, stride,
                options.single_cls, options.cache, options.fraction,   options.skip_bad};
  if (key_ != key) {
    key_.reset();
    data_.reset();  // two data sets at once may not fit into memory
    data_ = std::make_unique<PreparedData>(options, stride, context.loading_threads(),
                                           context.preparing, context.note);
    key_ = key;
  }
  return *data_;
}

}  // namespace evolve::trainer
