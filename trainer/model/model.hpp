// The model: YOLOv5 v6 detectors.
//
// `read_model_table()` reads the rows of an architecture as its author wrote them, `resolve()`
// turns them into a `ModelConfig` with channels counted and references checked, and `Detector` is
// the torch module of such a config, with YOLOv5's name for every parameter. It consists of the
// blocks (Conv, Bottleneck, C3, SPPF, Detect), and those mostly of one operator, `conv_bn_silu()`,
// whose loops on the CPU are our own (bn_silu.hpp) and run on torch's threads (`parallel_for()`).
//
// Tables and configs need no torch: the coordinator checks models with them.
#pragma once

#include "trainer/model/conv_bn_silu.hpp"
#include "trainer/model/detector.hpp"
#include "trainer/model/model_config.hpp"
#include "trainer/model/model_table.hpp"
#include "trainer/model/parallel.hpp"
