# Other allocators, which run on the simulated device as tests and as the peers of benchmarks: CUB from the CUDA toolkit or
# the unpacked wheels (cuheap_cub_headers), RMM from its wheel (cuheap_rmm_headers), and PyTorch's, whose wheel has headers
# and libraries (cuheap_torch_allocator). `./dev setup` unpacks them; where one is missing its target is too.
include_guard(GLOBAL)
include(CudaHeaders)

find_path(CUHEAP_CUB_INCLUDE cub/util_allocator.cuh HINTS ${CUHEAP_CUDA_INCLUDE}/cccl ${CUHEAP_CUDA_INCLUDE})
if(CUHEAP_CUB_INCLUDE)
  add_library(cuheap_cub_headers INTERFACE)
  target_include_directories(cuheap_cub_headers SYSTEM INTERFACE ${CUHEAP_CUB_INCLUDE})
  target_link_libraries(cuheap_cub_headers INTERFACE cuheap_cuda_headers)
endif()

# RMM brings the libraries it was made with: fmt, spdlog, NVTX, and under rapids/ the Thrust and libcu++ of its time.
set(rmm ${PROJECT_SOURCE_DIR}/build/rmm-headers/include)
if(EXISTS ${rmm}/rmm/version_config.hpp)
  add_library(cuheap_rmm_headers INTERFACE)
  target_include_directories(cuheap_rmm_headers SYSTEM INTERFACE ${rmm} ${rmm}/rapids ${rmm}/rapids/libcudacxx)
  # Its log would be a file in the current folder.
  target_compile_definitions(cuheap_rmm_headers INTERFACE LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE FMT_HEADER_ONLY
                             SPDLOG_FMT_EXTERNAL SPDLOG_ACTIVE_LEVEL=SPDLOG_LEVEL_OFF)
  target_link_libraries(cuheap_rmm_headers INTERFACE cuheap_cuda_headers)
endif()

# Under a sanitizer the wheel's libraries, which lack it, would be taken for racy.
file(GLOB torch ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
if(EXISTS ${torch}/include/c10/cuda/CUDACachingAllocator.h AND NOT CUHEAP_SANITIZE)
  add_library(cuheap_torch_allocator INTERFACE)
  target_include_directories(cuheap_torch_allocator SYSTEM INTERFACE ${torch}/include)
  target_link_libraries(cuheap_torch_allocator INTERFACE ${torch}/lib/libc10_cuda.so ${torch}/lib/libc10.so cuheap_cuda_headers)
endif()
