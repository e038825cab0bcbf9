// The records of a .pt file: torch.save makes a zip archive of them, none compressed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace evolve::trainer {

/// Records by name, without the archive's own folder: "data.pkl", "data/0", "version".
class Archive {
 public:
  /// Reads the directory of `bytes`, which must outlive the archive; its memory is a small multiple
  /// of theirs, whatever they claim. Throws std::runtime_error with one line for anything that is
  /// not such archive: truncated, with compressed or encrypted records, with two of one name, with
  /// records that overlap or reach beyond the end.
  explicit Archive(std::string_view bytes);

  bool has(const std::string& name) const { return records_.contains(name); }

  /// The bytes of a record. Throws std::runtime_error when there is none, or its checksum
  /// disagrees.
  std::string_view record(const std::string& name) const;

 private:
  struct Record {
    std::string_view bytes;
    std::uint32_t checksum = 0;
  };

  std::map<std::string, Record> records_;
};

}  // namespace evolve::trainer
