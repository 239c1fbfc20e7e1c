// This process as others can tell it, and the names of files that carry it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuheap {

inline constexpr std::size_t kPathBytes = 1024;
inline constexpr char kTraceSuffix[] = ".cuheap";

struct ProcessName {  // a pid alone is reused
  std::uint32_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/self/stat
};
ProcessName ThisProcess();

// "a.cuheap" -> "a.PID-START.cuheap", from the second attempt on "a.PID-START-N.cuheap": the suffix
// stays, so that the file is still found by its ending.
void NameWithProcess(const char* wanted, const ProcessName& process, int attempt,
                     char (&name)[kPathBytes]);

// "FOLDER/PID-START-RANDOM.cuheap". The random part tells apart processes of two containers that
// share the folder.
void NameInFolder(const char* folder, const ProcessName& process, char (&path)[kPathBytes]);

// How many files of this process stand in the folder already: what it opened before an exec.
std::uint32_t FilesOfProcess(const char* folder, const ProcessName& process);

}  // namespace cuheap
