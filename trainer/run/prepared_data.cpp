#include "trainer/run/prepared_data.hpp"

namespace evolve::trainer {

PreparedData::PreparedData(const TrainOptions& options, int stride, int threads,
                           const std::function<void()>& beat) {
  const auto config = data::read_data_yaml(options.data);
  data::LoadOptions load{.imgsz = options.imgsz,
                         .training = true,
                         .single_cls = options.single_cls,
                         .threads = threads,
                         .beat = beat};
  training_ = data::load(config, data::Split::train, load);
  load.training = false;
  auto validation = data::load(config, data::Split::val, load);
  // train.py validates twice the images at once, and rectangles depend on how many there are.
  validation_ =
      data::validation_set(std::move(validation), 2 * options.batch_size, stride, /*rect=*/true);
}

const AnchorChoice& PreparedData::fit_anchors(const std::vector<Size>& current, double thr,
                                              const std::function<void()>& beat) {
  AnchorKey key{{}, thr};
  for (const Size& size : current) key.first.emplace_back(size.w, size.h);
  if (const auto it = anchors_.find(key); it != anchors_.end()) return it->second;
  AnchorSearch search;
  search.thr = thr;
  search.beat = beat;
  return anchors_[key] = check_anchors(current, training_, search);
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
