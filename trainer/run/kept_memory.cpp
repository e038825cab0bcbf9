#include "trainer/run/kept_memory.hpp"

#include <sys/mman.h>
#ifdef EVOLVE_MIMALLOC
#include <mimalloc.h>
#else
#include <malloc.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace evolve::trainer {
namespace {

constexpr std::size_t kept_bytes = std::size_t{4} << 30, alignment = std::size_t{64} << 20;

/// The aligned `kept_bytes` in [memory, memory + kept_bytes + alignment), with pages of 2 MiB where
/// the kernel has any free.
void* with_huge_pages(void* memory) {
  std::size_t room = kept_bytes + alignment;
  std::align(alignment, kept_bytes, memory, room);
  ::madvise(memory, kept_bytes, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

#ifdef EVOLVE_MIMALLOC
void keep_freed_memory() {
#if MI_MALLOC_VERSION < 210
  mi_option_disable(mi_option_allow_decommit);
#else
  mi_option_set(mi_option_purge_delay, -1);
#endif
  // The range is ours and not mi_reserve_os_memory()'s, which would take pages that somebody has
  // reserved (hugetlbfs).
  void* const memory = ::mmap(nullptr, kept_bytes + alignment, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  mi_manage_os_memory(with_huge_pages(memory), kept_bytes, /*is_committed=*/true,
                      /*is_large=*/false, /*is_zero=*/true, -1);
}
#else
void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);  // never
  void* const memory = std::malloc(kept_bytes + alignment);
  if (!memory) return;
  with_huge_pages(memory);
  std::free(memory);  // which malloc() keeps
}
#endif

}  // namespace evolve::trainer
