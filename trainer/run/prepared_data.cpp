#include "trainer/run/prepared_data.hpp"

namespace evolve::trainer {

namespace {

data::Dataset load(const TrainOptions& options, data::Split split, int threads,
                   const std::function<void()>& beat) {
  return data::load(data::read_data_yaml(options.data), split,
                    {.imgsz = options.imgsz,
                     .training = split == data::Split::train,
                     .single_cls = options.single_cls,
                     .threads = threads,
                     .beat = beat});
}

}  // namespace

// train.py validates twice the images at once, and rectangles depend on how many there are.
PreparedData::PreparedData(const TrainOptions& options, int stride, int threads,
                           const std::function<void()>& beat)
    : training_(load(options, data::Split::train, threads, beat)),
      validation_(data::validation_set(load(options, data::Split::val, threads, beat),
                                       2 * options.batch_size, stride, /*rect=*/true)),
      fitter_(training_) {}

const DeviceImages& PreparedData::on(const ComputeContext& context) {
  if (!device_images_)
    device_images_ =
        device_images(training_, validation_, context.device, context.image_bytes, context.beat);
  return *device_images_;
}

const AnchorChoice& PreparedData::fit_anchors(const std::vector<Size>& current, double thr,
                                              const std::function<void()>& beat) {
  AnchorKey key{{}, thr};
  for (const Size& size : current) key.first.emplace_back(size.w, size.h);
  if (const auto it = anchors_.find(key); it != anchors_.end()) return it->second;
  return anchors_[key] = fitter_.fit(current, thr, beat);
}

PreparedData& DataCache::get(const TrainOptions& options, int stride, int threads,
                             const std::function<void()>& beat) {
  const Key key{options.data, options.imgsz, options.batch_size, stride, options.single_cls};
  if (key_ != key) {
    key_.reset();
    data_.reset();  // two data sets at once may not fit into memory
    data_ = std::make_unique<PreparedData>(options, stride, threads, beat);
    key_ = key;
  }
  return *data_;
}

}  // namespace evolve::trainer
