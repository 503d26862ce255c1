// SPDX-License-Identifier: BSD-3-Clause
#include "hook/trials.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::retune {
namespace {

constexpr int rounds = 3, last_rounds = 6;                // of every candidate; of the original and of the leader
constexpr double hopeless = 1.3;                          // times the leader's: not tried again
constexpr double least_gain = 0.03, least_gain_s = 5e-7;  // below, the original stays

// Sizes near this are tried first.
constexpr std::uint32_t usual_block = 256;
double distance(std::uint32_t block) { return std::fabs(std::log2(static_cast<double>(block) / usual_block)); }

}  // namespace

void Trials::begin(const std::vector<Shape> &shapes) {
  for (const Shape &shape : shapes) candidates_.push_back({shape.block});
  std::stable_sort(candidates_.begin() + 1, candidates_.end(),
                   [](const Candidate &a, const Candidate &b) { return distance(a.block) < distance(b.block); });
  chosen_ = candidates_[0].block;
  if (candidates_.size() == 1) decided_ = true;
}

void Trials::begin(const CacheEntry &known) {
  decided_ = true;
  chosen_ = known.block;
  original_s_ = known.original_s;
  chosen_s_ = known.block_s;
}

double Trials::leader() const {
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate &candidate : candidates_) best = std::min(best, candidate.best_s);
  return best;
}

// Times grow on both sides of the best size: beyond one that was hopeless nothing is tried.
bool Trials::beyond_hopeless(const Candidate &candidate, double leader) const {
  for (const Candidate &other : candidates_) {
    const bool nearer = distance(other.block) < distance(candidate.block) && &other != candidates_.data();
    if (nearer && (other.block < usual_block) == (candidate.block < usual_block) && other.block != usual_block &&
        other.ended > 0 && other.best_s > hopeless * leader)
      return true;
  }
  return false;
}

int Trials::wanted(const Candidate &candidate, double leader) const {
  if (&candidate != candidates_.data() && candidate.started == 0 && beyond_hopeless(candidate, leader)) return 0;
  if (candidate.ended > 0 && candidate.best_s > hopeless * leader && &candidate != candidates_.data()) return 0;
  return &candidate == candidates_.data() || candidate.best_s == leader ? last_rounds : rounds;
}

std::optional<Shape> Trials::next(const Shape &original, const Facts &facts, const sxt_launch_limits &limits) {
  const double best = leader();
  std::optional<Shape> shape;
  Candidate *least = nullptr;
  for (Candidate &candidate : candidates_) {
    if (candidate.started >= wanted(candidate, best) || (least && candidate.started >= least->started)) continue;
    const auto possible = reshaped(original, candidate.block, facts, limits);
    if (!possible) continue;
    least = &candidate;
    shape = possible;
  }
  if (least) ++least->started;
  return shape;
}

double Trials::expected_s() const {
  const double best = leader();
  return std::isfinite(best) ? best : 0;
}

void Trials::note(std::uint32_t block, std::optional<double> seconds_per_thread, std::int64_t threads) {
  for (Candidate &candidate : candidates_) {
    if (candidate.block != block) continue;
    ++candidate.ended;
    if (seconds_per_thread && *seconds_per_thread > 0)
      candidate.best_s = std::min(candidate.best_s, *seconds_per_thread);
  }
  decide(threads);
}

void Trials::decide(std::int64_t threads) {
  if (decided_) return;
  const double best = leader();
  for (const Candidate &candidate : candidates_)
    if (candidate.ended < wanted(candidate, best)) return;
  // The policy that the library has: the least time of what was measured, the original with its head start.
  std::vector<sxt_launch_config> configs;
  for (const Candidate &candidate : candidates_) configs.push_back({1, candidate.block, 0, 0, candidate.best_s});
  const double head_start =
      std::min(configs[0].run_s * (1 - least_gain),
               configs[0].run_s - least_gain_s / static_cast<double>(std::max<std::int64_t>(threads, 1)));
  configs[0].run_s = std::isfinite(head_start) ? std::max(head_start, 0.0) : configs[0].run_s;
  sxt_launch_args args{};
  args.count = static_cast<std::int64_t>(configs.size());
  args.configs = configs.data();
  const std::int64_t chosen = std::max<std::int64_t>(0, sextant::plugin::launch::choose_measured(args));
  decided_ = true;
  chosen_ = candidates_[static_cast<std::size_t>(chosen)].block;
  original_s_ = candidates_[0].best_s;
  chosen_s_ = candidates_[static_cast<std::size_t>(chosen)].best_s;
}

std::int64_t Budget::wait_for(double seconds, std::int64_t now_ns) const {
  const double needed = (spent_ + seconds) / share * 1e9 - static_cast<double>(now_ns - start_ns_);
  return needed <= 0 ? 0 : static_cast<std::int64_t>(std::min(needed, 1e15)) + 1;
}

}  // namespace sextant::retune
