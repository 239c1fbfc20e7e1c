// A lock on one byte of a file, as fcntl takes it: the kernel drops it with its holder.
#pragma once

#include <fcntl.h>

namespace cuheap::sim {

inline struct flock ByteLock(off_t place, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  return lock;
}

}  // namespace cuheap::sim
