#include "trainer/data/batch_stream.hpp"

#include <utility>

namespace evolve::data {

BatchStream::BatchStream(int count, int workers, std::function<Batch(int)> make)
    : count_(count), ahead_(2 * workers), make_(std::move(make)) {
  for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
}

BatchStream::~BatchStream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  workers_.clear();
}

std::optional<Batch> BatchStream::next() {
  if (next_ >= count_) return std::nullopt;
  if (workers_.empty()) return make_(next_++);

  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return made_.contains(next_); });
  Made made = std::move(made_.extract(next_++).mapped());
  lock.unlock();
  changed_.notify_all();
  if (made.failure) std::rethrow_exception(made.failure);
  return std::move(made.batch);
}

void BatchStream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(
        lock, [this] { return stopping_ || unclaimed_ >= count_ || unclaimed_ < next_ + ahead_; });
    if (stopping_ || unclaimed_ >= count_) return;
    const int index = unclaimed_++;
    lock.unlock();
    Made made;
    try {
      made.batch = make_(index);
    } catch (...) {
      made.failure = std::current_exception();
    }
    lock.lock();
    made_.emplace(index, std::move(made));
    changed_.notify_all();
  }
}

}  // namespace evolve::data
