#include "cli/options/help.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/screen/text.hpp"
#include "core/shell_word.hpp"

namespace evolve::cli {
namespace {

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    constexpr std::size_t width = 80;
    std::istringstream lines(CLI::Formatter::make_help(app, std::move(name), mode));
    std::string help, line;
    while (std::getline(lines, line)) help += wrapped(line, width) + "\n";
    return help;
  }

  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    auto name = CLI::Formatter::make_option_name(option, positional);
    const std::string off = "{false}";
    if (const auto at = name.find(off); at != name.npos) name.erase(at, off.size());
    return name;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    auto text = CLI::Formatter::make_option_opts(option);
    // "INT:NONNEGATIVE=8": what is checked.
    const auto check = text.find(':');
    const auto rest = std::min({text.find('='), text.find(" REQUIRED"), text.size()});
    if (check < rest) text.erase(check, rest - check);
    return text;
  }
};

/// How many letters one has to change, add or leave out (Levenshtein 1966).
std::size_t edits_between(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The option of `app` that is most like `name`, "" where none is.
std::string like(const CLI::App& app, const std::string& name) {
  std::size_t fewest = 3;
  std::string nearest;
  for (const auto* option : app.get_options()) {
    for (const auto& other : option->get_lnames()) {
      if (other == "help") continue;  // nobody's --half
      const auto edits = edits_between(name, "--" + other);
      if (edits >= fewest) continue;
      fewest = edits;
      nearest = "--" + other;
    }
  }
  return nearest;
}

/// Options of YOLOv5's train.py and val.py that evolve has no use for.
constexpr auto of_yolov5 = std::to_array<std::string_view>(
    {"--half", "--dnn", "--verbose", "--noval", "--nosave", "--noplots", "--quad", "--sync-bn",
     "--bucket", "--entity", "--save-period", "--local-rank", "--upload-dataset", "--bbox-interval",
     "--ndjson-file", "--ndjson-console", "--artifact-alias",
     // of its package
     "--neptune-token", "--neptune-project", "--neptune-resume-id", "--s3-upload-dir",
     "--hf-model-id", "--hf-token", "--hf-private", "--hf-dataset-id", "--roboflow-token",
     "--roboflow-upload"});

/// Those that do what evolve cannot.
constexpr std::array<std::string_view, 6> beyond_us = {"--augment",   "--save-json",   "--save-txt",
                                                       "--save-conf", "--save-hybrid", "--max-det"};

/// What evolve calls an option of Ultralytics' tuner; `name` itself where that is the same.
std::string our_name_of(const std::string& name) {
  return name == "--iterations" ? "--trials" : name;
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_format() {
  return std::make_shared<HelpFormat>();
}

std::string see_help(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return "see evolve " + (commands.empty() ? "" : commands.front()->get_name() + " ") + "--help";
}

Error bad_conversion(const CLI::App& app, std::string said) {
  const std::string_view before = "Could not convert: ", between = " = ";
  if (said.starts_with(before)) said.erase(0, before.size());
  if (const auto at = said.find(between); at != said.npos) said.replace(at, between.size(), " ");
  return bad_argument(said + ": not a number that this option takes", see_help(app));
}

Error unknown_arguments(const CLI::App& app, const std::string& first) {
  const auto commands = app.get_subcommands();
  const auto& command = commands.empty() ? app : *commands.front();
  const auto see = see_help(app);
  const auto left = app.remaining(true);
  const auto option = std::ranges::find_if(left, [](auto& word) { return word.starts_with("-"); });
  if (option == left.end()) {
    for (const std::string& word : left) {
      const auto end = word.find('=');
      if (end == word.npos) continue;
      const auto name = our_name_of("--" + boost::replace_all_copy(word.substr(0, end), "_", "-"));
      const auto* ours = command.get_option_no_throw(name);
      if (!ours || ours == command.get_help_ptr()) continue;
      const auto value = word.substr(end + 1);
      const bool has_value = ours->get_items_expected_min() > 0 && !value.empty();
      return bad_argument(word + " is how Ultralytics' command has it",
                          "write " + name + (has_value ? " " + core::shell_word(value) : "") +
                              (has_value ? "" : ", or leave it out"));
    }
    const bool is_command = commands.empty() && left.front() == first;
    return bad_argument(left.front() + (is_command ? ": there is no such command"
                                                   : ": that is one argument too many"),
                        see);
  }
  const auto name = option->substr(0, option->find('='));
  const auto usual = boost::replace_all_copy(name, "_", "-");
  if (std::ranges::count(of_yolov5, usual) > 0)
    return bad_argument(name + " is YOLOv5's, and nothing that evolve needs", "leave it out");
  if (usual == "--patience" && commands.empty())
    return bad_argument(name + " means nothing in a search: each trial may have all --epochs",
                        "leave it out");
  if (usual == "--adam")
    return bad_argument(name + " is of an older YOLOv5", "write --optimizer Adam");
  if (const auto ours = our_name_of(usual); ours != usual && command.get_option_no_throw(ours))
    return bad_argument(name + " is Ultralytics'", "write " + ours);
  if (std::ranges::count(beyond_us, usual) > 0)
    return bad_argument(name + " is YOLOv5's, and evolve has nothing like it",
                        "leave it out, or use val.py (evolve export yolov5 makes weights for it)");
  if (command.get_option_no_throw(name) && std::ranges::count(left, "--") == 0)
    return bad_argument(name + " stands before " + command.get_name(), "write it after that");
  auto others = app.get_subcommands({});
  others.insert(others.begin(), &app);
  for (const auto* other : others)
    if (other != &command && other->get_option_no_throw(name))
      return bad_argument(name + ": there is no such option",
                          (other == &app ? "" : "evolve ") + other->get_name() + " has it; " + see);
  const auto meant = like(command, name);
  return bad_argument(name + ": there is no such option",
                      meant.empty() ? see : "write " + meant + ", or " + see);
}

}  // namespace evolve::cli
