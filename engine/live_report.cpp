#include "engine/live_report.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "core/path.hpp"
#include "engine/explanation.hpp"
#include "engine/report.hpp"
#include "results/prometheus.hpp"

namespace evolve::engine {
namespace {

/// A page is written at most once in this time, and in this multiple of the time that writing took.
constexpr std::chrono::seconds least_interval{5};
constexpr int times_as_long = 100;
/// What comes of a shorter run is not worth the second that it takes to say which genes mattered.
constexpr std::chrono::seconds least_explained_run{30};

/// Gives the system back what is free. One thread at a time: where another allocator is in glibc's
/// place (a sanitizer's), this is the first that glibc's hears of the process, and two threads that
/// set it up at once break its count of threads; the second to end would abort.
void trim_memory() {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  ::malloc_trim(0);
}

}  // namespace

LiveReport::LiveReport(results::RunDirectory directory, const results::JournalContents& contents)
    : directory_(std::move(directory)),
      name_(core::without_dots(directory_.root).string()),
      label_(core::without_dots(std::filesystem::absolute(directory_.root)).string()),
      settings_(contents.run),
      timeline_(results::timeline_of(contents)),
      due_(Clock::now() + least_interval) {}

void LiveReport::update(const RunState& state, Clock::time_point now) {
  if (!has_news_ || now < due_) return;
  has_news_ = false;
  const auto begun = Clock::now();
  try {
    const std::array runs = {report(state, /*going_on=*/true)};
    results::write_prometheus(directory_.prometheus(), runs[0], label_);
    results::write_report(directory_.report(), runs);
  } catch (const Error&) {  // the run goes on without; the last page says why there is none
  }
  // A thousand trials' covariances, and the page: not to be kept until the next one, minutes later.
  trim_memory();
  const auto took = Clock::now() - begun;
  due_ = now + took + std::max<Clock::duration>(least_interval, times_as_long * took);
}

void LiveReport::close(const RunState& state) const {
  const std::array runs = {report(state, /*going_on=*/false)};
  const auto write = [](const std::filesystem::path& file, const auto& written) {
    try {
      written();
    } catch (const Error&) {
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
      throw;
    }
  };
  const auto write_page = [&] {
    write(directory_.report(), [&] { results::write_report(directory_.report(), runs); });
  };
  try {
    write(directory_.prometheus(),
          [&] { results::write_prometheus(directory_.prometheus(), runs[0], label_); });
  } catch (const Error&) {
    write_page();
    throw;
  }
  write_page();
}

results::RunReport LiveReport::report(const RunState& state, bool going_on) const {
  auto report = report_of(state, settings_, timeline_, name_, going_on);
  if (timeline_.end - timeline_.begin >= least_explained_run && is_explained_soon(state))
    report.explanation = explanation_if_any(state);
  return report;
}

}  // namespace evolve::engine
