#include "tests/trainer/checkpoint/pickle_text.hpp"

#include <zlib.h>

namespace evolve::test {
namespace {

Opcodes joined(const std::vector<Opcodes>& items) {
  Opcodes all;
  for (const auto& item : items) all += item;
  return all;
}

Opcodes set_items(const Entries& items) {
  Opcodes all = "(";
  for (const auto& [key, value] : items) all += key + value;
  return all + "u";
}

std::uint64_t read(std::string_view bytes, std::size_t place, int count) {
  std::uint64_t value = 0;
  for (int i = count - 1; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes.at(place + static_cast<std::size_t>(i)));
  }
  return value;
}

}  // namespace

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

std::string pickled(const Opcodes& value) {
  return "\x80\x02" + value + ".";
}

Opcodes text(const std::string& value) {
  return "X" + little_endian(value.size(), 4) + value;
}

Opcodes number(std::int32_t value) {
  return "J" + little_endian(static_cast<std::uint32_t>(value), 4);
}

Opcodes list(const std::vector<Opcodes>& items) {
  return "](" + joined(items) + "e";
}

Opcodes tuple(const std::vector<Opcodes>& items) {
  return "(" + joined(items) + "t";
}

Opcodes dict(const Entries& items) {
  return "}" + set_items(items);
}

Opcodes ordered_dict(const Entries& items) {
  return "ccollections\nOrderedDict\n)R" + set_items(items);
}

Opcodes call(const std::string& module, const std::string& name, const std::vector<Opcodes>& with) {
  return "c" + module + "\n" + name + "\n" + tuple(with) + "R";
}

Opcodes object(const std::string& module, const std::string& name, const Opcodes& state) {
  return "c" + module + "\n" + name + "\n)\x81" + state + "b";
}

Opcodes keep(const Opcodes& value, std::uint8_t number) {
  return value + "q" + static_cast<char>(number);
}

Opcodes recall(std::uint8_t number) {
  return std::string("h") + static_cast<char>(number);
}

Opcodes tensor(const std::string& key, std::int32_t count) {
  const auto storage =
      tuple({text("storage"), "ctorch\nFloatStorage\n", text(key), text("cpu"), number(count)}) +
      "Q";
  return call(
      "torch._utils", "_rebuild_tensor_v2",
      {storage, number(0), tuple({number(count)}), tuple({number(1)}), "\x89", ordered_dict({})});
}

Opcodes module(const Entries& parameters, const Entries& buffers, const Entries& submodules,
               const Entries& further) {
  Entries state{{text("training"), "\x89"},
                {text("_parameters"), ordered_dict(parameters)},
                {text("_buffers"), ordered_dict(buffers)},
                {text("_modules"), ordered_dict(submodules)}};
  state.insert(state.end(), further.begin(), further.end());
  return object("models.common", "Module", dict(state));
}

std::string zip(const std::vector<ZipRecord>& records) {
  std::string bytes, directory;
  for (const auto& record : records) {
    const auto checksum =
        crc32_z(0, reinterpret_cast<const Bytef*>(record.bytes.data()), record.bytes.size());
    const auto claimed = [](std::int64_t claim, std::uint64_t truth) {
      return little_endian(claim < 0 ? truth : static_cast<std::uint64_t>(claim), 4);
    };
    const std::string size = claimed(record.claimed_size, record.bytes.size());
    const std::string common = little_endian(static_cast<std::uint64_t>(record.flags), 2) +
                               little_endian(static_cast<std::uint64_t>(record.method), 2) +
                               std::string(4, '\0') + little_endian(checksum, 4) + size + size +
                               little_endian(record.name.size(), 2);
    directory += "PK\1\2" + std::string(4, '\0') + common + std::string(12, '\0') +
                 claimed(record.claimed_place, bytes.size()) + record.name;
    bytes += "PK\3\4" + std::string(2, '\0') + common + std::string(2, '\0') + record.name +
             record.bytes;
  }
  return bytes + directory + "PK\5\6" + std::string(4, '\0') + little_endian(records.size(), 2) +
         little_endian(records.size(), 2) + little_endian(directory.size(), 4) +
         little_endian(bytes.size(), 4) + std::string(2, '\0');
}

std::vector<ZipRecord> unzip(std::string_view bytes) {
  std::vector<ZipRecord> records;
  const std::size_t end = bytes.rfind("PK\5\6");
  std::size_t place = read(bytes, end + 16, 4);
  const std::size_t count = read(bytes, end + 10, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const auto header = bytes.substr(place);
    const std::size_t size = read(header, 24, 4), name_size = read(header, 28, 2);
    const std::size_t local = read(header, 42, 4);
    const std::size_t content =
        local + 30 + read(bytes, local + 26, 2) + read(bytes, local + 28, 2);
    records.push_back({.name = std::string(header.substr(46, name_size)),
                       .bytes = std::string(bytes.substr(content, size))});
    place += 46 + name_size + read(header, 30, 2) + read(header, 32, 2);
  }
  return records;
}

}  // namespace evolve::test
