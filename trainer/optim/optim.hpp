// Optimization: what follows each backward pass.
//
// `FlatParameters` holds all numbers of a model in one piece, so that a step is a handful of vector
// operations. `Schedule` gives the learning rates and momentum of each iteration, `Optimizer` is
// SGD, Adam or AdamW, `Ema` the moving average that is validated and kept, `GradScaler` lets
// gradients survive half precision. `TrainStep` puts them together as YOLOv5's training loop does:
// accumulation, clipping, the step, the average. What a training that goes on later needs of them
// is their `state()`, and `load_state()` takes it back.
#pragma once

#include "trainer/optim/amp.hpp"
#include "trainer/optim/flat_parameters.hpp"
#include "trainer/optim/optimizer.hpp"
#include "trainer/optim/schedule.hpp"
#include "trainer/optim/train_step.hpp"
