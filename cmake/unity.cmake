# Unity builds: several sources compiled as one, because most of a compilation is headers (GoogleTest, JSON, Boost, torch).
# "batches" does so with eight files at a time (preset release), "all" with all of a library or of a test program, and with
# precompiled headers (the sanitizers' presets). Presets "dev" and "no-torch" have neither: there every file proves its
# includes, and one touched file is one compilation.
set(EVOLVE_UNITY "" CACHE STRING "What is compiled as one: nothing, \"batches\" or \"all\"")
set(evolve_unity_batch 8)
if(EVOLVE_UNITY STREQUAL all)
  set(evolve_unity_batch 0)
  # For libraries, tests and fuzzers: whoever shares it must be compiled for the same kind of program (-fPIC).
  find_package(Eigen3 REQUIRED)
  add_library(evolve_precompiled OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp)
  target_compile_definitions(evolve_precompiled PRIVATE FMT_SHARED BOOST_ALL_NO_LIB GTEST_HAS_PTHREAD=1)
  target_link_libraries(evolve_precompiled PRIVATE Eigen3::Eigen)
  # Only then ccache has it again for other copies of the sources.
  target_compile_options(evolve_precompiled PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  target_precompile_headers(evolve_precompiled PRIVATE ${CMAKE_CURRENT_LIST_DIR}/precompiled.hpp)
endif()

# Targets that see torch have its headers precompiled instead, in every build.
set(evolve_torch_targets evolve_trainer trainer_tests render_tests accelerator_tests)

# evolve_precompiled_headers(TARGET) compiles what most files include only once, in the builds with "all".
function(evolve_precompiled_headers target)
  if(EVOLVE_UNITY STREQUAL all AND NOT target IN_LIST evolve_torch_targets)
    target_precompile_headers(${target} REUSE_FROM evolve_precompiled)
  endif()
endfunction()

# evolve_unity_library(TARGET) makes a unity build of a library: its sources share one anonymous namespace, so a clash of
# names there says "redefinition of … {anonymous}": rename one of the two.
function(evolve_unity_library target)
  if(EVOLVE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${evolve_unity_batch})
    evolve_precompiled_headers(${target})
  endif()
endfunction()

# evolve_unity_tests(RESULT TARGET SOURCES... ) puts the sources into RESULT, a batch of *_test.cpp as one file. Every test
# file may have its own refused(), space or Folder: each gets a namespace of its own inside the one it opens.
function(evolve_unity_tests result target)
  set(sources ${ARGN})
  if(EVOLVE_UNITY)
    set(tests ${sources})
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tests})
    set(text "")
    set(number 0)
    list(LENGTH tests count)
    set(batch ${evolve_unity_batch})
    if(batch EQUAL 0)
      set(batch ${count})
    endif()
    foreach(test IN LISTS tests)
      math(EXPR number "${number} + 1")
      file(READ ${test} code)
      string(REGEX REPLACE "\nnamespace (evolve[a-z0-9_:]*) {" "\nnamespace \\1::unity_${number} {" code "${code}")
      string(APPEND text "#line 1 \"${CMAKE_CURRENT_SOURCE_DIR}/${test}\"\n${code}\n")
      math(EXPR place "${number} % ${batch}")
      if(place EQUAL 0 OR number EQUAL count)
        set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cpp)
        set(before "")
        if(EXISTS ${file})
          file(READ ${file} before)
        endif()
        if(NOT before STREQUAL text)
          file(WRITE ${file} "${text}")
        endif()
        list(APPEND sources ${file})
        set(text "")
      endif()
    endforeach()
  endif()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()
