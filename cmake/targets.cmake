# lockstep_library(<folder> SOURCES <files...> DEPS <targets...>): the static library of one folder.
# DEPS name exactly the folders that the layer table of docs/architecture.md allows it to use.
function(lockstep_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;CUDA_SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(LOCKSTEP_HAS_CUDA)
    list(APPEND ARG_SOURCES ${ARG_CUDA_SOURCES})
  endif()
  add_library(lockstep_${folder} STATIC ${ARG_SOURCES})
  set_target_properties(lockstep_${folder} PROPERTIES EXPORT_NAME ${folder})
  target_include_directories(lockstep_${folder} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:include/lockstep>)
  target_link_libraries(lockstep_${folder} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
endfunction()
