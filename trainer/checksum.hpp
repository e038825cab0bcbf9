// The checksum of files and their parts.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string_view>

namespace evolve::trainer {

/// CRC-32, which a zip archive has of each record; of bytes that others come `before`, with the
/// checksum of these, that of all together.
inline std::uint32_t checksum_of(std::string_view bytes, std::uint32_t before = 0) {
  if (bytes.empty()) return before;  // of none at no address zlib makes 0
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace evolve::trainer
