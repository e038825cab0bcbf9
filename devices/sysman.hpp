// The sensors of Intel's GPUs: Sysman, the managing part of Level Zero.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "devices/accelerator.hpp"
#include "devices/library.hpp"

namespace evolve::devices {

/// Puts what a function of Level Zero lists, `list(&count, handles)`, into `handles`: none where it
/// fails. Returns its result.
template <class Handle, class List>
ze_result_t list_into(std::vector<Handle>& handles, List list) {
  handles.clear();
  std::uint32_t count = 0;
  auto result = list(&count, static_cast<Handle*>(nullptr));
  if (result != ZE_RESULT_SUCCESS || count == 0) return result;
  handles.resize(count);
  result = list(&count, handles.data());
  handles.resize(result == ZE_RESULT_SUCCESS ? count : 0);
  return result;
}

/// The handles that it lists, or none.
template <class Handle, class List>
std::vector<Handle> listed(List list) {
  std::vector<Handle> handles;
  list_into(handles, list);
  return handles;
}

/// The text of any of Level Zero's PCI addresses.
template <class Address>
std::string pci_text(const Address& a) {
  return pci_text(a.domain, a.bus, a.device, a.function);
}

/// Makes Sysman possible; to be called before zeInit(). Loaders from 1.9 have zesInit(); before, an
/// environment variable makes zeInit() do it. The two do not go together.
void prepare_sysman(const Library& loader);

/// Reads the sensors of each device, given with its handle, into what is known of it. What the
/// driver does not tell, or not to this user, stays unknown.
void read_sysman(const Library& loader,
                 const std::vector<std::pair<ze_device_handle_t, Accelerator*>>& devices);

}  // namespace evolve::devices
