// What a detector sees: YOLO-format data sets in memory, YOLOv5's augmentation, batches, and the
// embedded data set.
//
// `read_data_yaml()` finds the images of a data set, `check()` reads every label and every image's
// header, and `load()` decodes them, both on TBB's threads. What they find is kept in files that
// every process of the machine reads, until an image or a label file changes: `scan()` keeps labels
// and sizes, an `ImageCache` decoded images. An epoch is a plan: which images form
// a batch together; `draw_recipes()` makes every random decision of one batch, `train_batch()` its
// augmented samples too, and `BatchStream` makes batches ahead of their use. Random numbers come
// from `RandomSource`, so that a sample of YOLOv5 can be replayed. What training computes from
// labels is here too: `AnchorFitter` (autoanchor) and `image_weights()`. No torch here.
#pragma once

#include "trainer/data/augment.hpp"
#include "trainer/data/autoanchor.hpp"
#include "trainer/data/batch.hpp"
#include "trainer/data/batch_stream.hpp"
#include "trainer/data/check.hpp"
#include "trainer/data/counts.hpp"
#include "trainer/data/data_yaml.hpp"
#include "trainer/data/dataset.hpp"
#include "trainer/data/embedded/shapes.hpp"
#include "trainer/data/image_cache.hpp"
#include "trainer/data/image_grid.hpp"
#include "trainer/data/image_weights.hpp"
#include "trainer/data/random_source.hpp"
#include "trainer/data/recipe.hpp"
#include "trainer/data/scan.hpp"
