// A temporary folder, files in it, what a call refuses, and a full disk.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/files.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::results {

using Folder = test::TemporaryFolder;

using test::read_file;
using test::refusal;
using test::run_failure;
using test::write_file;

/// No file of this process may grow beyond `bytes`: as if the disk were full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace evolve::results
