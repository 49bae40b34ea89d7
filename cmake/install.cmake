# cmake --install: programs, recipes, libraries and headers, for find_package(lockstep CONFIG) and lockstep::lockstep.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(LIBRARY_FOLDERS runtime proto ops comm data models optim parallel train launcher)
list(TRANSFORM LIBRARY_FOLDERS PREPEND lockstep_ OUTPUT_VARIABLE LIBRARIES)

# One target for everything. A program's own loops keep the rule of the library's: no fused multiply-add where the
# compiler happens to see one, so that bits do not depend on the build.
add_library(lockstep_all INTERFACE)
set_target_properties(lockstep_all PROPERTIES EXPORT_NAME lockstep)
target_link_libraries(lockstep_all INTERFACE ${LIBRARIES})
target_compile_features(lockstep_all INTERFACE cxx_std_20)
target_compile_options(lockstep_all INTERFACE -ffp-contract=off)
target_include_directories(lockstep_all INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS lockstep_all ${LIBRARIES} EXPORT lockstep)
install(TARGETS train lockstep)
foreach(folder ${LIBRARY_FOLDERS})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lockstep/${folder}
          FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated_proto/proto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lockstep
        FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/generated/build_config.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lockstep)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep)

set(PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)
install(EXPORT lockstep NAMESPACE lockstep:: FILE lockstep-targets.cmake DESTINATION ${PACKAGE_FOLDER})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lockstep-config.cmake.in
                              ${PROJECT_BINARY_DIR}/lockstep-config.cmake INSTALL_DESTINATION ${PACKAGE_FOLDER})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lockstep-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lockstep-config.cmake ${PROJECT_BINARY_DIR}/lockstep-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake
        DESTINATION ${PACKAGE_FOLDER})
