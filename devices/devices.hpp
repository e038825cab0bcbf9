// Where a trial can run.
//
// `--devices` is read in two steps. parse_spec() knows the grammar and nothing of the machine;
// choose() holds its requests against what the machine has (`Machine`) and makes one `hyp::Slot`
// per trial that can run at a time, with the environment and the cores that its worker gets. A
// `Pool` lends the slots.
#pragma once

#include "devices/machine.hpp"
#include "devices/pool.hpp"
#include "devices/slots.hpp"
#include "devices/spec.hpp"
