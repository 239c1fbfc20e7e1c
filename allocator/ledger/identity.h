// Who this process is, written into the header of its trace file once.
#pragma once

#include "allocator/base/clock.h"
#include "allocator/ledger/ledger.h"
#include "allocator/ledger/shared_file.h"

namespace cuheap {

// Fills every field of the header that does not change later. REQUIRES: the header is zero.
void WriteIdentity(format::FileHeader& header, const LedgerOptions& options, const SharedFile& file,
                   Clock& clock);

}  // namespace cuheap
