#include "hyp/fitness.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <muParser.h>

#include <array>
#include <string_view>

#include "core/error.hpp"

namespace evolve::hyp {

namespace {

/// The metrics' names in an expression, in the order of `Metrics::values()`.
constexpr std::array<const char*, Metrics::count> variable_names = {
    "P", "R", "mAP50", "mAP50_95", "box_loss", "obj_loss", "cls_loss"};

Error refusal(const std::string& expression, const std::string& what) {
  return bad_argument(fmt::format("--fitness '{}': {}", expression, what),
                      fmt::format("write an expression over {}, such as {}", Fitness::metrics(),
                                  Fitness::standard));
}

/// muParser would take `mAP50 = 1` as an assignment; whoever writes that means a comparison.
bool has_assignment(std::string_view expression) {
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != '=') continue;
    const bool ends_comparison =
        i > 0 && std::string_view("=<>!").find(expression[i - 1]) != std::string_view::npos;
    const bool starts_comparison = i + 1 < expression.size() && expression[i + 1] == '=';
    if (!ends_comparison && !starts_comparison) return true;
  }
  return false;
}

}  // namespace

struct Fitness::Parser {
  std::array<double, Metrics::count> variables{};
  mu::Parser parser;
};

Fitness::Fitness(const std::string& expression) : parser_(std::make_unique<Parser>()) {
  if (has_assignment(expression)) throw refusal(expression, "'=' is no comparison");
  if (expression.find("mAP50-95") != expression.npos)
    throw refusal(expression, "mAP50-95 is mAP50 less 95, the metric is mAP50_95");
  try {
    auto& parser = parser_->parser;
    for (std::size_t i = 0; i < Metrics::count; ++i) {
      parser.DefineVar(variable_names[i], &parser_->variables[i]);
    }
    parser.SetExpr(expression);
    parser.Eval();  // muParser parses at the first evaluation
    if (parser.GetNumResults() != 1) throw refusal(expression, "there is more than one value");
    if (parser.GetUsedVar().empty()) throw refusal(expression, "it names no metric");
  } catch (const mu::Parser::exception_type& error) {
    auto complaint = error.GetMsg();
    if (complaint.ends_with('.')) complaint.pop_back();
    throw refusal(expression, complaint);
  }
}

std::string Fitness::metrics() {
  return fmt::format("{}", fmt::join(variable_names, ", "));
}

Fitness::~Fitness() = default;
Fitness::Fitness(Fitness&&) noexcept = default;
Fitness& Fitness::operator=(Fitness&&) noexcept = default;

double Fitness::operator()(const Metrics& metrics) const {
  parser_->variables = metrics.values();
  return parser_->parser.Eval();
}

}  // namespace evolve::hyp
