#include "tools/analysis/statistics.h"

#include <algorithm>
#include <cmath>

namespace cuheap::analysis {

double MannKendallScore(const std::vector<Point>& series) {
  const std::size_t count = series.size();
  if (count < 4) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      sum += series[j].value > series[i].value ? 1 : 0;
      sum -= series[j].value < series[i].value ? 1 : 0;
    }
  }
  const auto spread = [](double n) { return n * (n - 1) * (2 * n + 5); };
  double variance = spread(static_cast<double>(count));
  std::vector<double> values;
  for (const Point& point : series) values.push_back(point.value);
  std::sort(values.begin(), values.end());
  for (auto run = values.begin(); run != values.end();) {
    const auto end = std::upper_bound(run, values.end(), *run);
    variance -= spread(static_cast<double>(end - run));
    run = end;
  }
  variance /= 18;
  if (variance <= 0 || sum == 0) return 0;
  return (sum > 0 ? sum - 1 : sum + 1) / std::sqrt(variance);
}

double SenSlope(const std::vector<Point>& series) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (std::size_t j = i + 1; j < series.size(); ++j) {
      const double distance = series[j].step - series[i].step;
      if (distance > 0) slopes.push_back((series[j].value - series[i].value) / distance);
    }
  }
  if (slopes.empty()) return 0;
  std::sort(slopes.begin(), slopes.end());
  const std::size_t middle = slopes.size() / 2;
  return slopes.size() % 2 == 1 ? slopes[middle] : (slopes[middle - 1] + slopes[middle]) / 2;
}

}  // namespace cuheap::analysis
