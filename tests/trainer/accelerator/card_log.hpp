// What the simulated accelerator notes down; its tests read it as CardCounts.
#pragma once

#include <cstdint>
#include <string>

namespace evolve::test {

void count_launch(const std::string& name);
void count_wait();
void count_copy(bool upload, std::int64_t bytes);

/// Memory of the host that is page-locked.
void pin(void* address);
void unpin(const void* address);
bool is_pinned_address(const void* address);

}  // namespace evolve::test
