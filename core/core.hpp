// What every room needs and is not a noun of the search: the one exception type, numbers, YAML
// and CSV as text, small files and those inside the program, how a file is replaced durably, how a
// process is started and bound to cores, how something is asked to stop, the kinds of devices, what
// limits a process, and the slot that a trial runs on.
#pragma once

#include "core/cgroup.hpp"
#include "core/child.hpp"
#include "core/core_mask.hpp"
#include "core/csv.hpp"
#include "core/device_identity.hpp"
#include "core/device_kind.hpp"
#include "core/durable_file.hpp"
#include "core/embedded_file.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/file_descriptor.hpp"
#include "core/host_memory.hpp"
#include "core/json.hpp"
#include "core/number.hpp"
#include "core/shell_word.hpp"
#include "core/slot.hpp"
#include "core/spawn.hpp"
#include "core/splitmix64.hpp"
#include "core/stop_source.hpp"
#include "core/stopwatch.hpp"
#include "core/text_file.hpp"
#include "core/time.hpp"
#include "core/utf8.hpp"
#include "core/yaml.hpp"
