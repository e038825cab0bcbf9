# `cpack` in a build folder makes Debian packages: evolve (the coordinator, useful at once with an outside trainer) and,
# where it was built, evolve-worker (the built-in trainer, for the libtorch that it was built with). What they need of
# the system is read out of the programs.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT evolve)
set(components evolve)
if(EVOLVE_TORCH)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/evolve-worker
    RENAME copyright COMPONENT evolve-worker)
  list(APPEND components evolve-worker)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # it would precede each package's own
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "the evolve project")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_EVOLVE_PACKAGE_NAME evolve)
set(CPACK_DEBIAN_EVOLVE_DESCRIPTION "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_EVOLVE_PACKAGE_RECOMMENDS "gnuplot-nox, fonts-dejavu-core")
set(CPACK_DEBIAN_EVOLVE_PACKAGE_SUGGESTS "evolve-worker, python3, python3-venv")
set(CPACK_DEBIAN_EVOLVE-WORKER_PACKAGE_NAME evolve-worker)
set(CPACK_DEBIAN_EVOLVE-WORKER_DESCRIPTION "The built-in trainer of evolve: YOLOv5 detectors on libtorch")
set(CPACK_DEBIAN_EVOLVE-WORKER_PACKAGE_DEPENDS "evolve (= ${PROJECT_VERSION})")
include(CPack)
