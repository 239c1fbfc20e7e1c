// cuBLAS: handles and modes.
#include "tests/sim/standins/cublas_handle.h"

using namespace cuheap::sim_standin;

namespace {

int OnHandle(Handle handle, int Object::*field, int value) {
  if (handle == nullptr) return kCublasNotInitialized;
  static_cast<Object*>(handle)->*field = value;
  return 0;
}

int AskHandle(Handle handle, int Object::*field, int* value) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (value == nullptr) return kCublasInvalidValue;
  *value = static_cast<Object*>(handle)->*field;
  return 0;
}

}  // namespace

CUHEAP_STANDIN int cublasCreate_v2(Handle* handle) {
  return handle == nullptr ? kCublasInvalidValue : Create(handle);
}
CUHEAP_STANDIN int cublasDestroy_v2(Handle handle) {
  return handle == nullptr ? kCublasNotInitialized : Destroy(handle);
}

CUHEAP_STANDIN int cublasSetStream_v2(Handle handle, Stream stream) {
  if (handle == nullptr) return kCublasNotInitialized;
  SetStream(handle, stream);
  return 0;
}
CUHEAP_STANDIN int cublasGetStream_v2(Handle handle, Stream* stream) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (stream == nullptr) return kCublasInvalidValue;
  *stream = StreamOf(handle);
  return 0;
}

CUHEAP_STANDIN int cublasSetPointerMode_v2(Handle handle, int mode) {
  return OnHandle(handle, &Object::mode, mode);
}
CUHEAP_STANDIN int cublasGetPointerMode_v2(Handle handle, int* mode) {
  return AskHandle(handle, &Object::mode, mode);
}
CUHEAP_STANDIN int cublasSetMathMode(Handle handle, int mode) {
  return OnHandle(handle, &Object::math, mode);
}
CUHEAP_STANDIN int cublasGetMathMode(Handle handle, int* mode) {
  return AskHandle(handle, &Object::math, mode);
}
