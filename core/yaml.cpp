#include "core/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <sstream>
#include <unordered_set>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/number.hpp"

namespace evolve::core {

namespace {

constexpr std::size_t max_depth = 8;

/// Builds the tree from yaml-cpp's events; its node API would keep only a duplicate's last value
/// out of sight of its line, and would follow aliases.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::string path) : path_(std::move(path)) {}

  Yaml root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    scalar(mark, "", true, Yaml::Kind::null);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw bad_input(at(mark), "an alias (*name)", "write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    scalar(mark, value, tag == "?", Yaml::Kind::scalar);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, Yaml::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, Yaml::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  Where at(const YAML::Mark& mark) const { return {path_, mark.line + 1}; }

  bool expects_key() const {
    return !open_.empty() && open_.back().kind == Yaml::Kind::map &&
           open_.back().keys.size() == open_.back().items.size();
  }

  void scalar(const YAML::Mark& mark, const std::string& text, bool plain, Yaml::Kind kind) {
    if (!expects_key()) {
      add({.kind = kind, .text = text, .plain = plain, .line = mark.line + 1});
      return;
    }
    Yaml& map = open_.back();
    if (kind == Yaml::Kind::null) throw bad_input(at(mark), "a key is empty", "name it");
    if (!known_keys_.back().insert(text).second) {
      const int first = yaml_value(map, text)->line;
      throw bad_input(at(mark), text + " appears twice, first in line " + std::to_string(first),
                      "keep one of them");
    }
    map.keys.push_back(text);
    key_lines_.back() = mark.line + 1;
  }

  void open(const YAML::Mark& mark, Yaml::Kind kind) {
    if (expects_key()) throw bad_input(at(mark), "a key is a list or a map", "write name: value");
    if (open_.size() == max_depth) {
      throw bad_input(at(mark), "nested deeper than " + std::to_string(max_depth), "write it flat");
    }
    open_.push_back({.kind = kind, .line = mark.line + 1});
    key_lines_.push_back(0);
    known_keys_.emplace_back();
  }

  void close() {
    Yaml node = std::move(open_.back());
    open_.pop_back();
    key_lines_.pop_back();
    known_keys_.pop_back();
    add(std::move(node));
  }

  void add(Yaml node) {
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    if (open_.back().kind == Yaml::Kind::map) node.line = key_lines_.back();
    open_.back().items.push_back(std::move(node));
  }

  std::string path_;
  /// From the root to the node being read.
  std::vector<Yaml> open_;
  /// For each open map, the line of the key whose value comes next.
  std::vector<int> key_lines_;
  /// The keys of each.
  std::vector<std::unordered_set<std::string>> known_keys_;
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool has_document(const Yaml& root) {
  return root.line > 0 && root.kind != Yaml::Kind::null;
}

}  // namespace

Yaml parse_yaml(const std::string& text, const std::string& path) {
  Builder builder(path);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    if (!has_document(builder.root))
      throw bad_input({path}, "this is empty", "write name: value lines");
    Builder second(path);
    if (parser.HandleNextDocument(second) && has_document(second.root)) {
      throw bad_input({path, second.root.line}, "a second document starts here", "keep one");
    }
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 0 : error.mark.line + 1;
    throw bad_input({path, line}, "broken YAML (" + error.msg + ")",
                    "check the indentation, the colons and the brackets");
  }
  return std::move(builder.root);
}

const Yaml* yaml_value(const Yaml& map, const std::string& key) {
  const auto it = std::find(map.keys.begin(), map.keys.end(), key);
  return it == map.keys.end() ? nullptr
                              : &map.items[static_cast<std::size_t>(it - map.keys.begin())];
}

std::optional<double> yaml_number(const Yaml& node) {
  if (node.kind != Yaml::Kind::scalar || !node.plain) return std::nullopt;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::string text = lower(node.text);
  if (text == ".nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == ".inf" || text == "+.inf") return infinity;
  if (text == "-.inf") return -infinity;
  return parse_number(node.text);
}

std::optional<bool> yaml_bool(const Yaml& node) {
  if (node.kind != Yaml::Kind::scalar || !node.plain) return std::nullopt;
  const std::string text = lower(node.text);
  if (text == "true" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "no" || text == "off") return false;
  return std::nullopt;
}

std::string yaml_word(const Yaml& node) {
  const auto flag = yaml_bool(node);
  if (!flag) return node.text;
  return *flag ? "true" : "false";
}

std::string yaml_text(const std::string& text) {
  const Yaml plain{.kind = Yaml::Kind::scalar, .text = text};
  const bool starts_safely =
      !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_');
  const bool safe_characters = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  });
  const std::string small = lower(text);
  const bool has_meaning =
      yaml_bool(plain) || yaml_number(plain) || small == "null" || small == "y" || small == "n";
  if (starts_safely && safe_characters && !has_meaning) return text;
  return json_text(nlohmann::json(text));
}

}  // namespace evolve::core
