// When the core of a process begins and ends. For the library that carries it: its constructor and
// its destructor, nobody else.
#pragma once

namespace cuheap {

// Reads the knobs from the environment. Opens nothing, prints nothing.
void StartCore();
// Closes the trace, if there is one. Later calls into the core are counted as late.
void StopCore();

}  // namespace cuheap
