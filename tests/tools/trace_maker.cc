#include "tests/tools/trace_maker.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/trace/reader.h"

namespace cuheap {
namespace {

constexpr std::uint32_t kPython311 = 0x030b07f0;
// One entry of a 3.11 location table: eight code units on the first line.
constexpr std::array<std::uint8_t, 2> kOneLine = {0x80 | (13 << 3) | 7, 0};

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "cuheap_test_XXXXXX").string();
  path_ = mkdtemp(name.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

TraceMaker::TraceMaker(std::uint64_t limit_bytes, format::Mode mode) {
  const std::string destination = path();
  LedgerOptions options;
  options.destination = destination.c_str();
  options.limit = Bytes(limit_bytes);
  options.mode = mode;
  EXPECT_TRUE(ledger_.Open(options, clock_));
  ledger_.SetPython(kPython311, format::PythonFrames::kChecked);
}

SiteId TraceMaker::Site(format::Heap heap, const PythonPlace& place) {
  const std::uint32_t code = ledger_.InternCode(place.file, place.function, place.line, kOneLine);
  const std::array<std::uint64_t, 1> frames = {format::PythonFrame(code, 0)};
  return ledger_.InternSite(heap, 0, 0, 0, frames);
}

RecordId TraceMaker::Alloc(format::Heap heap, std::uint64_t address, std::uint64_t bytes,
                           SiteId site, std::uint8_t flags, std::uint8_t device) {
  clock_.Advance(10);
  Birth birth;
  birth.address = Address{address};
  birth.block_bytes = Bytes(bytes);
  if (heap != format::Heap::k_torch) birth.requested_bytes = Bytes(bytes);
  birth.site = site;
  birth.device = DeviceId{device};
  birth.heap = heap;
  birth.flags = flags;
  if ((flags & format::kExpectSegment) != 0) birth.segment_heap = format::Heap::k_torch;
  return ledger_.Born(birth);
}

void TraceMaker::Free(format::Heap heap, std::uint64_t address) {
  clock_.Advance(10);
  EXPECT_TRUE(ledger_.Died(heap, Address{address}).known);
}

void TraceMaker::Step() {
  clock_.Advance(1'000'000);
  ledger_.Tick(format::Signal::k_program);
}

trace::Trace TraceMaker::Finish() {
  ledger_.Close();
  return Read();
}

trace::Trace TraceMaker::Read() const {
  Result<trace::Trace> trace = trace::ReadTrace(path());
  if (trace.ok()) return std::move(*trace);
  ADD_FAILURE() << trace.error().message;
  return {};
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace cuheap
