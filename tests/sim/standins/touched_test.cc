// The ranges that stand-ins name: exact, never beyond the last element, never in their own way.
#include "tests/sim/standins/touched.h"

#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

namespace cuheap::sim_standin {
namespace {

constexpr int kFloat = 32;

const void* At(std::uint64_t address) { return reinterpret_cast<const void*>(address); }

// Begin, bytes, whether it is written.
using Piece = std::tuple<std::uint64_t, std::uint64_t, int>;

std::vector<Piece> Pieces(const Touched& touched) {
  std::vector<Piece> pieces;
  for (const cuheap_sim_range& range : touched.Ranges())
    pieces.emplace_back(range.base, range.bytes, range.writes);
  return pieces;
}

std::vector<Piece> Of(Access access, const Matrix& matrix) {
  Touched touched;
  touched.Add(access, matrix);
  return Pieces(touched);
}

TEST(TouchedTest, AMatrixWithoutGapsIsOneRange) {
  EXPECT_EQ(Of(Access::kWrite, {At(4096), 8, 4, 8, kFloat}), (std::vector<Piece>{{4096, 128, 1}}));
}

TEST(TouchedTest, OfALargerMatrixOnlyItsColumnsAreTouched) {
  EXPECT_EQ(Of(Access::kRead, {At(4096), 3, 2, 10, kFloat}),
            (std::vector<Piece>{{4096, 12, 0}, {4136, 12, 0}}));
}

TEST(TouchedTest, ABatchWithoutGapsIsOneRangeAndASharedMatrixCountsOnce) {
  EXPECT_EQ(Of(Access::kRead, {At(4096), 4, 4, 4, kFloat, 3, 16}),
            (std::vector<Piece>{{4096, 192, 0}}));
  EXPECT_EQ(Of(Access::kRead, {At(4096), 4, 4, 4, kFloat, 3, 0}),
            (std::vector<Piece>{{4096, 64, 0}}));
}

TEST(TouchedTest, InterleavedMatricesOfABatchFillTheirMemory) {
  Touched touched;  // two heads side by side in rows of eight
  touched.Box(Access::kWrite, At(4096), {{4, 1}, {5, 8}, {2, 4}}, kFloat);
  EXPECT_EQ(Pieces(touched), (std::vector<Piece>{{4096, 160, 1}}));
}

TEST(TouchedTest, NothingIsNamedWithoutElementsOrAddress) {
  EXPECT_TRUE(Of(Access::kRead, {At(4096), 0, 4, 4, kFloat}).empty());
  EXPECT_TRUE(Of(Access::kRead, {nullptr, 4, 4, 4, kFloat}).empty());
  EXPECT_TRUE(Of(Access::kRead, {At(4096), 4, 4, 4, kFloat, 0, 16}).empty());
}

TEST(TouchedTest, AVectorMayGoBackwardsAndHasGaps) {
  Touched touched;
  touched.Vector(Access::kRead, At(4096), 3, -2, kFloat);
  EXPECT_EQ(Pieces(touched), (std::vector<Piece>{{4096, 4, 0}, {4104, 4, 0}, {4112, 4, 0}}));
}

TEST(TouchedTest, ATriangleHasItsDiagonal) {
  Touched lower;
  lower.Triangle(Access::kRead, {At(4096), 3, 3, 4, kFloat}, false);
  EXPECT_EQ(Pieces(lower), (std::vector<Piece>{{4096, 12, 0}, {4116, 8, 0}, {4136, 4, 0}}));
  Touched upper;
  upper.Triangle(Access::kRead, {At(4096), 3, 3, 4, kFloat}, true);
  EXPECT_EQ(Pieces(upper), (std::vector<Piece>{{4096, 4, 0}, {4112, 8, 0}, {4128, 12, 0}}));
}

TEST(TouchedTest, WhatIsWrittenIsNotReadToo) {
  Touched touched;
  touched.Bytes(Access::kRead, At(4096), 100);
  touched.Bytes(Access::kWrite, At(4116), 20);
  touched.Bytes(Access::kWrite, At(4126), 20);
  EXPECT_EQ(Pieces(touched), (std::vector<Piece>{{4096, 20, 0}, {4146, 50, 0}, {4116, 30, 1}}));
}

TEST(TouchedTest, NeighboursStayTwoRangesSinceTheyMayBeTwoBlocks) {
  Touched touched;
  touched.Bytes(Access::kWrite, At(4096), 4);
  touched.Bytes(Access::kWrite, At(4100), 4);
  EXPECT_EQ(Pieces(touched), (std::vector<Piece>{{4096, 4, 1}, {4100, 4, 1}}));
}

TEST(TouchedTest, ManyPiecesAreCutOff) {
  const auto pieces = Of(Access::kRead, {At(4096), 1, 1000, 2, kFloat});
  ASSERT_EQ(pieces.size(), Touched::kMostPieces);
  EXPECT_EQ(pieces.back(), Piece(4096 + 255 * 8, 4, 0));
}

TEST(TouchedTest, HalfBytesAreRoundedUp) {
  EXPECT_EQ(Of(Access::kRead, {At(4096), 5, 1, 5, 4}), (std::vector<Piece>{{4096, 3, 0}}));
}

}  // namespace
}  // namespace cuheap::sim_standin
