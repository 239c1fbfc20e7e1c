// What a policy keeps of each block, by its number.
#pragma once

#include <algorithm>
#include <vector>

#include "tools/replay/op_stream.h"

namespace cuheap::replay {

template <class Held>
class HeldBlocks {
 public:
  // Room for a block is made when it is first looked at.
  Held& operator[](BlockNumber block) {
    if (held_.size() <= Value(block)) held_.resize(Value(block) + 1);
    return held_[Value(block)];
  }

 private:
  std::vector<Held> held_;
};

// The stream uses a block that belongs to `own`, too: each is kept once.
inline void AddUser(StreamHandle own, StreamHandle stream, std::vector<StreamHandle>* users) {
  const bool known = std::find(users->begin(), users->end(), stream) != users->end();
  if (stream != own && !known) users->push_back(stream);
}

}  // namespace cuheap::replay
