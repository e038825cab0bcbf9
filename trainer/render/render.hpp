// The images of a batch, made on its device.
//
// The data set's decoded images lie there (`ImageStore`). The host makes every random decision and
// the labels (data::Recipe), and turns the recipes of a batch into a few short tables
// (`RenderTables`), which travel with the labels. A program of tensor operators (`render()`) makes
// the pixels of the whole batch from both, on any device that torch has; they are what OpenCV makes
// of the same recipes (data::render) to within 1 of 255.
#pragma once

#include "trainer/render/image_store.hpp"
#include "trainer/render/program.hpp"
#include "trainer/render/tables.hpp"
