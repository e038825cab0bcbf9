// The plots of a run: PNG or SVG files that gnuplot draws.
//
// A `Chart` is a gnuplot script in the making: panels with axes in one style. An evolution, a
// training and what a run tells about its genes have a plot each.
#pragma once

#include "results/plots/evolution_plot.hpp"
#include "results/plots/explanation_plot.hpp"
#include "results/plots/training_plot.hpp"
