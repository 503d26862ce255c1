// SPDX-License-Identifier: BSD-3-Clause
// The lower envelope of cost curves over a size n: which curve is cheapest where, with borders exact to one integer.
// Curves are only known by asking for all of their values at one n.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace sextant {

// One curve at one n. Equal ids at different n are one curve.
struct Bid {
  std::uint64_t id = 0;
  double cost = 0;
};

// Where a curve begins to be the cheapest; it stays so until the next piece begins.
struct EnvelopePiece {
  static constexpr std::uint64_t no_curve = ~std::uint64_t{0};  // no curve has a value here
  std::int64_t first = 0;
  std::uint64_t id = no_curve;
};

struct Envelope {
  std::vector<EnvelopePiece> pieces;  // ascending; the first begins at the domain's first n
  std::int64_t evaluations = 0;
  // Intervals between tested sizes that hold one winner at both ends but were given up before it was certain that
  // nothing wins in between. 0: the envelope is exact.
  std::int64_t unresolved = 0;
};

// Costs this close (relative) are a tie, which goes to the curve listed first: without it, rounding would decide.
inline constexpr double envelope_tie = 1e-9;

using Curves = std::function<std::vector<Bid>(std::int64_t n)>;

// Over first <= n <= last. marks: sizes at which curves may jump or bend (borders of test domains); both sides of each
// are tested. Intervals are halved until every curve is a straight line in it as far as probes can tell, or too far
// from the cheapest to matter; borders between different winners are halved down to neighbouring integers.
Envelope lower_envelope(std::int64_t first, std::int64_t last, const std::vector<std::int64_t> &marks,
                        const Curves &curves);

// The winner of one list of bids under the tie rule; EnvelopePiece::no_curve when it is empty.
std::uint64_t cheapest(const std::vector<Bid> &bids);

}  // namespace sextant
