// What nvcc would put into an object: a binary with one kernel and one variable of 64 bytes, which
// are registered while the object lives.
#pragma once

#include <cuda_runtime_api.h>

extern "C" {
void** __cudaRegisterFatBinary(void* image);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*);
void __cudaRegisterVar(void**, char* host, char*, const char* name, int, size_t size, int, int);
}

class CompiledCode {
 public:
  CompiledCode() {
    handle_ = __cudaRegisterFatBinary(image_);
    __cudaRegisterFunction(handle_, &stub_, nullptr, "kernel", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(handle_, &variable_, nullptr, "variable", 0, 64, 0, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~CompiledCode() { __cudaUnregisterFatBinary(handle_); }
  const void* stub() const { return &stub_; }
  const void* variable() const { return &variable_; }

 private:
  int image_[16] = {};
  char stub_ = 0;
  char variable_ = 0;
  void** handle_ = nullptr;
};
