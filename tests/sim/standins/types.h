// cudaDataType: how many bits an element has.
#pragma once

#include <library_types.h>

namespace cuheap::sim_standin {

inline constexpr int kRealFloatBits = 32;

// 0: not a type of CUDA.
inline int BitsOfType(int type) {
  switch (type) {
    case CUDA_R_4F_E2M1:
    case CUDA_R_4I:
    case CUDA_R_4U:
      return 4;
    case CUDA_R_6F_E2M3:
    case CUDA_R_6F_E3M2:
      return 6;
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
    case CUDA_R_8F_UE8M0:
    case CUDA_C_4I:
    case CUDA_C_4U:
      return 8;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_R_16I:
    case CUDA_R_16U:
    case CUDA_C_8I:
    case CUDA_C_8U:
      return 16;
    case CUDA_R_32F:
    case CUDA_R_32I:
    case CUDA_R_32U:
    case CUDA_C_16F:
    case CUDA_C_16BF:
    case CUDA_C_16I:
    case CUDA_C_16U:
      return 32;
    case CUDA_R_64F:
    case CUDA_R_64I:
    case CUDA_R_64U:
    case CUDA_C_32F:
    case CUDA_C_32I:
    case CUDA_C_32U:
      return 64;
    case CUDA_C_64F:
    case CUDA_C_64I:
    case CUDA_C_64U:
      return 128;
    default:
      return 0;
  }
}

}  // namespace cuheap::sim_standin
