# Finds cuda.h, cuda_runtime_api.h and nvml.h: from a CUDA toolkit if there is one, else from the header wheels that
# `./dev setup` unpacks into build/cuda-headers. Headers are all that is needed: nothing links an NVIDIA library.
# Defines the target cuheap_cuda_headers (treated as system headers).
include_guard()

set(unpacked ${PROJECT_SOURCE_DIR}/build/cuda-headers/include)
find_path(CUHEAP_CUDA_INCLUDE cuda.h HINTS ${unpacked} PATHS /usr/local/cuda/include ENV CUDA_HOME PATH_SUFFIXES include)
find_path(CUHEAP_NVML_INCLUDE nvml.h HINTS ${unpacked} /usr/local/cuda/include)
foreach(dir CUHEAP_CUDA_INCLUDE CUHEAP_NVML_INCLUDE)
  if(NOT ${dir})
    message(FATAL_ERROR "${dir} not found: run ./dev setup, which unpacks the CUDA header wheels")
  endif()
endforeach()
add_library(cuheap_cuda_headers INTERFACE)
target_include_directories(cuheap_cuda_headers SYSTEM INTERFACE ${CUHEAP_CUDA_INCLUDE} ${CUHEAP_NVML_INCLUDE})
