// What a worker's allocator does with memory that is freed.
#pragma once

namespace evolve::trainer {

/// Each iteration allocates what the one before freed. So the allocator keeps memory, in one range
/// of addresses, whose pages are taken as they are used: what it gives back to the kernel comes as
/// pages to clear. Under a limit on addresses it does without.
void keep_freed_memory();

}  // namespace evolve::trainer
