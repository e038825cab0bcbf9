// Augmentation and loading against numbers of YOLOv5 itself: pixels within 1, labels within 1e-4.
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "tests/golden.hpp"
#include "tests/trainer/data/replay.hpp"
#include "trainer/data/augment.hpp"
#include "trainer/data/batch.hpp"
#include "trainer/data/letterbox.hpp"
#include "trainer/data/mosaic.hpp"
#include "trainer/data/perspective.hpp"
#include "trainer/data/pixels.hpp"

namespace evolve::data {
namespace {

using test::Recorded;

/// A [height, width, 3] tensor of bytes as an image.
cv::Mat image_of(const Recorded& tensor) {
  auto bytes = tensor.as<std::uint8_t>();
  return cv::Mat(static_cast<int>(tensor.shape.at(0)), static_cast<int>(tensor.shape.at(1)),
                 CV_8UC3, bytes.data())
      .clone();
}

/// A [rows, columns] tensor of T, row by row.
template <class T>
std::vector<std::vector<T>> rows_of(const Recorded& tensor) {
  const auto values = tensor.as<T>();
  const auto columns = static_cast<std::ptrdiff_t>(tensor.shape.at(1));
  std::vector<std::vector<T>> rows;
  for (auto it = values.begin(); it != values.end(); it += columns)
    rows.emplace_back(it, it + columns);
  return rows;
}

void expect_same_pixels(const cv::Mat& ours, const cv::Mat& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  EXPECT_LE(cv::norm(ours, theirs, cv::NORM_INF), 1);
}

/// Rows of class and corners.
std::vector<Box> boxes_of(const Recorded& tensor) {
  std::vector<Box> boxes;
  for (const auto& row : rows_of<float>(tensor)) {
    boxes.push_back({static_cast<int>(row[0]), row[1], row[2], row[3], row[4]});
  }
  return boxes;
}

void expect_same_boxes(const std::vector<Box>& ours, const std::vector<Box>& theirs,
                       double tolerance) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].cls, theirs[i].cls);
    EXPECT_NEAR(ours[i].x1, theirs[i].x1, tolerance);
    EXPECT_NEAR(ours[i].y1, theirs[i].y1, tolerance);
    EXPECT_NEAR(ours[i].x2, theirs[i].x2, tolerance);
    EXPECT_NEAR(ours[i].y2, theirs[i].y2, tolerance);
  }
}

/// Rows that hold class, x, y, w and h from column `first` on.
std::vector<Label> labels_of(const Recorded& tensor, std::size_t first) {
  std::vector<Label> labels;
  for (const auto& row : rows_of<float>(tensor)) {
    labels.push_back({static_cast<int>(row[first]), row[first + 1], row[first + 2], row[first + 3],
                      row[first + 4]});
  }
  return labels;
}

void expect_same_labels(const std::vector<Label>& ours, const std::vector<Label>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].cls, theirs[i].cls);
    EXPECT_NEAR(ours[i].x, theirs[i].x, 1e-4);
    EXPECT_NEAR(ours[i].y, theirs[i].y, 1e-4);
    EXPECT_NEAR(ours[i].w, theirs[i].w, 1e-4);
    EXPECT_NEAR(ours[i].h, theirs[i].h, 1e-4);
  }
}

TEST(ParityAugment, LetterboxesLikeYolov5) {
  CASES_OR_SKIP(cases, "h_augment");
  for (const test::Case& golden : cases) {
    for (const auto& item : golden.scalars.at("letterbox")) {
      SCOPED_TRACE(golden.name + " " + item.at("output").get<std::string>());
      // Padding to multiples of the stride ("auto") is padding to the shape that comes out.
      const auto shape = item.at("out_shape").get<std::vector<int>>();
      cv::Mat boxed;
      const Letterbox box = letterbox(image_of(golden[item.at("input")]), {shape[1], shape[0]},
                                      item.at("scaleup"), boxed);
      expect_same_pixels(boxed, image_of(golden[item.at("output")]));
      EXPECT_DOUBLE_EQ(box.ratio, item.at("ratio_wh")[0].get<double>());
      EXPECT_DOUBLE_EQ(box.pad_x, item.at("pad_wh")[0].get<double>());
      EXPECT_DOUBLE_EQ(box.pad_y, item.at("pad_wh")[1].get<double>());
    }
  }
}

TEST(ParityAugment, WarpsImagesAndBoxesLikeYolov5) {
  CASES_OR_SKIP(cases, "h_augment");
  for (const test::Case& golden : cases) {
    for (const auto& item : golden.scalars.at("perspective")) {
      const std::string key = item.at("key");
      SCOPED_TRACE(golden.name + " " + key);
      const auto& params = item.at("params");
      const Augmentation augmentation{.degrees = params.at("degrees"),
                                      .translate = params.at("translate"),
                                      .scale = params.at("scale"),
                                      .shear = params.at("shear"),
                                      .perspective = params.at("perspective")};
      const cv::Mat in = image_of(golden[key + ".in"]);
      const auto border = item.at("border").get<std::vector<int>>();
      Replay rng = uniforms(item.at("draws"));
      const Warp drawn = draw_warp(augmentation, in.size(),
                                   {in.cols + 2 * border[1], in.rows + 2 * border[0]}, rng);
      EXPECT_TRUE(rng.finished());
      for (int i = 0; i < 9 && !item.at("M").is_null(); ++i) {
        EXPECT_NEAR(drawn.matrix.val[i], item.at("M")[i / 3][i % 3].get<double>(), 1e-9);
      }

      cv::Mat out;
      warp(in, drawn, out);
      expect_same_pixels(out, image_of(golden[key + ".out"]));

      Objects objects{boxes_of(golden[key + ".targets_in"]), {}};
      objects.outlines.resize(objects.boxes.size());
      expect_same_boxes(warp(objects, drawn), boxes_of(golden[key + ".targets_out"]), 1e-3);
    }
  }
}

TEST(ParityAugment, KeepsTheBoxesThatYolov5Keeps) {
  CASES_OR_SKIP(cases, "h_augment");
  for (const test::Case& golden : cases) {
    const auto before = rows_of<double>(golden["cand.b1"]),
               after = rows_of<double>(golden["cand.b2"]);
    for (const auto& [name, threshold] :
         {std::pair{"cand.keep_area0.1", 0.1}, {"cand.keep_area0.01", 0.01}}) {
      const auto keep = golden[name].as<std::uint8_t>();
      ASSERT_EQ(keep.size(), before.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(is_candidate(cv::Vec4d(before[i].data()), cv::Vec4d(after[i].data()), threshold),
                  keep[i] != 0)
            << name << " " << i;
      }
    }
  }
}

TEST(ParityAugment, ScalesColoursLikeYolov5) {
  CASES_OR_SKIP(cases, "h_augment");
  for (const test::Case& golden : cases) {
    for (const auto& item : golden.scalars.at("hsv")) {
      const std::string key = item.at("key");
      SCOPED_TRACE(golden.name + " " + key);
      const auto factors = item.at("r").get<std::array<double, 3>>();
      const cv::Mat tables = hsv_tables(factors);
      for (int i = 0; i < 256; ++i) {
        EXPECT_EQ(tables.at<cv::Vec3b>(i),
                  cv::Vec3b(item.at("lut_hue")[i], item.at("lut_sat")[i], item.at("lut_val")[i]));
      }
      cv::Mat image = image_of(golden[key + ".in"]), scratch;
      scale_hsv(image, factors, scratch);
      expect_same_pixels(image, image_of(golden[key + ".out"]));
    }
  }
}

TEST(ParityAugment, PlacesMosaicTilesLikeYolov5) {
  CASES_OR_SKIP(cases, "h_augment");
  for (const test::Case& golden : cases) {
    for (const auto& item : golden.scalars.at("mosaic_coords")) {
      const std::string key = item.at("key");
      SCOPED_TRACE(golden.name + " " + key);
      Dataset dataset{.names = {}, .imgsz = item.at("img_size"), .images = {}};
      const cv::Point centre(item.at("xc"), item.at("yc"));
      for (const auto& entry : item.at("tiles")) {
        const std::string number = std::to_string(entry.at("tile").get<int>());
        Image image;
        image.pixels = image_of(golden["mosaic.tile" + number]);
        image.labels = labels_of(golden["mosaic.labels" + number], 0);
        dataset.images.push_back(image);

        const Tile tile =
            place_tile(entry.at("tile"), centre, image.pixels.size(), 2 * dataset.imgsz);
        const auto to = entry.at("dst_x1y1x2y2").get<std::array<int, 4>>();
        const auto from = entry.at("src_x1y1x2y2").get<std::array<int, 4>>();
        EXPECT_EQ(tile.canvas, cv::Rect(cv::Point(to[0], to[1]), cv::Point(to[2], to[3])));
        EXPECT_EQ(tile.image, cv::Rect(cv::Point(from[0], from[1]), cv::Point(from[2], from[3])));
        EXPECT_EQ(tile.pad_x, entry.at("padw").get<int>());
        EXPECT_EQ(tile.pad_y, entry.at("padh").get<int>());
      }
      cv::Mat canvas;
      const auto pieces = mosaic_pieces(dataset, {0, 1, 2, 3}, centre);
      const Objects objects = mosaic_objects(dataset, pieces);
      paint(dataset, pieces, {2 * dataset.imgsz, 2 * dataset.imgsz}, canvas);
      expect_same_pixels(canvas, image_of(golden[key + ".canvas"]));
      expect_same_boxes(objects.boxes, boxes_of(golden[key + ".labels_px_clipped"]), 1e-4);
    }
  }
}

TEST(ParityAugment, ResizesImagesLikeYolov5) {
  CASES_OR_SKIP(cases, "h_augment");
  for (const test::Case& golden : cases) {
    for (const auto& item : golden.scalars.at("load_image")) {
      const std::string input = item.at("input");
      const bool training = item.at("augment").get<int>() != 0;
      SCOPED_TRACE(golden.name + " " + input + (training ? " training" : " validation"));
      const std::string output = input.substr(0, input.find('.')) + (training ? ".aug" : ".val");
      expect_same_pixels(resized(image_of(golden[input]), item.at("img_size"), training),
                         image_of(golden[output]));
    }
  }
}

TEST(ParitySample, ReplaysWholeTrainingSamplesOfYolov5) {
  CASES_OR_SKIP(cases, "h_getitem");
  for (const test::Case& golden : cases) {
    Dataset dataset;
    for (int i = 0; golden.has("img" + std::to_string(i)); ++i) {
      Image image;
      image.pixels = image_of(golden["img" + std::to_string(i)]);
      image.labels = labels_of(golden["labels" + std::to_string(i)], 0);
      dataset.images.push_back(image);
    }
    for (const auto& item : golden.scalars.at("items")) {
      const std::string key = item.at("key");
      SCOPED_TRACE(golden.name + " " + key);
      hyp::Hyperparameters hyp;
      for (const auto& [name, value] : item.at("hyp").items()) hyp.set(name, value.get<double>());
      dataset.imgsz = item.at("img_size");
      Replay rng(item.at("draws"));
      Sample sample;
      render(dataset,
             draw_recipe(dataset, item.at("index"), {dataset.imgsz, dataset.imgsz}, {{}, true},
                         augmentation_of(hyp), rng),
             sample);
      EXPECT_TRUE(rng.finished());

      const auto pixels = golden[key + ".out"].as<std::uint8_t>();
      ASSERT_EQ(pixels.size(), 3 * sample.pixels.total());
      std::vector<std::uint8_t> planes(pixels.size());
      write_planes(sample.pixels, planes.data());
      EXPECT_LE(cv::norm(planes, pixels, cv::NORM_INF), 1);
      expect_same_labels(sample.labels, labels_of(golden[key + ".labels_out"], 1));
    }
  }
}

cv::Mat patch_of(const nlohmann::json& rows) {
  cv::Mat patch(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()), CV_8UC3);
  for (int y = 0; y < patch.rows; ++y) {
    for (int x = 0; x < patch.cols; ++x) {
      patch.at<cv::Vec3b>(y, x) = cv::Vec3b(rows[y][x][0], rows[y][x][1], rows[y][x][2]);
    }
  }
  return patch;
}

/// The file of that name anywhere below EVOLVE_DATA.
std::filesystem::path find_image(const std::string& name) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::data_folder())) {
    if (entry.path().filename() == name) return entry.path();
  }
  return {};
}

TEST(ParityJpeg, DecodesLikeYolov5) {
  CASES_OR_SKIP(cases, "h_jpeg");
  if (!std::filesystem::is_directory(test::data_folder()))
    GTEST_SKIP() << "no images in " << test::data_folder();
  for (const test::Case& golden : cases) {
    for (const auto& [name, expected] : golden.scalars.at("images").items()) {
      SCOPED_TRACE(name);
      const auto file = find_image(name);
      ASSERT_FALSE(file.empty());
      const auto shape = expected.at("shape").get<std::vector<int>>();
      const DataConfig config{
          .file = "", .names = {"a", "b", "c"}, .train = {file}, .val = {}, .test = {}};
      const Dataset dataset = load(config, Split::train, {.imgsz = std::max(shape[0], shape[1])});
      const cv::Mat& pixels = dataset.images.at(0).pixels;
      ASSERT_EQ(pixels.size(), cv::Size(shape[1], shape[0]));

      const cv::Scalar sum = cv::sum(pixels);
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(sum[i], expected.at("sum_bgr")[static_cast<std::size_t>(i)].get<double>(),
                    0.01 * pixels.total());
      }
      expect_same_pixels(pixels(cv::Rect(0, 0, 4, 4)), patch_of(expected.at("patch_0_0_4x4_bgr")));
      expect_same_pixels(pixels(cv::Rect(pixels.cols / 2, pixels.rows / 2, 4, 4)),
                         patch_of(expected.at("patch_center")));
    }
  }
}

}  // namespace
}  // namespace evolve::data
