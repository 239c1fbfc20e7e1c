#include "tests/sim/engine/descriptor.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/sim/engine/byte_lock.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

// A place in the file: kind, serial, index. File systems allow at least 43 bits.
constexpr int kIndexBits = 10;
constexpr int kSerialBits = 32;

int file = -1;

std::string PathOfFile() {
  const std::string& shared = TheSettings().shared;
  return shared.empty() ? "/proc/self/fd/" + std::to_string(file) : shared + ".exports";
}

off_t PlaceOf(const DescriptorTicket& ticket) {
  return static_cast<off_t>(static_cast<std::uint64_t>(ticket.kind) << (kIndexBits + kSerialBits) |
                            std::uint64_t{ticket.serial} << kIndexBits |
                            static_cast<std::uint64_t>(ticket.index));
}

// The byte whose lock says that a descriptor is open.
int ByteOf(DescriptorKind kind, int index) {
  return kind == DescriptorKind::kMulticast ? index + (1 << kIndexBits) : index;
}

}  // namespace

bool OpenDescriptorFile() {
  file = TheSettings().shared.empty()
             ? memfd_create("cuheap-sim-exports", MFD_CLOEXEC)
             : open(PathOfFile().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) return true;
  std::fprintf(stderr, "cuheap-sim: file of descriptors (CUHEAP_SIM_SHARED): %s\n",
               std::strerror(errno));
  return false;
}

int MakeDescriptor(const DescriptorTicket& ticket) {
  const int made = open(PathOfFile().c_str(), O_RDWR | O_CLOEXEC);
  if (made < 0) return -1;
  struct flock range = ByteLock(ByteOf(ticket.kind, ticket.index), F_RDLCK);
  const bool held = ticket.kind == DescriptorKind::kPool || fcntl(made, F_OFD_SETLK, &range) == 0;
  if (held && lseek(made, PlaceOf(ticket), SEEK_SET) >= 0) return made;
  close(made);
  return -1;
}

bool ReadDescriptor(int fd, DescriptorTicket* out) {
  struct stat ours {};
  struct stat theirs {};
  if (fstat(fd, &theirs) != 0 || fstat(file, &ours) != 0) return false;
  if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino) return false;
  const off_t place = lseek(fd, 0, SEEK_CUR);
  if (place < 0) return false;
  const auto bits = static_cast<std::uint64_t>(place);
  out->index = static_cast<int>(bits & ((1U << kIndexBits) - 1));
  out->serial = static_cast<std::uint32_t>(bits >> kIndexBits);
  const std::uint64_t kind = bits >> (kIndexBits + kSerialBits);
  out->kind = static_cast<DescriptorKind>(kind);
  return kind <= static_cast<std::uint64_t>(DescriptorKind::kMulticast);
}

bool IsHeldByDescriptor(DescriptorKind kind, int index) {
  struct flock range = ByteLock(ByteOf(kind, index), F_WRLCK);
  return fcntl(file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

}  // namespace cuheap::sim
