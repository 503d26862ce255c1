// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/envelope.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

namespace sextant {

namespace {

constexpr double grid_ratio = 1.5;             // between sizes that are tested first
constexpr std::int64_t interval_budget = 400;  // evaluations spent within one interval of that grid
constexpr double straight = 1e-9;              // deviation from a chord below which a curve counts as a line
constexpr double safety = 3;                   // a gap that bends cannot close: this many times what probes saw of them

struct Sample {
  std::vector<Bid> bids;
  std::uint64_t winner;
};

class Builder {
 public:
  explicit Builder(const Curves &curves) : curves_(curves) {}

  Envelope build(std::int64_t first, std::int64_t last, const std::vector<std::int64_t> &marks) {
    std::set<std::int64_t> grid{first, last};
    const bool narrow = last <= 2 * first;  // its ends and what is probed between them will do
    for (double n = static_cast<double>(first); !narrow && n < static_cast<double>(last);
         n = std::max(n * grid_ratio, n + 1))
      grid.insert(static_cast<std::int64_t>(n));
    for (const std::int64_t mark : marks)
      for (const std::int64_t n : {mark, mark + 1})
        if (n > first && n < last) grid.insert(n);
    for (auto at = grid.begin(); std::next(at) != grid.end(); ++at) {
      budget_ = interval_budget;
      resolve(*at, *std::next(at));
    }
    at(last);
    for (const auto &[n, sample] : samples_)
      if (result_.pieces.empty() || result_.pieces.back().id != sample.winner)
        result_.pieces.push_back({n, sample.winner});
    result_.evaluations = static_cast<std::int64_t>(samples_.size());
    return std::move(result_);
  }

 private:
  const Sample &at(std::int64_t n) {
    const auto found = samples_.find(n);
    if (found != samples_.end()) return found->second;
    --budget_;
    Sample sample{curves_(n), 0};
    sample.winner = cheapest(sample.bids);
    return samples_.emplace(n, std::move(sample)).first->second;
  }

  // Makes every change of winner in [a, b] visible among the samples.
  void resolve(std::int64_t a, std::int64_t b) {
    const bool changes = at(a).winner != at(b).winner;
    if (b - a <= 1) return;
    if (budget_ <= 0 && !changes) return static_cast<void>(++result_.unresolved);
    if (budget_ > 0 && !changes && settled(a, b)) return;
    const std::int64_t middle = a + (b - a) / 2;
    resolve(a, middle);
    resolve(middle, b);
  }

  // Whether the winner at both ends is known to win in between.
  bool settled(std::int64_t a, std::int64_t b) {
    // Fractions without a simple ratio, so that steps of equal width do not hide behind them.
    constexpr double fractions[] = {0.1458980338, 0.3819660113, 0.6180339887, 0.8541019662};
    std::array<std::int64_t, 6> places{a, b, 0, 0, 0, 0};
    for (std::size_t i = 0; i < 4; ++i)
      places[i + 2] = std::clamp(a + static_cast<std::int64_t>(fractions[i] * static_cast<double>(b - a)), a, b);
    std::array<const Sample *, 6> probes{};
    for (std::size_t i = 0; i < 6; ++i) probes[i] = &at(places[i]);
    const std::uint64_t winner = probes[0]->winner;
    const std::vector<Bid> &curves = probes[0]->bids;
    for (const Sample *probe : probes) {  // one winner among the same curves in the same order
      if (probe->winner != winner || probe->bids.size() != curves.size()) return false;
      for (std::size_t c = 0; c < curves.size(); ++c)
        if (probe->bids[c].id != curves[c].id) return false;
    }
    if (winner == EnvelopePiece::no_curve) return true;
    const auto is_winner = [&](const Bid &bid) { return bid.id == winner; };
    const auto w = static_cast<std::size_t>(std::find_if(curves.begin(), curves.end(), is_winner) - curves.begin());
    const double bent = deviation(places, probes, w);
    for (std::size_t c = 0; c < curves.size(); ++c)
      if (c != w && !beaten(places, probes, c, w, bent)) return false;
    return true;
  }

  // How far a curve strays from the straight line between its ends, relative to its cost.
  static double deviation(const std::array<std::int64_t, 6> &n, const std::array<const Sample *, 6> &probes,
                          std::size_t curve) {
    const double left = probes[0]->bids[curve].cost, right = probes[1]->bids[curve].cost;
    const double width = static_cast<double>(n[1] - n[0]);
    double most = 0;
    for (std::size_t i = 2; i < 6; ++i) {
      const double chord = left + (right - left) * static_cast<double>(n[i] - n[0]) / width;
      most = std::max(most, std::abs(probes[i]->bids[curve].cost - chord) / std::max(left, right));
    }
    return most;
  }

  // Two lines that do not cross at the ends do not cross; others must keep a distance that their bends cannot close.
  static bool beaten(const std::array<std::int64_t, 6> &n, const std::array<const Sample *, 6> &probes,
                     std::size_t curve, std::size_t winner, double winner_bent) {
    const double bends = deviation(n, probes, curve) + winner_bent;
    if (bends <= straight) return true;
    double gap = std::numeric_limits<double>::infinity();
    for (const Sample *probe : probes) gap = std::min(gap, probe->bids[curve].cost / probe->bids[winner].cost - 1);
    return gap > safety * bends;
  }

  const Curves &curves_;
  std::map<std::int64_t, Sample> samples_;
  std::int64_t budget_ = 0;
  Envelope result_;
};

}  // namespace

std::uint64_t cheapest(const std::vector<Bid> &bids) {
  double least = std::numeric_limits<double>::infinity();
  for (const Bid &bid : bids) least = std::min(least, bid.cost);
  for (const Bid &bid : bids)
    if (bid.cost <= least * (1 + envelope_tie)) return bid.id;
  return EnvelopePiece::no_curve;
}

Envelope lower_envelope(std::int64_t first, std::int64_t last, const std::vector<std::int64_t> &marks,
                        const Curves &curves) {
  return Builder(curves).build(first, last, marks);
}

}  // namespace sextant
