#include "trainer/data/image_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"
#include "trainer/checksum.hpp"

namespace evolve::data {
namespace {

struct ImageFile : testing::Test {
  TemporaryFolder folder;

  std::string refused(const std::string& file) {
    return test::refusal([&] { check_image(file); }).substr(file.size());
  }
};

TEST_F(ImageFile, KnowsTheSizeOfEveryKind) {
  for (const char* name : {"a.jpg", "a.png", "a.bmp", "a.webp", "a.tiff"}) {
    const ImageSize size = check_image(write_image(folder / name, 33, 21));
    EXPECT_EQ(size.width, 33) << name;
    EXPECT_EQ(size.height, 21) << name;
  }
}

/// The Exif segment of a JPEG that says this orientation, in either order of bytes.
std::string exif(char orientation, bool little) {
  const std::string tiff =
      little ? std::string("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18) + orientation +
                   std::string(7, '\0')
             : std::string("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 19) + orientation +
                   std::string(6, '\0');
  return std::string(
             "\xff\xe1\x00\x22"
             "Exif\0\0",
             10) +
         tiff;
}

TEST_F(ImageFile, HasTheSizeInWhichItIsDecodedWhateverItsOrientation) {
  const std::string file = write_image(folder / "a.jpg", 40, 20);
  const std::string bytes = read_file(file);
  for (const bool little : {true, false}) {
    for (char orientation = 0; orientation <= 9; ++orientation) {
      write_file(file, bytes.substr(0, 2) + exif(orientation, little) + bytes.substr(2));
      const ImageSize size = check_image(file);
      EXPECT_EQ(cv::Size(size.width, size.height), decode(file).size()) << int{orientation};
      EXPECT_EQ(size.width, orientation >= 5 && orientation <= 8 ? 20 : 40) << int{orientation};
    }
  }
}

TEST_F(ImageFile, HasTheSizeInWhichItIsDecodedWhereverAPngSaysItsOrientation) {
  const std::string bytes = read_file(write_image(folder / "a.png", 40, 20));
  const std::string chunk = "eXIf" + exif(6, /*little=*/false).substr(10);
  const auto number = [](std::uint32_t value) {
    std::string text;
    for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(value >> shift);
    return text;
  };
  const auto whole = number(static_cast<std::uint32_t>(chunk.size() - 4)) + chunk +
                     number(trainer::checksum_of(chunk));
  const std::size_t behind_header = 33, before_end = bytes.size() - 12;
  for (const auto place : {behind_header, before_end}) {
    const auto file =
        write_file(folder / "turned.png", bytes.substr(0, place) + whole + bytes.substr(place));
    const ImageSize size = check_image(file);
    EXPECT_EQ(cv::Size(size.width, size.height), decode(file).size()) << place;
  }
}

/// A JPEG of 40 x 20 pixels with these segments before all others.
std::string with_segments(const std::string& file, const std::string& segments) {
  const std::string bytes = read_file(write_image(file, 40, 20));
  return write_file(file, bytes.substr(0, 2) + segments + bytes.substr(2));
}

TEST_F(ImageFile, LooksForItsOrientationInTheFirstApplicationSegmentOnlyAsOpenCvDoes) {
  const std::string xmp("\xff\xe1\x00\x1fhttp://ns.adobe.com/xap/1.0/\0", 33);
  for (const auto& [segments, width] :
       {std::pair(exif(6, true) + xmp, 20), std::pair(xmp + exif(6, true), 40)}) {
    const auto file = with_segments(folder / "a.jpg", segments);
    EXPECT_EQ(decode(file).cols, width);
    EXPECT_EQ(check_image(file).width, width);
  }
}

TEST_F(ImageFile, ReadsNoOrientationBehindAnEntryThatPointsOutOfItsSegmentAsOpenCvDoes) {
  for (const std::string& entry : {std::string("\x0e\x01\x02\0\x64\0\0\0\xf0\0\0\0", 12),  // a text
                                   std::string("\x1a\x01\x05\0\x01\0\0\0\xf0\0\0\0", 12)}) {  // dpi
    auto segment = exif(6, true);
    segment.replace(18, 1, "\x02");  // entries
    segment.insert(20, entry);
    segment[3] = static_cast<char>(segment.size() - 2);
    const auto file = with_segments(folder / "a.jpg", segment);
    EXPECT_EQ(decode(file).cols, 40);
    EXPECT_EQ(check_image(file).width, 40);
  }
}

TEST_F(ImageFile, GoesByContentNotByName) {
  const std::string file = write_image(folder / "a.png", 33, 21);
  std::filesystem::rename(file, folder / "a.jpg");
  EXPECT_EQ(check_image(folder / "a.jpg").width, 33);
}

TEST_F(ImageFile, RefusesATruncatedImage) {
  for (const char* name : {"a.jpg", "a.png", "a.bmp", "a.webp", "a.tiff"}) {
    const std::string file = write_image(folder / name, 64, 64);
    const std::string bytes = read_file(file);
    for (const double part : {0.5, 0.9}) {
      write_file(file, bytes.substr(
                           0, static_cast<std::size_t>(part * static_cast<double>(bytes.size()))));
      EXPECT_THAT(refused(file), testing::StartsWith(": is truncated")) << name << part;
    }
  }
}

TEST_F(ImageFile, MissesTheEndOfAJpegThatLosesItsLastByte) {
  const std::string file = write_image(folder / "a.jpg");
  const std::string bytes = read_file(file);
  write_file(file, bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(refused(file), ": is truncated: its end is missing; copy it again, or remove it");
}

TEST_F(ImageFile, AllowsBytesAfterTheEndOfAJpeg) {
  const std::string file = write_image(folder / "a.jpg");
  const std::string bytes = read_file(file);
  for (const std::size_t more : {100U, 300000U}) {
    write_file(file, bytes + std::string(more, '\0'));
    EXPECT_EQ(check_image(file).width, 20) << more;
  }
}

TEST_F(ImageFile, AllowsBytesBetweenTheSegmentsOfAJpegAsLibjpegDoes) {
  const std::string file = write_image(folder / "a.jpg", 40, 20);
  const std::string bytes = read_file(file);
  const std::string comment("\xff\xfe\x00\x04hi\0\0\0", 9);
  const std::string padded = bytes.substr(0, 2) + comment + bytes.substr(2);
  write_file(file, padded);
  EXPECT_EQ(check_image(file).width, 40);
  write_file(file, padded.substr(0, padded.size() - 1));
  EXPECT_EQ(refused(file), ": is truncated: its end is missing; copy it again, or remove it");
}

TEST_F(ImageFile, IsNotFooledByTheEndOfAThumbnail) {
  const std::string file = write_image(folder / "a.jpg");
  const std::string bytes = read_file(file);
  const std::string thumbnail("\xff\xe1\x00\x06\xff\xd8\xff\xd9", 8);
  write_file(file, bytes.substr(0, 2) + thumbnail + bytes.substr(2, bytes.size() - 4));
  EXPECT_EQ(refused(file), ": is truncated: its end is missing; copy it again, or remove it");
}

TEST_F(ImageFile, RefusesWhatIsNoImage) {
  for (const char* bytes : {"", "hello", "\xff\xd8hello, this is no jpeg at all"}) {
    EXPECT_EQ(refused(write_file(folder / "a.jpg", bytes)),
              ": is truncated, or no image of a kind that YOLOv5 reads; convert it to .jpg or "
              ".png, or remove it");
  }
}

// OpenCV would read it.
TEST_F(ImageFile, RefusesAnImageOfAKindThatYolov5LeavesOut) {
  const std::string ppm = read_file(write_image(folder / "a.ppm"));
  EXPECT_THAT(refused(write_file(folder / "a.jpg", ppm)),
              testing::StartsWith(": is truncated, or no image of a kind that YOLOv5 reads; "));
}

TEST_F(ImageFile, RefusesABmpThatSpeaksOfMorePixelsThanThereAreNumbers) {
  std::string bytes = read_file(write_image(folder / "a.bmp"));
  bytes.replace(18, 8, "\x6d\x6d\x11\x11\x6d\x6d\x11\x11");
  bytes.replace(28, 2, "\xff\xff");
  EXPECT_EQ(refused(write_file(folder / "a.bmp", bytes)),
            ": is truncated, or no image of a kind that YOLOv5 reads; convert it to .jpg or .png, "
            "or remove it");
}

TEST_F(ImageFile, RefusesAPngWithAChunkThatIsLongerThanTheFile) {
  std::string bytes = read_file(write_image(folder / "a.png", 64, 64));
  bytes.resize(bytes.size() - 12);  // the end chunk
  // With its own 12 bytes this length is 2^32.
  bytes.replace(33, 8, "\xff\xff\xff\xf4long");
  EXPECT_EQ(refused(write_file(folder / "a.png", bytes)),
            ": is truncated: its end is missing; copy it again, or remove it");
}

TEST_F(ImageFile, RefusesATinyImage) {
  EXPECT_EQ(refused(write_image(folder / "a.png", 9, 30)),
            ": is smaller than 10 pixels; remove it");
}

TEST_F(ImageFile, RefusesAnAbsentFile) {
  EXPECT_EQ(refused(folder / "a.jpg"),
            ": there is no such image; check the path, or take it off its list");
}

TEST_F(ImageFile, SurvivesGarbage) {
  std::mt19937 random(1);
  for (const char* name : {"a.jpg", "a.png", "a.bmp", "a.webp", "a.tiff"}) {
    const std::string file = write_image(folder / name);
    const std::string start = read_file(file);
    for (int i = 0; i < 60; ++i) {
      std::string bytes = start.substr(0, random() % 4 ? start.size() : random() % start.size());
      for (unsigned changes = random() % 8; changes > 0 && !bytes.empty(); --changes) {
        bytes[random() % std::min<std::size_t>(bytes.size(), 64)] = static_cast<char>(random());
      }
      try {
        const ImageSize size = check_image(write_file(file, bytes));
        EXPECT_GE(std::min(size.width, size.height), 10);
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).rfind(file, 0), 0U);
      }
    }
  }
}

TEST(ImageName, EndsLikeOneThatYolov5Takes) {
  for (const char* name : {"a.jpg", "a.JPEG", "b/a.Png", "a.webp", "a.tif", "a.pfm"})
    EXPECT_TRUE(is_image_name(name));
  for (const char* name : {"a.gif", "a.txt", "jpg", "a.jpg.part"})
    EXPECT_FALSE(is_image_name(name)) << name;
}

}  // namespace
}  // namespace evolve::data
