#include "tests/sim/standins/enqueue.h"

#include "tests/sim/standins/driver.h"

namespace cuheap::sim_standin {

int Enqueue(Stream stream, const char* name, const Touched& touched) {
  const std::vector<cuheap_sim_range> ranges = touched.Ranges();
  return cuheap_sim_launch(stream, name, ranges.data(), ranges.size());
}

int FillDeviceWords(void* words, unsigned int value, std::size_t count, Stream stream) {
  static const auto fill =
      DriverFunction<int(unsigned long long, unsigned int, std::size_t, Stream)>(
          "cuMemsetD32Async");
  if (words == nullptr || count == 0) return 0;
  return fill(reinterpret_cast<unsigned long long>(words), value, count, stream);
}

int WaitForStream(Stream stream) {
  static const auto wait = DriverFunction<int(Stream)>("cuStreamSynchronize");
  return wait(stream);
}

}  // namespace cuheap::sim_standin
