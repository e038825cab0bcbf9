// The device that a trainer computes on, and what lies there.
//
// open_device.hpp opens what libtorch has for it; batches travel as a `Load`, or come of images
// that lie there (device_images.hpp). torch_version.hpp has all that differs between versions of
// libtorch.
#pragma once

#include "trainer/device/device_images.hpp"
#include "trainer/device/load.hpp"
#include "trainer/device/open_device.hpp"
#include "trainer/device/torch_version.hpp"
