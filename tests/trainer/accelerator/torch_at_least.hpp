// Which libtorch this is, for the preprocessor: what the simulated accelerator takes the place of
// differs between them.
#pragma once

#include <torch/version.h>

#define TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||  \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))
