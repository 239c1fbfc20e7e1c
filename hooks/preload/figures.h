// The driver's own figures of the memory: used bytes of a device and of its pool, who the device
// is. Taken from the driver, which has no last-error state that a question could change, and never
// while a stream is being captured. Questions cost time, so they may take 1 % of the run and a
// short burst more; what is skipped is asked at a later call.
#pragma once

#include <cstdint>

namespace cuheap::preload {

// Looks for a driver that is loaded. Takes the loader's lock; cheap once found.
void FindDriverFigures();

// The process is on its way out: nothing is asked any more.
void StopDriverFigures();

// Ordinal of this thread's current device, -1 when it has none.
int CurrentDevice();
// Device of an address that the driver handed out; the current one where it cannot be asked.
int DeviceOf(const void* address);
// The same of physical memory.
int DeviceOfMemory(unsigned long long handle);

// A segment of this device came or went; `pool`: through its stream-ordered pool.
void MemoryChanged(int device, bool pool);
// Asks what earlier calls skipped, if anything.
void CatchUp();

// Streams being captured in this process, from the runtime's calls.
void CaptureBegan();
void CaptureEnded();
bool IsCapturing();

}  // namespace cuheap::preload
