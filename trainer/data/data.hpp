// What a detector sees: YOLO-format data sets in memory, YOLOv5's augmentation, batches, and the
// embedded data set.
//
// `read_data_yaml()` finds the images of a data set, `check()` looks at all of them without
// decoding any, and `load()` decodes them once. An epoch is a plan: which images form which
// batch; `train_batch()` draws augmented samples for one batch of it, and `BatchStream` makes
// batches ahead of their use. Every random decision goes through `RandomSource`, so that a sample of
// YOLOv5 can be replayed. No torch here.
#pragma once

#include "trainer/data/augment.hpp"
#include "trainer/data/batch.hpp"
#include "trainer/data/batch_stream.hpp"
#include "trainer/data/check.hpp"
#include "trainer/data/data_yaml.hpp"
#include "trainer/data/dataset.hpp"
#include "trainer/data/random_source.hpp"
#include "trainer/data/embedded/shapes.hpp"
