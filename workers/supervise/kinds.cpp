#include "workers/supervise/kinds.hpp"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <system_error>

#include "core/error.hpp"

namespace evolve::workers {

std::vector<std::string> device_kinds(const std::string& worker) {
  namespace bp = boost::process;
  bp::ipstream words;
  std::error_code failed;
  bp::child child(worker, bp::args = {"--kinds"}, bp::std_in<bp::null, bp::std_out> words,
                  bp::std_err > bp::null, failed);
  std::vector<std::string> kinds;
  for (std::string kind; !failed && words >> kind;) kinds.push_back(kind);
  if (!failed) child.wait(failed);
  if (failed || child.exit_code() != 0)
    throw run_failed(worker + " does not start", "run it with --kinds to see why");
  return kinds;
}

}  // namespace evolve::workers
