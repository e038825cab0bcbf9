// Where a trial can run.
//
// `--devices` is read in two steps. parse_spec() knows the grammar and nothing of the machine;
// choose() holds its requests against what the machine has (`Machine`) and makes one `core::Slot`
// per trial that can run at a time, with the environment and the cores that its worker gets. A
// `Pool` lends the slots.
//
// What accelerators there are, discover() finds out, and a `Sampler` how they are while a run goes
// on. Both ask drivers in processes of their own (probe.hpp): no vendor's library is ever opened
// here. `Health` knows which devices are trusted, `MemoryAdmission` which have memory left.
#pragma once

#include "devices/discovery.hpp"
#include "devices/health.hpp"
#include "devices/machine.hpp"
#include "devices/memory_admission.hpp"
#include "devices/pool.hpp"
#include "devices/sampler.hpp"
#include "devices/slots.hpp"
#include "devices/slurm.hpp"
#include "devices/spec.hpp"
