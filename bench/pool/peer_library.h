// Opens the shared library of a peer.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "bench/pool/peer.h"

namespace cuheap::bench {

using MakePeer = Peer* (*)();

// Null: a line on stderr says why. The library stays for the life of the process.
MakePeer OpenPeer(const std::filesystem::path& folder, const std::string& name);

}  // namespace cuheap::bench
