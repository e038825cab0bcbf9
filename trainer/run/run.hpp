// The training run: what a program does with the trainer.
//
// A `Trainer` trains trials, runs full trainings and validates weights on one device. Each training
// begins with setup.hpp (model, weights, anchors) on images that prepared_data.hpp keeps from trial
// to trial, and then is a `TrainingLoop`, epoch by epoch; full_training.hpp adds what `evolve
// train` needs: checkpoints, patience, resuming. While it works a trainer beats (`Heartbeat`).
// worker_main.cpp is the program `evolve-worker`.
//
// What is included here needs no torch.
#pragma once

#include "trainer/options.hpp"
#include "trainer/run/heartbeat.hpp"
#include "trainer/run/trainer.hpp"
