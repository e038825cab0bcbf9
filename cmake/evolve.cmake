# The two things every folder needs: the warnings, and the way a library and a test are declared.

include(${CMAKE_CURRENT_LIST_DIR}/unity.cmake)

add_library(evolve_warnings INTERFACE)
target_compile_options(evolve_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  # GCC 12 sees overlapping copies in every "text" + std::to_string(n) (GCC bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # In a unity build neighbours' names are no shadows.
  $<$<CXX_COMPILER_ID:GNU>:-Wshadow$<$<BOOL:${EVOLVE_UNITY}>:=local>>
  # In a unity build every file but one is an included one.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${EVOLVE_UNITY}>>:-Wno-subobject-linkage>
  # Designated initialisers leave the rest to the defaults, on purpose.
  -Wno-missing-field-initializers
  $<$<BOOL:${EVOLVE_WERROR}>:-Werror>)

# evolve_library(NAME SOURCES... ) makes target evolve_NAME with the alias evolve::NAME.
# Includes are written from the root of the repository: #include "hyp/space.hpp".
function(evolve_library name)
  add_library(evolve_${name} STATIC ${ARGN})
  add_library(evolve::${name} ALIAS evolve_${name})
  target_compile_features(evolve_${name} PUBLIC cxx_std_20)
  target_include_directories(evolve_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/evolve>)
  target_link_libraries(evolve_${name} PRIVATE $<BUILD_INTERFACE:evolve_warnings>)
  set_target_properties(evolve_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  evolve_unity_library(evolve_${name})
endfunction()

# evolve_test(NAME SOURCES... [LONG FILTERS...]) makes a GoogleTest program whose every TEST is one ctest test. Suites
# called Parity… compare with YOLOv5's own numbers and carry the label "parity". Tests that a filter of LONG matches
# ("Resume.*200Random*") repeat something many times, wait long, or try what is written in Python, and carry the label
# "long": CI doesn't run them under the sanitizers.
function(evolve_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "" "LONG")
  evolve_unity_tests(sources ${name} ${test_UNPARSED_ARGUMENTS})
  add_executable(${name} ${sources})
  # Compiled once, run for milliseconds: -O3 would be a third of the compilation.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  # A bundle lies elsewhere than what its files include as neighbours.
  target_compile_options(${name} PRIVATE "SHELL:-iquote \"${CMAKE_CURRENT_SOURCE_DIR}\"")
  target_link_libraries(${name} PRIVATE GTest::gtest_main GTest::gmock evolve_warnings)
  evolve_precompiled_headers(${name})
  # On a busy machine libtorch alone takes seconds to load.
  set(common DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300
    ENVIRONMENT XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/Testing/cache)
  list(JOIN test_LONG ":" long)
  gtest_discover_tests(${name} TEST_FILTER "-Parity*:${long}" ${common})
  gtest_discover_tests(${name} TEST_FILTER "Parity*" ${common} LABELS parity)
  if(long)
    gtest_discover_tests(${name} TEST_FILTER "${long}" ${common} LABELS long)
  endif()
endfunction()
