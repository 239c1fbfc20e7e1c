// One function with a frame of CUHEAP_FRAME_BYTES that calls back: in the middle, so that only its
// unwind rule says where the return address is.
#include <cstddef>

extern "C" int CallThrough(int (*callback)(void*), void* context) {
  volatile char room[CUHEAP_FRAME_BYTES];
  for (std::size_t i = 0; i < sizeof room; ++i) room[i] = static_cast<char>(i);
  const int result = callback(context);
  return result + room[1] - 1;
}
