# The CUDA back end: on when a toolkit is found, off (and said so) when not. Rules for device code:
#   1. device code lives only in *_cuda.cu and *.cuh files;
#   2. no other file includes a CUDA header, except those under */cuda/ and comm/nccl/;
#   3. a .cu file defines what its header declares for the CPU file too; the choice is on_device() in the front end.
set(LOCKSTEP_HAS_CUDA OFF)
set(LOCKSTEP_HAS_CUDA_LITERAL false)
if(NOT LOCKSTEP_CUDA STREQUAL OFF)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(LOCKSTEP_HAS_CUDA ON)
    set(LOCKSTEP_HAS_CUDA_LITERAL true)
  elseif(LOCKSTEP_CUDA STREQUAL ON)
    message(FATAL_ERROR "LOCKSTEP_CUDA=ON, but no CUDA compiler was found")
  endif()
endif()

if(LOCKSTEP_HAS_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know nvcc's C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  # -ffp-contract=off reaches the host compiler alone; device code would fuse multiply and add without this.
  add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>)
  find_package(CUDAToolkit REQUIRED)
  message(STATUS "lockstep: CUDA back end on (toolkit ${CUDAToolkit_VERSION}, sm_${CMAKE_CUDA_ARCHITECTURES})")
else()
  message(STATUS "lockstep: CPU only (no CUDA toolkit, or LOCKSTEP_CUDA=OFF)")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/build_config.h.in ${PROJECT_BINARY_DIR}/generated/build_config.h @ONLY)
