// Proof that no library of NVIDIA's runs beside the simulated device: torch's RPATH may find one
// before LD_LIBRARY_PATH. With CUHEAP_SIM_GUARD=FILE the path of each such library in the process
// is appended to FILE, when the driver is initialised and when the process ends. Any thread; takes
// the loader lock.
#pragma once

namespace cuheap::sim {

void ReportForeignLibraries();

}  // namespace cuheap::sim
