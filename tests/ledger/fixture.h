// A ledger in a folder of its own, with time moved by hand.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "allocator/ledger/ledger.h"
#include "tests/ledger/file_view.h"

namespace cuheap::testing {

class ManualClock final : public Clock {
 public:
  std::uint64_t MonotonicNs() override { return now; }
  std::uint64_t LateMonotonicNs() override { return now; }
  std::uint64_t WallNs() override { return 1'700'000'000'000'000'000u + now; }
  std::uint64_t now = 1'000'000;
};

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/cuheap-ledger-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

class LedgerTest : public ::testing::Test {
 protected:
  LedgerOptions Options() {
    LedgerOptions options;
    options.destination = destination.c_str();
    options.shared_folder = shared.c_str();
    return options;
  }
  bool Open() { return ledger.Open(Options(), clock); }
  bool Open(const LedgerOptions& options) { return ledger.Open(options, clock); }

  RecordId Born(std::uint64_t address, std::uint64_t bytes,
                format::Heap heap = format::Heap::k_torch, int device = 0, std::uint8_t flags = 0,
                SiteId site = {}) {
    Birth birth;
    birth.address = Address(address);
    birth.block_bytes = Bytes(bytes);
    birth.heap = heap;
    birth.device = DeviceId(static_cast<std::uint8_t>(device));
    birth.flags = flags;
    birth.site = site;
    clock.now += 1000;
    return ledger.Born(birth);
  }
  Death Died(std::uint64_t address, format::Heap heap = format::Heap::k_torch) {
    clock.now += 1000;
    return ledger.Died(heap, Address(address));
  }
  FileView View() const { return FileView(ledger.file_path()); }

  Folder folder;
  std::string destination = folder.path / "out" / "a.cuheap";
  std::string shared = folder.path / "shared";
  ManualClock clock;
  Ledger ledger;
};

}  // namespace cuheap::testing
