#include "core/time.hpp"

#include <fmt/chrono.h>

#include <cstdio>

namespace evolve::core {
namespace {

std::string whole_seconds(Time time) {
  return fmt::format("{:%FT%T}", fmt::gmtime(std::chrono::floor<std::chrono::seconds>(time)));
}

}  // namespace

Time now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

std::string text_of(Time time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{}.{:03}Z", whole_seconds(time), (time - whole).count());
}

std::optional<Time> parse_time(const std::string& text) {
  int year = 0, hour = 0, minute = 0, second = 0, thousandths = 0;
  unsigned month = 0, day = 0;
  std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d.%3d", &year, &month, &day, &hour, &minute,
              &second, &thousandths);
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                         std::chrono::day{day}};
  if (!date.ok()) return {};
  const Time time = std::chrono::sys_days{date} + std::chrono::hours{hour} +
                    std::chrono::minutes{minute} + std::chrono::seconds{second} +
                    std::chrono::milliseconds{thousandths};
  // Whatever else was in the text is not in its time.
  if (text != text_of(time) && text != whole_seconds(time) + "Z") return {};
  return time;
}

}  // namespace evolve::core
