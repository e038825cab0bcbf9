#include "trainer/data/image_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "trainer/data/parallel.hpp"
#include "trainer/data/records.hpp"

namespace evolve::data {
namespace {

constexpr std::string_view image_records = "evolve images 1";

std::uint64_t pixel_bytes(cv::Size size) {
  return 3 * static_cast<std::uint64_t>(size.area());
}

/// Where the next image may begin.
std::uint64_t aligned(std::uint64_t bytes) {
  constexpr std::uint64_t line = 64;
  return (bytes + line - 1) / line * line;
}

/// How many of them fit, from the first on.
std::size_t fitting(const std::vector<WantedImage>& wanted, std::uint64_t budget) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    bytes += stored_bytes(wanted[i]);
    if (bytes > budget) return i;
  }
  return wanted.size();
}

/// Whether the cache has to be made again to hold the first `count` wanted images: one has changed,
/// or is missing. One that had no room is not missing before there is room for a quarter more: what
/// a machine has left differs from moment to moment.
bool is_outdated(const ImageCache& cache, const std::vector<WantedImage>& wanted, std::size_t count,
                 std::uint64_t budget) {
  const bool more_room = budget > cache.bytes() + cache.bytes() / 4;
  for (std::size_t i = 0; i < count; ++i) {
    if (!cache.find(wanted[i]).empty()) continue;
    if (cache.has_older(wanted[i]) || !cache.cut() || more_room) return true;
  }
  return false;
}

/// The records of a file of the first `count` images, and where their pixels begin.
struct Layout {
  std::string head;
  std::vector<std::uint64_t> begins;
  std::uint64_t bytes = 0;
};

Layout layout_of(const std::vector<WantedImage>& wanted, std::size_t count) {
  Layout layout;
  // The places come after the records, whose length does not depend on them.
  for (const bool measured : {false, true}) {
    std::uint64_t place = aligned(layout.head.size());
    layout.begins.clear();
    RecordWriter records;
    records.value(count < wanted.size());
    records.value(std::uint64_t{count});
    for (std::size_t i = 0; i < count; ++i) {
      records.text(wanted[i].file);
      records.value(wanted[i].stamp);
      records.value(wanted[i].size.width);
      records.value(wanted[i].size.height);
      records.value(place);
      layout.begins.push_back(place);
      place += aligned(pixel_bytes(wanted[i].size));
    }
    layout.head = with_head(image_records, records.bytes());
    if (measured) layout.bytes = place;
  }
  return layout;
}

/// Syncs as it goes: at the end a sync of everything might take minutes without a sign of life.
class SteadySync {
 public:
  explicit SteadySync(NewFile& file) : file_(file) {}

  void wrote(std::uint64_t bytes) {
    constexpr std::uint64_t step = std::uint64_t{256} << 20;
    const auto before = written_.fetch_add(bytes);
    if (before / step == (before + bytes) / step) return;
    const std::lock_guard lock(mutex_);
    file_.sync();
  }

 private:
  NewFile& file_;
  std::atomic<std::uint64_t> written_ = 0;
  std::mutex mutex_;
};

int make(const std::string& file, const std::vector<WantedImage>& wanted, std::size_t count,
         const ImageCache* before, const std::function<cv::Mat(int)>& decode,
         const ImageCacheOptions& options) {
  const Layout layout = layout_of(wanted, count);
  NewFile made(file, layout.bytes, options.beat);
  made.write(0, layout.head);
  SteadySync sync(made);
  std::atomic<int> decoded = 0, done = 0;
  const int all = static_cast<int>(count);
  for_each_index(all, options.threads, [&](int n) {
    const auto i = static_cast<std::size_t>(n);
    cv::Mat pixels = before ? before->find(wanted[i]) : cv::Mat();
    if (pixels.empty()) {
      pixels = decode(n);
      ++decoded;
    }
    const auto bytes = pixel_bytes(wanted[i].size);
    made.write(layout.begins[i], {reinterpret_cast<const char*>(pixels.data), bytes});
    sync.wrote(bytes);
    options.beat(++done, all);
  });
  made.replace();
  return decoded;
}

}  // namespace

std::uint64_t room_on_disk(const std::string& file) {
  struct statvfs disk {};
  const auto folder = std::filesystem::path(file).parent_path();
  if (::statvfs(folder.c_str(), &disk) != 0) return 0;
  const auto free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  const auto reserve = std::uint64_t{disk.f_blocks} * disk.f_frsize / 20;
  return free > reserve ? free - reserve : 0;
}

std::uint64_t stored_bytes(const WantedImage& image) {
  constexpr std::uint64_t record = 64;  // about
  return aligned(pixel_bytes(image.size)) + record + image.file.size();
}

std::shared_ptr<const ImageCache> ImageCache::open(const std::string& file) {
  const core::FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (!descriptor.is_open() || ::fstat(descriptor.number(), &found) != 0 || found.st_size == 0)
    return nullptr;
  const auto bytes = static_cast<std::size_t>(found.st_size);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor.number(), 0);
  if (mapped == MAP_FAILED) return nullptr;
  std::shared_ptr<ImageCache> cache(new ImageCache({static_cast<const char*>(mapped), bytes}));
  return cache->read_table() ? cache : nullptr;
}

ImageCache::~ImageCache() {
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

bool ImageCache::read_table() try {
  const auto records = read_records(image_records, bytes_);
  if (!records) return false;
  RecordReader reader(*records);
  cut_ = reader.value<bool>();
  const auto count = reader.value<std::uint64_t>();
  places_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto name = reader.text();
    Place place;
    place.stamp = reader.value<FileStamp>();
    place.size.width = reader.value<int>();
    place.size.height = reader.value<int>();
    place.begin = reader.value<std::uint64_t>();
    const auto pixels = pixel_bytes(place.size);
    if (pixels > bytes_.size() || place.begin > bytes_.size() - pixels) return false;
    places_.emplace(name, place);
  }
  return true;
} catch (const std::exception&) {  // records that nobody here has written
  return false;
}

cv::Mat ImageCache::find(const WantedImage& image) const {
  const auto it = places_.find(image.file);
  if (it == places_.end() || it->second.stamp != image.stamp || it->second.size != image.size)
    return {};
  // OpenCV has no matrix of constants.
  auto* pixels = const_cast<char*>(bytes_.data() + it->second.begin);
  return cv::Mat(image.size, CV_8UC3, pixels);
}

bool ImageCache::has_older(const WantedImage& image) const {
  const auto it = places_.find(image.file);
  return it != places_.end() && it->second.stamp != image.stamp;
}

void ImageCache::read_in(std::uint64_t bytes, const Threads& threads, const Beat& beat) const {
  constexpr std::uint64_t page = 4096, block = std::uint64_t{4} << 20;
  const auto end = std::min<std::uint64_t>(bytes, bytes_.size());
  for_each_index(static_cast<int>((end + block - 1) / block), threads, [&](int n) {
    const auto begin = static_cast<std::uint64_t>(n) * block;
    volatile char sink = 0;
    for (auto place = begin; place < std::min(begin + block, end); place += page)
      sink = bytes_[place];
    static_cast<void>(sink);
    beat(0, 0);
  });
}

OpenedCache open_image_cache(const std::string& file, const std::vector<WantedImage>& wanted,
                             const std::function<cv::Mat(int)>& decode,
                             const ImageCacheOptions& options) {
  // `taken` becomes free when the cache is replaced.
  const auto budget = [&](std::uint64_t taken) {
    return options.cut_to_disk ? std::min(options.budget, options.room(file) + taken)
                               : options.budget;
  };
  const auto outdated = [&](const ImageCache* cache, std::uint64_t bytes) {
    return !cache || is_outdated(*cache, wanted, fitting(wanted, bytes), bytes);
  };
  auto cache = ImageCache::open(file);
  if (!outdated(cache.get(), budget(cache ? cache->bytes() : 0))) return {.cache = cache};
  const MakerLock lock(file, options.beat);
  cache = ImageCache::open(file);  // another may have made it meanwhile
  const auto bytes = budget(0);
  if (!outdated(cache.get(), bytes)) return {.cache = cache};
  const auto count = fitting(wanted, bytes);
  const auto needed = options.cut_to_disk ? std::min<std::size_t>(1, wanted.size()) : count;
  if (fitting(wanted, options.room(file)) < needed)
    throw std::system_error(ENOSPC, std::generic_category());
  if (count == 0) return {.cache = cache};
  const int decoded = make(file, wanted, count, cache.get(), decode, options);
  return {.cache = ImageCache::open(file), .decoded = decoded};
}

void will_need(const cv::Mat& pixels) {
  // The system reads no more than so much ahead at a time, whatever it is asked for.
  constexpr std::uintptr_t most = std::uintptr_t{128} << 10;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(pixels.datastart) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(pixels.dataend);
  for (auto place = begin; place < end; place += most)
    ::madvise(reinterpret_cast<void*>(place), std::min(most, end - place), MADV_WILLNEED);
}

void will_need(const std::string& file) {
  const core::FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.is_open()) ::posix_fadvise(descriptor.number(), 0, 0, POSIX_FADV_WILLNEED);
}

}  // namespace evolve::data
