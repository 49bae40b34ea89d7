# add_op(<name>): one operation = the folder ops/<name>/ and its test tests/ops/<name>_test.cpp. Adds to lockstep_ops
#   <name>.h           declares it: contract, shapes, errors
#   <name>.cpp         front end: checks, allocates, records
#   <name>_cpu.cpp     computes on the CPU
#   <name>_cuda.cu     computes on CUDA devices (optional; in CUDA builds only)
#   <name>_kernels.h   declares what the last two define (optional)
# Configuring stops when one that is not optional is missing, and when the test defines no rows for the table of
# operations (tests/ops/op_rows.h).
function(add_op name)
  set(test ${PROJECT_SOURCE_DIR}/tests/ops/${name}_test.cpp)
  foreach(file ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${name}.h ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${name}.cpp
               ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${name}_cpu.cpp ${test})
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "add_op(${name}): ${file} is missing")
    endif()
  endforeach()
  file(STRINGS ${test} rows REGEX "OpRows ${name}_rows\\(\\)")
  if(NOT rows)
    message(FATAL_ERROR "add_op(${name}): ${test} does not define `test::OpRows ${name}_rows()`; see tests/ops/op_rows.h")
  endif()
  target_sources(lockstep_ops PRIVATE ${name}/${name}.cpp ${name}/${name}_cpu.cpp)
  if(LOCKSTEP_HAS_CUDA AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${name}_cuda.cu)
    target_sources(lockstep_ops PRIVATE ${name}/${name}_cuda.cu)
  endif()
  set_property(GLOBAL APPEND PROPERTY LOCKSTEP_OPS ${name})
  set_property(GLOBAL APPEND PROPERTY LOCKSTEP_OP_TESTS ${test})
endfunction()
