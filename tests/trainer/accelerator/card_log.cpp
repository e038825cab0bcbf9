#include "tests/trainer/accelerator/card_log.hpp"

#include <mutex>
#include <set>

#include "tests/trainer/accelerator/simulated_accelerator.hpp"

namespace evolve::test {
namespace {

struct Log {
  std::mutex mutex;
  CardCounts counts;
  std::set<const void*> pinned;
};

Log& card() {
  static Log log;
  return log;
}

}  // namespace

void count_launch(const std::string& name) {
  const std::lock_guard lock(card().mutex);
  ++card().counts.launches;
  ++card().counts.operators[name];
}

void count_wait() {
  const std::lock_guard lock(card().mutex);
  ++card().counts.waits;
}

void count_copy(bool upload, std::int64_t bytes) {
  const std::lock_guard lock(card().mutex);
  CardCounts& counts = card().counts;
  ++(upload ? counts.uploads : counts.downloads);
  (upload ? counts.uploaded_bytes : counts.downloaded_bytes) += bytes;
}

void pin(void* address) {
  const std::lock_guard lock(card().mutex);
  card().pinned.insert(address);
}

void unpin(const void* address) {
  const std::lock_guard lock(card().mutex);
  card().pinned.erase(address);
}

bool is_pinned_address(const void* address) {
  const std::lock_guard lock(card().mutex);
  return card().pinned.contains(address);
}

CardCounts card_counts() {
  const std::lock_guard lock(card().mutex);
  return card().counts;
}

CardCounts operator-(const CardCounts& after, const CardCounts& before) {
  CardCounts between{.launches = after.launches - before.launches,
                     .uploads = after.uploads - before.uploads,
                     .uploaded_bytes = after.uploaded_bytes - before.uploaded_bytes,
                     .downloads = after.downloads - before.downloads,
                     .downloaded_bytes = after.downloaded_bytes - before.downloaded_bytes,
                     .waits = after.waits - before.waits};
  for (const auto& [name, count] : after.operators) {
    const auto found = before.operators.find(name);
    const auto more = count - (found == before.operators.end() ? 0 : found->second);
    if (more > 0) between.operators[name] = more;
  }
  return between;
}

}  // namespace evolve::test
