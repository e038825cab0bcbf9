# The libraries are static: whoever links them links what they stand on.
include(CMakeFindDependencyMacro)
find_dependency(nlohmann_json)
find_dependency(yaml-cpp)
find_dependency(fmt)
find_dependency(Boost CONFIG)
find_dependency(Eigen3)
find_dependency(NLopt)
find_dependency(PkgConfig)
pkg_check_modules(muparser REQUIRED IMPORTED_TARGET muparser)

include(${CMAKE_CURRENT_LIST_DIR}/evolve-targets.cmake)
