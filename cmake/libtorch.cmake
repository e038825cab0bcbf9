# The libtorch that the trainer is built with, as target evolve_torch: Debian's, or the one in -DEVOLVE_LIBTORCH=DIR.
#
# Linked by path. libtorch's own CMake files would enable the CUDA language (nvcc) for a CUDA build and ask for the
# DPC++ compiler for an XPU build; the trainer has no line of either. What a build for CUDA, ROCm or XPU has besides
# libtorch_cpu lies beside it, and the trainer opens it for a device of that kind (trainer/device/open_device.cpp): one
# evolve-worker serves all the builds of one version, and needs a driver but no toolkit.
set(EVOLVE_LIBTORCH "" CACHE PATH "A libtorch, or the folder of an installed Python package torch; empty: the system's")

set(where "")
if(EVOLVE_LIBTORCH)
  set(where PATHS ${EVOLVE_LIBTORCH} NO_DEFAULT_PATH)
endif()
find_path(torch_include torch/csrc/api/include/torch/torch.h ${where} PATH_SUFFIXES include NO_CACHE REQUIRED)
find_library(torch_cpu torch_cpu ${where} PATH_SUFFIXES lib NO_CACHE REQUIRED)
find_library(torch_c10 c10 ${where} PATH_SUFFIXES lib NO_CACHE REQUIRED)

set(version_file ${torch_include}/torch/headeronly/version.h)  # since 2.9
if(NOT EXISTS ${version_file})
  set(version_file ${torch_include}/torch/csrc/api/include/torch/version.h)
endif()
file(READ ${version_file} text)
string(REGEX MATCH "TORCH_VERSION_MAJOR ([0-9]+).*TORCH_VERSION_MINOR ([0-9]+)" ignored "${text}")
set(torch_version ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
message(STATUS "libtorch ${torch_version}: ${torch_cpu}")

if(torch_version VERSION_LESS 1.13)
  message(FATAL_ERROR "${torch_cpu} is libtorch ${torch_version}: give 1.13 or newer with -DEVOLVE_LIBTORCH=DIR")
endif()
if(torch_version VERSION_EQUAL 2.2)
  message(FATAL_ERROR "${torch_cpu} is libtorch 2.2, whose convolutions corrupt memory on CPUs (pytorch#120211): "
                      "give another version with -DEVOLVE_LIBTORCH=DIR")
endif()
# Upstream's builds before 2.7 may have the string of before C++11 (2.6.0's for CUDA on PyPI has); they say so in their
# CMake files.
set(config ${torch_include}/../share/cmake/Torch/TorchConfig.cmake)
if(EXISTS ${config})
  file(STRINGS ${config} old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(old_abi)
    message(FATAL_ERROR "${torch_cpu} was built with _GLIBCXX_USE_CXX11_ABI=0, which no library here shares: "
                        "give a build with the cxx11 ABI (all are since 2.7) with -DEVOLVE_LIBTORCH=DIR")
  endif()
endif()

# Its headers are foreign: no warnings of ours in them.
add_library(evolve_torch INTERFACE)
target_include_directories(evolve_torch SYSTEM INTERFACE ${torch_include} ${torch_include}/torch/csrc/api/include)
target_link_libraries(evolve_torch INTERFACE ${torch_cpu} ${torch_c10} ${CMAKE_DL_LIBS})
# Upstream ships the headers of a fmt of its own, which are found before the system's: whoever sees torch takes fmt's
# headers alone, without the system's library of another version.
target_compile_definitions(evolve_torch INTERFACE FMT_HEADER_ONLY)
# What GCC inlines of the SmallVector and the custom_function.h of torch 2 it takes for reads and writes past the end.
if(torch_version VERSION_GREATER_EQUAL 2)
  target_compile_options(evolve_torch INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-maybe-uninitialized;-Wno-stringop-overflow>")
endif()

# Convolutions on the CPU are oneDNN's. Where libtorch calls the system's, as Debian's does, so does the trainer; beside
# one that is inside libtorch a second one would be taken for it.
execute_process(COMMAND ${CMAKE_READELF} -d ${torch_cpu} OUTPUT_VARIABLE dynamic ERROR_QUIET)
if(dynamic MATCHES "libdnnl[.]so")
  find_path(onednn_include oneapi/dnnl/dnnl.hpp NO_CACHE)
  find_library(onednn dnnl NO_CACHE)
  if(onednn_include AND onednn)
    target_include_directories(evolve_torch SYSTEM INTERFACE ${onednn_include})
    target_link_libraries(evolve_torch INTERFACE ${onednn})
    target_compile_definitions(evolve_torch INTERFACE EVOLVE_ONEDNN)
  else()
    unset(onednn)
    message(WARNING "there is no header of oneDNN (Debian: libdnnl-dev): convolutions on the CPU will be torch's, which are slower")
  endif()
endif()
