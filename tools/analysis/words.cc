#include "tools/analysis/words.h"

#include <fmt/format.h>

#include <cmath>

namespace cuheap::analysis {

std::string SizeText(double bytes) {
  constexpr double kKiB = 1024.0;
  const double size = std::fabs(bytes);
  const char* sign = bytes < 0 ? "-" : "";
  if (size < kKiB) return fmt::format("{}{:.0f} B", sign, size);
  if (size < kKiB * kKiB) return fmt::format("{}{:.1f} KiB", sign, size / kKiB);
  if (size < kKiB * kKiB * kKiB) return fmt::format("{}{:.1f} MiB", sign, size / kKiB / kKiB);
  return fmt::format("{}{:.1f} GiB", sign, size / kKiB / kKiB / kKiB);
}

std::string TimeText(std::uint64_t nanoseconds) {
  const double seconds = static_cast<double>(nanoseconds) / 1e9;
  if (seconds < 10) return fmt::format("{:.3f} s", seconds);
  if (seconds < 600) return fmt::format("{:.1f} s", seconds);
  const auto minutes = static_cast<std::uint64_t>(seconds / 60);
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string OrdinalText(std::uint64_t n) {
  const std::uint64_t tens = n % 100;
  const char* suffix = "th";
  if (tens < 11 || tens > 13) {
    if (n % 10 == 1) suffix = "st";
    if (n % 10 == 2) suffix = "nd";
    if (n % 10 == 3) suffix = "rd";
  }
  return fmt::format("{}{}", n, suffix);
}

std::string CountText(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace cuheap::analysis
