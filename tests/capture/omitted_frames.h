// Functions built with -fomit-frame-pointer whatever the rest of the program is built with.
#pragma once

namespace cuheap::capture {

using Callback = void (*)(void*);

void CallWithoutFramePointer(Callback callback, void* context);
// Its frame has a size that is known at run time only.
void CallWithDynamicFrame(Callback callback, void* context, int bytes);
// Its frame is aligned beyond what the ABI gives.
void CallWithAlignedFrame(Callback callback, void* context);
void CallAtDepth(int depth, Callback callback, void* context);

}  // namespace cuheap::capture
