# `cmake --install` gives other programs the search without the trainer: find_package(evolve), then
# evolve::hyp and evolve::ga. tests/ga/consumer is such a program.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY python/evolve DESTINATION share/evolve/python COMPONENT evolve  # where evolve looks for it
  FILES_MATCHING PATTERN "*.py" PATTERN "*.yaml")

if(TARGET trial-reaper)
  install(TARGETS trial-reaper RUNTIME DESTINATION libexec/evolve COMPONENT evolve)  # where evolve looks for it
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/evolve)

install(TARGETS evolve_core evolve_hyp evolve_ga EXPORT evolve_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT evolve_development)
install(DIRECTORY core hyp ga DESTINATION include/evolve COMPONENT evolve_development
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT evolve_targets NAMESPACE evolve:: FILE evolve-targets.cmake
  DESTINATION ${package_dir} COMPONENT evolve_development)

write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/evolve-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/evolve-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/evolve-config-version.cmake
  DESTINATION ${package_dir} COMPONENT evolve_development)
