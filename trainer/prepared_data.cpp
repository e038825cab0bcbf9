#include "trainer/prepared_data.hpp"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_real_distribution.hpp>

namespace evolve::trainer {
namespace {

/// Sizes in pixels of all labels of pictures whose longer side is imgsz times a factor of its own.
template <class Factor>
std::vector<Size> label_sizes(const data::Dataset& dataset, Factor factor) {
  std::vector<Size> sizes;
  for (const data::Picture& picture : dataset.pictures) {
    const int longer = std::max(picture.original_width, picture.original_height);
    const double scale = factor() * dataset.imgsz / longer;
    for (const data::Label& label : picture.labels) {
      sizes.push_back({static_cast<float>(label.w * picture.original_width * scale),
                       static_cast<float>(label.h * picture.original_height * scale)});
    }
  }
  return sizes;
}

}  // namespace

PreparedData::PreparedData(const TrainOptions& options, int stride, int threads) {
  const auto config = data::read_data_yaml(options.data);
  data::LoadOptions load{.imgsz = options.imgsz,
                         .training = true,
                         .single_cls = options.single_cls,
                         .threads = threads};
  training_ = data::load(config, data::Split::train, load);
  load.training = false;
  const auto validation = data::load(config, data::Split::val, load);
  // train.py validates twice the pictures at once, and rectangles depend on how many there are.
  validation_ = data::validation_batches(validation, 2 * options.batch_size, stride, /*rect=*/true);
}

const AnchorChoice& PreparedData::fit_anchors(const std::vector<Size>& current, double thr) {
  AnchorKey key{{}, thr};
  for (const Size& size : current) key.first.emplace_back(size.w, size.h);
  if (const auto it = anchors_.find(key); it != anchors_.end()) return it->second;
  boost::random::mt19937 rng(0);
  boost::random::uniform_real_distribution<double> jitter(0.9, 1.1);
  const auto jittered = label_sizes(training_, [&] { return jitter(rng); });
  const auto labels = label_sizes(training_, [] { return 1.0; });
  AnchorSearch search;
  search.imgsz = training_.imgsz;
  search.thr = thr;
  return anchors_[key] = check_anchors(current, jittered, labels, search);
}

PreparedData& DataCache::get(const TrainOptions& options, int stride, int threads) {
  const Key key{options.data, options.imgsz, options.batch_size, stride, options.single_cls};
  if (key_ != key) {
    key_.reset();
    data_.reset();  // two data sets at once may not fit into memory
    data_ = std::make_unique<PreparedData>(options, stride, threads);
    key_ = key;
  }
  return *data_;
}

}  // namespace evolve::trainer
