// How quantities are written in sentences: the same in every report.
#pragma once

#include <cstdint>
#include <string>

namespace cuheap::analysis {

std::string SizeText(double bytes);  // "512 B", "4.0 KiB", "1.5 MiB", "61.2 GiB", with a minus sign
                                     // where it is negative
std::string TimeText(std::uint64_t nanoseconds);  // "0.213 s", "12.3 s", "2 h 03 min"
std::string OrdinalText(std::uint64_t n);         // "2nd", "10th"
std::string CountText(std::uint64_t n, const char* one, const char* many);  // "1 block", "3 blocks"

}  // namespace cuheap::analysis
