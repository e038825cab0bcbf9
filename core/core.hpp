// What every room needs and is no noun of the search: the one exception type, numbers and YAML as
// text, small files, and the slot that a trial runs on.
#pragma once

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/slot.hpp"
#include "core/text_file.hpp"
#include "core/yaml.hpp"
