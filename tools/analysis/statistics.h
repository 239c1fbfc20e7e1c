// Trend statistics that do not mind outliers. Sizes are those of a series of kept step ends: tens
// of points.
#pragma once

#include <cstdint>
#include <vector>

namespace cuheap::analysis {

struct Point {
  double step;
  double value;
};

// Mann-Kendall: the normal score of "later values are higher", ties corrected. 0 for fewer than 4
// points or a constant series.
double MannKendallScore(const std::vector<Point>& series);
// The median of the slopes between all pairs of points; 0 for fewer than 2.
double SenSlope(const std::vector<Point>& series);

}  // namespace cuheap::analysis
