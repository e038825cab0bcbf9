# The two things every folder needs: the warnings, and the way a library and a test are declared.

include(${CMAKE_CURRENT_LIST_DIR}/unity.cmake)

add_library(evolve_warnings INTERFACE)
target_compile_options(evolve_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  # GCC 12 sees overlapping copies in every "text" + std::to_string(n) (GCC bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # In a unity build it takes every source for a header, where anonymous namespaces in types would be wrong.
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
  evolve_unity_library(evolve_${name} ${ARGN})
endfunction()

# evolve_test(NAME SOURCES... ) makes a GoogleTest program whose every TEST is one ctest test. Suites called
# Parity… compare with YOLOv5's own numbers and carry the label "parity".
function(evolve_test name)
  evolve_unity_tests(sources ${name} ${ARGN})
  add_executable(${name} ${sources})
  # Tests are compiled once and run for milliseconds: a third of the compilation is optimisation at -O3.
  target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
  target_link_libraries(${name} PRIVATE GTest::gtest_main GTest::gmock evolve_warnings)
  gtest_discover_tests(${name} TEST_FILTER "-Parity*" DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
  gtest_discover_tests(${name} TEST_FILTER "Parity*" DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT 300 LABELS parity)
endfunction()
