// SPDX-License-Identifier: BSD-3-Clause
// The loop of a solve whose iterations run on the devices: the host observes each block's iterates in order, as if it
// had driven them, and confirms where the recurrence says that the tolerance is met.
#include <algorithm>
#include <cmath>

#include "core/operations/operations.hpp"
#include "core/world/solve.hpp"

namespace sextant {

namespace {

// Blocks are brief where so few iterations are left, by the rate of the last block.
constexpr double near_the_end = 1.5 * WorldLoop::brief_block;

constexpr double just_below = 1 - 1e-3;

bool is_near(double rate, double residual, double tolerance) {
  if (!(tolerance > 0) || !(residual > tolerance)) return true;
  return rate > 0 && std::log(residual / tolerance) / rate < near_the_end;
}

sxt_reason reason_of(std::int32_t ended) {
  switch (ended) {
    case SXT_RENDEZVOUS_NOT_A_NUMBER: return SXT_REASON_NOT_A_NUMBER;
    case SXT_RENDEZVOUS_A_INDEFINITE: return SXT_REASON_A_INDEFINITE;
    case SXT_RENDEZVOUS_M_INDEFINITE: return SXT_REASON_M_INDEFINITE;
    default: return SXT_REASON_BREAKDOWN;
  }
}

}  // namespace

// y = from - y
void WorldSolve::subtract_from(const void *from, void *y, std::size_t i) {
  with_value_type(type_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T plus(1), minus(-1);
    Operations::of(world_.context(i))
        .vector({.operation = SXT_VECTOR_AXPBY,
                 .type = type_,
                 .n = matrix_.rows_of(i),
                 .alpha = &plus,
                 .beta = &minus,
                 .x = from,
                 .y = y});
  });
}

// p = u - p and s = w - s, as a step that ended did them: an odd number of those takes one more.
void WorldSolve::turn_over(std::size_t i) {
  WorldPcg::Part &own = part(i);
  subtract_from(preconditioned(i), own.p.data(), i);
  subtract_from(own.w.data(), own.s.data(), i);
}

// k_: the first iterate of the block, then the one in x.
sxt_reason WorldSolve::judge_block(const WorldLoop::Outcome &outcome) {
  const std::int64_t judged = outcome.k - k_ + 1;
  require(judged > 0, SXT_E_INTERNAL, "the devices are at iteration ", outcome.k, ", the host at ", k_);
  products_ += judged, reductions_ += judged;
  const bool stepped = outcome.ended == SXT_RENDEZVOUS_RUNNING;
  sxt_reason seen = SXT_REASON_NONE;
  for (; seen == SXT_REASON_NONE; ++k_) {
    seen = observe(std::sqrt(pcg_.loop_->squared(k_)));
    replaced_ = false;
    if (k_ == outcome.k) break;
  }
  k_ = stepped ? outcome.k + 1 : outcome.k;  // where x is
  if (seen != SXT_REASON_NONE || stepped) return seen;
  if (outcome.ended == SXT_RENDEZVOUS_MET) {
    bool replace = false;
    if (const sxt_reason end = confirm(residual_, replace)) return end;
    if (k_ >= settings_.max_iterations) return SXT_REASON_ITERATION_LIMIT;
    if (replace) {
      deferred([&](std::size_t i) { copy(part(i).residual.data(), part(i).r.data(), i); });
      ++replacements_;
      restart_ = true;  // directions were those of the residual before
    } else {
      tolerance_ = std::min(tolerance_, just_below * residual_);  // else the same iterate would meet it again
      if ((outcome.iterations - judged + 1) % 2 != 0) deferred([&](std::size_t i) { turn_over(i); });
    }
    replaced_ = true;  // the same iterate is judged again
    return SXT_REASON_NONE;
  }
  if (outcome.ended == SXT_RENDEZVOUS_LAST) return SXT_REASON_ITERATION_LIMIT;
  found_in_ = k_ + 1;
  return reason_of(outcome.ended);
}

sxt_reason WorldSolve::run_on_devices() {
  throw_deferred();
  WorldLoop &loop = *pcg_.loop_;
  loop.start(x_, lanes_);
  bool brief = false;
  for (;;) {
    const std::int64_t first = k_;
    const bool again = replaced_;
    const WorldLoop::Outcome outcome = loop.run({tolerance_, settings_.max_iterations, restart_, brief}, lanes_);
    restart_ = false;
    if (const sxt_reason end = judge_block(outcome)) return end;
    throw_deferred();
    if (const sxt_reason wish = local_wish()) return wish;
    const auto steps = static_cast<double>(outcome.k - first);
    const double rate = steps > 0 ? std::log(loop.squared(first) / loop.squared(outcome.k)) / (2 * steps) : 0;
    brief = again || replaced_ || is_near(rate, residual_, tolerance_);
  }
}

}  // namespace sextant
