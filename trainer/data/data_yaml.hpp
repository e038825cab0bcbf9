// Data YAMLs: which images a data set has.
#pragma once

#include <string>
#include <vector>

namespace evolve::data {

enum class Split { train, val, test };

/// "train", "val", "test".
const std::string& name_of(Split split);
/// The split of that name, as `--task` gives it. Throws `Error` for another one.
Split split_of(const std::string& name);

/// The content of a data YAML.
struct DataConfig {
  std::string file;
  /// Drawn by the program, not read from files ("shapes").
  bool embedded = false;
  /// Class names; their number is the model's nc.
  std::vector<std::string> names;
  /// Files with images of each split that was asked for, sorted. `test` may be empty.
  std::vector<std::string> train, val, test;

  const std::vector<std::string>& images(Split split) const {
    return split == Split::train ? train : split == Split::val ? val : test;
  }
};

/// Reads a data YAML as YOLOv5 does. `path` is relative to the file, to `folder` ("": the
/// current one), or to the folder above the file's: the first below which all splits are found;
/// without it the splits are relative to the file, else to `folder`. A split is a folder (searched
/// recursively), a text file with one image per line, or a list of those; the others than `splits`
/// need not be there. `names` is a list or a map from 0 to n - 1; `nc`, when present, must agree
/// with it, and alone stands for class0, class1, …. "shapes" and "shapes-base" are the embedded
/// data sets, read no file and have all splits. Throws `Error` with file and line when the YAML is
/// broken or has a key twice, or a split is missing, absent or without images. Whether a listed
/// image is there, check() tells.
DataConfig read_data_yaml(const std::string& path,
                          const std::vector<Split>& splits = {Split::train, Split::val,
                                                              Split::test},
                          const std::string& folder = "");

/// The same with this share (0 < share <= 1) of the training images, the first ones, as Ultralytics
/// takes them: round(n * share), halves to the even number, but one at least where there are any.
DataConfig with_fraction(DataConfig config, double share);

/// Where the labels of an image are: the last "/images/" becomes "/labels/" and the ending ".txt".
std::string label_file_of(const std::string& image_file);

}  // namespace evolve::data
