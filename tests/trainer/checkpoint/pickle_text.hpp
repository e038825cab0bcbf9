// Pickles and archives as torch.save writes them, put together by hand; damaged ones too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evolve::test {

/// Opcodes that leave one value on the stack.
using Opcodes = std::string;

/// `value` in `bytes` bytes, little-endian.
std::string little_endian(std::uint64_t value, int bytes);

/// "\x80\x02" value ".": protocol 2.
std::string pickled(const Opcodes& value);

Opcodes text(const std::string& value);
Opcodes number(std::int32_t value);
Opcodes list(const std::vector<Opcodes>& items);
Opcodes tuple(const std::vector<Opcodes>& items);
/// Keys and values.
using Entry = std::pair<Opcodes, Opcodes>;
using Entries = std::vector<Entry>;
Opcodes dict(const Entries& items);
Opcodes ordered_dict(const Entries& items);
/// What a call returns: "torch._utils _rebuild_tensor_v2".
Opcodes call(const std::string& module, const std::string& name, const std::vector<Opcodes>& with);
/// An instance of a class, given its state.
Opcodes object(const std::string& module, const std::string& name, const Opcodes& state);
/// Keeps the value under a number, then recalls it.
Opcodes keep(const Opcodes& value, std::uint8_t number);
Opcodes recall(std::uint8_t number);

/// A contiguous float tensor of one dimension in storage `key`, whose elements are `count`.
Opcodes tensor(const std::string& key, std::int32_t count);
/// A torch.nn.Module; `further` joins its state.
Opcodes module(const Entries& parameters, const Entries& buffers, const Entries& submodules,
               const Entries& further = {});

/// A record of an archive, and what its headers say where that is not the truth.
struct ZipRecord {
  std::string name;
  std::string bytes;
  int method = 0;
  int flags = 0;
  std::int64_t claimed_size = -1;
  std::int64_t claimed_place = -1;
};

/// A zip archive of stored records.
std::string zip(const std::vector<ZipRecord>& records);

/// The records of an archive in order; `bytes` must be one that zip() or torch wrote.
std::vector<ZipRecord> unzip(std::string_view bytes);

}  // namespace evolve::test
