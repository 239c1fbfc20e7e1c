// The torch door's half that needs the loader.
#pragma once

namespace cuheap::preload {

// Looks for libc10 among the loaded objects, to forward to it. Takes the loader's lock: never on an
// event of torch's. Cheap once found.
void FindTorch();

}  // namespace cuheap::preload
