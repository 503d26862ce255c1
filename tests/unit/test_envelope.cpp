// SPDX-License-Identifier: BSD-3-Clause
// Lower envelopes of known curves: lines with hand-computed crossings, steps, ties, curves that come and go.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "core/model/envelope.hpp"

namespace {

using sextant::Bid;
using sextant::Envelope;
using sextant::EnvelopePiece;
using sextant::lower_envelope;

constexpr std::int64_t last = std::int64_t{1} << 40;

std::uint64_t winner_at(const Envelope &envelope, std::int64_t n) {
  std::uint64_t id = EnvelopePiece::no_curve;
  for (const EnvelopePiece &piece : envelope.pieces)
    if (piece.first <= n) id = piece.id;
  return id;
}

// The cheapest at n by definition, allowing for ties.
void expect_exact(const Envelope &envelope, const sextant::Curves &curves, std::int64_t n) {
  double least = INFINITY, taken = INFINITY;
  for (const Bid &bid : curves(n)) {
    least = std::min(least, bid.cost);
    if (bid.id == winner_at(envelope, n)) taken = bid.cost;
  }
  EXPECT_LE(taken, least * (1 + 2 * sextant::envelope_tie)) << "n = " << n;
}

void expect_exact_at_random(const Envelope &envelope, const sextant::Curves &curves) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> bits(0, 40);
  for (int i = 0; i < 3000; ++i)
    expect_exact(envelope, curves, std::max<std::int64_t>(1, static_cast<std::int64_t>(std::exp2(bits(random)))));
  for (const EnvelopePiece &piece : envelope.pieces) {
    expect_exact(envelope, curves, piece.first);
    if (piece.first > 1) expect_exact(envelope, curves, piece.first - 1);
  }
}

TEST(EnvelopeTest, CrossingsOfThreeLinesAreFoundToTheInteger) {
  // 10 + 4n, 100 + n, 1000 + n / 10: they cross at 30 and at 1000; a tie goes to the one listed first.
  const auto curves = [](std::int64_t n) {
    const auto x = static_cast<double>(n);
    return std::vector<Bid>{{0, 10 + 4 * x}, {1, 100 + x}, {2, 1000 + x / 10}};
  };
  const Envelope envelope = lower_envelope(1, last, {}, curves);
  ASSERT_EQ(envelope.pieces.size(), 3u);
  EXPECT_EQ(envelope.pieces[1].first, 31);
  EXPECT_EQ(envelope.pieces[2].first, 1001);
  EXPECT_EQ(envelope.unresolved, 0);
  EXPECT_LT(envelope.evaluations, 2000);
}

TEST(EnvelopeTest, OneCurveIsOnePiece) {
  const Envelope envelope = lower_envelope(1, last, {}, [](std::int64_t n) {
    return std::vector<Bid>{{7, std::sqrt(static_cast<double>(n))}};
  });
  ASSERT_EQ(envelope.pieces.size(), 1u);
  EXPECT_EQ(envelope.pieces[0].first, 1);
  EXPECT_EQ(envelope.pieces[0].id, 7u);
}

TEST(EnvelopeTest, RoundingDoesNotDecideBetweenEqualCurves) {
  // The same cost, rounded differently.
  const auto curves = [](std::int64_t n) {
    const auto x = static_cast<double>(n);
    return std::vector<Bid>{{0, x * 0.1 * 3}, {1, x * 3 * 0.1}};
  };
  EXPECT_EQ(lower_envelope(1, last, {}, curves).pieces.size(), 1u);
}

TEST(EnvelopeTest, StepsOfTestDomainsAreFollowed) {
  // Elements a thread = ceil(n / (threads * 64)); more threads cost more to start.
  const auto curves = [](std::int64_t n) {
    std::vector<Bid> bids;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::int64_t wave = (128 << i) * 64;
      const double elements = static_cast<double>((n + wave - 1) / wave);
      bids.push_back({i, 3 + static_cast<double>(i) + elements + 1e-6 * static_cast<double>(n)});
    }
    return bids;
  };
  std::vector<std::int64_t> marks;
  for (int i = 0; i < 4; ++i)
    for (const std::int64_t times : {1, 2, 3, 4, 8}) marks.push_back((128 << i) * 64 * times);
  const Envelope envelope = lower_envelope(1, last, marks, curves);
  expect_exact_at_random(envelope, curves);
  EXPECT_GT(envelope.pieces.size(), 3u);
}

TEST(EnvelopeTest, LeavesSharedByThreadsGiveASawToothThatIsFollowed) {
  // 1, 2, 4, ... threads share leaves of 1024 elements; the busiest one decides.
  const auto curves = [](std::int64_t n) {
    std::vector<Bid> bids;
    const std::int64_t leaves = (n + 1023) / 1024;
    for (std::uint64_t i = 0; i < 5; ++i) {
      const std::int64_t threads = 1 << i, busiest = (leaves + threads - 1) / threads;
      const double uneven = static_cast<double>(busiest * threads) / static_cast<double>(leaves);
      bids.push_back({i, (i ? 2e-6 : 0) + 1e-9 * static_cast<double>(n) * uneven / static_cast<double>(threads)});
    }
    return bids;
  };
  const Envelope envelope = lower_envelope(1, last, {}, curves);
  expect_exact_at_random(envelope, curves);
}

TEST(EnvelopeTest, CurvesMayComeAndGo) {
  // Curve 1 is cheap but exists only from 1000 to 4999; no curve serves 77.
  const auto curves = [](std::int64_t n) {
    std::vector<Bid> bids;
    if (n != 77) bids.push_back({0, 10.0});
    if (n >= 1000 && n < 5000) bids.push_back({1, 1.0});
    return bids;
  };
  const Envelope envelope = lower_envelope(1, last, {77, 76}, curves);
  EXPECT_EQ(winner_at(envelope, 999), 0u);
  EXPECT_EQ(winner_at(envelope, 1000), 1u);
  EXPECT_EQ(winner_at(envelope, 4999), 1u);
  EXPECT_EQ(winner_at(envelope, 5000), 0u);
  EXPECT_EQ(winner_at(envelope, 77), EnvelopePiece::no_curve);
  EXPECT_EQ(winner_at(envelope, 78), 0u);
}

TEST(EnvelopeTest, ACurveTooWildToFollowIsGivenUpAndCounted) {
  // Which of the two is cheaper changes at every other n.
  const Envelope envelope = lower_envelope(1, 1 << 20, {}, [](std::int64_t n) {
    return std::vector<Bid>{{0, 1 + 0.1 * static_cast<double>(n % 2)}, {1, 1.05}};
  });
  EXPECT_GT(envelope.unresolved, 0);
  EXPECT_LT(envelope.evaluations, 100000);
}

}  // namespace
