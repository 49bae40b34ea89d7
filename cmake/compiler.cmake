# Language level, warnings, instruction set and sanitizers, for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_compile_options(
  # A fused multiply-add where the compiler happens to see one would change bits from build to build.
  -ffp-contract=off
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual>")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")  # false alarms in std::string, GCC bug 105329
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-march=${LOCKSTEP_ARCH}>")
  # Functions that exist once more in AVX-512 (runtime/wide_vectors.h): GCC would use half the width of the registers.
  set(LOCKSTEP_WIDE_ATTRIBUTE "[[gnu::target(\"avx512f,avx512bw,avx512dq,avx512vl\"), gnu::flatten]]")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-mprefer-vector-width=512>")
endif()

if(LOCKSTEP_SANITIZE)
  # Instrumented code hides from GCC's flow analysis that a std::optional is set before it is read.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${LOCKSTEP_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  add_link_options(-fsanitize=${LOCKSTEP_SANITIZE})
endif()
