// What there is to know about the images of a split without decoding them.
#pragma once

#include <string>
#include <vector>

#include "trainer/data/cache_file.hpp"
#include "trainer/data/data_yaml.hpp"
#include "trainer/data/image_file.hpp"
#include "trainer/data/label_file.hpp"
#include "trainer/data/note.hpp"
#include "trainer/data/threads.hpp"

namespace evolve::data {

/// An image that has been looked at, and its labels.
struct ScannedImage {
  std::string file;
  FileStamp image_stamp, label_stamp;
  /// As it is decoded.
  ImageSize size;
  LabelFile found;
  /// One line that says why training cannot use it; empty where it can.
  std::string fault;
};

struct ScanOptions {
  /// All classes become class 0.
  bool single_cls = false;
  /// Each image is decoded: what is damaged between its header and its end is found too.
  bool decode = false;
  /// Where it is remembered what was found; empty: nowhere.
  std::string cache_folder = {};
  Threads threads = all_threads;
  /// Called while files are looked for and while another process looks, and, unless all that was
  /// found is remembered, for each image.
  Beat beat = [](int, int) {};
  /// Is told, in one line, why nothing can be remembered.
  Note note = [](const std::string&) {};
};

/// Reads every label, and each image's header and end (or all of it), of a split that is no
/// embedded one; in the order of the configuration. An image is not looked at again while neither
/// its file nor that of its labels changes in size or time. Of all processes of a machine that want
/// the same, one looks.
std::vector<ScannedImage> scan(const DataConfig& config, Split split, const ScanOptions& options);

/// The faults of all images, each a line.
std::vector<std::string> faults_of(const std::vector<ScannedImage>& images);

}  // namespace evolve::data
